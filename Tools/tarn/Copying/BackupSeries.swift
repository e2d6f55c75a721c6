import TarnStore
import ToolSupport

/// The backups of one store in a folder, known by what they hold: the clock may have been wrong,
/// and another store may have had the same name.
struct BackupSeries {
  struct Entry {
    let backup: BackupFolder.Backup
    /// Its head record, which no other backup has.
    let head: HeadRecord
    /// That of the backup from which it is the difference; nil for a whole one.
    let base: HeadRecord?
  }

  private let folder: BackupFolder
  /// The oldest first.
  private(set) var entries: [Entry] = []
  /// Those of other stores with the same name.
  private(set) var others: [Entry] = []
  private(set) var unreadable: [(backup: BackupFolder.Backup, error: any Error)] = []

  /// - Parameters:
  ///   - backups: those with the name of the store.
  ///   - store: its head record; nil if there is no store, and all are taken for its backups.
  ///   - newest: a backup that was just made; nil for none.
  /// - Throws: only what says nothing about a backup, such as a lack of descriptors.
  init(
    _ backups: [BackupFolder.Backup], in folder: BackupFolder, of store: HeadRecord?,
    newest: BackupFolder.Backup? = nil
  ) throws {
    self.folder = folder
    for backup in backups {
      do {
        let entry = try Self.entry(backup, folder)
        let isOther = store?.isKin(of: entry.head) == false
        if isOther { others.append(entry) } else { entries.append(entry) }
      } catch let error as StorageError
        where error.code == .limitExceeded || error.code == .addressSpace
      {
        throw error
      } catch {
        unreadable.append((backup, error))
      }
    }
    sort(store, newest)
  }

  private static func entry(
    _ backup: BackupFolder.Backup, _ folder: BackupFolder
  ) throws -> Entry {
    let path = folder.path(of: backup)
    guard backup.isDelta else {
      return Entry(backup: backup, head: try StoreDelta.head(ofStoreAt: path), base: nil)
    }
    let heads = try StoreDelta.heads(at: path)
    return Entry(backup: backup, head: heads.older, base: heads.newer)
  }

  /// By the versions that they hold. A store that was made of a backup goes on at an older version
  /// than the newest backup has, with marks of its own: its backups are newer.
  private mutating func sort(_ store: HeadRecord?, _ newest: BackupFolder.Backup?) {
    var ends: [UInt32: String] = [:]
    for entry in entries {
      ends[entry.head.ownMark] = max(ends[entry.head.ownMark] ?? "", entry.backup.time)
    }
    func place(_ entry: Entry) -> (Int, String, UInt32) {
      if entry.backup == newest { return (2, "", 0) }
      let mark = entry.head.ownMark
      return mark == store?.backupMark ? (1, "", 0) : (0, ends[mark] ?? "", mark)
    }
    entries.sort { a, b in
      let (first, second) = (place(a), place(b))
      if first != second { return first < second }
      // Of one version those that lead to others are first.
      return (a.head.version, a.base == nil ? 1 : 0, a.backup.time, a.backup.name)
        < (b.head.version, b.base == nil ? 1 : 0, b.backup.time, b.backup.name)
    }
  }

  /// A backup and those from which it is the difference, up to a whole one; nil if one is missing.
  func chain(of entry: Entry) -> [Entry]? {
    var chain = [entry]
    while let base = chain[chain.count - 1].base {
      guard let next = entries.first(where: { $0.head == base }), chain.count < entries.count else {
        return nil
      }
      chain.append(next)
    }
    return chain
  }

  /// The differences that lead to no whole backup.
  var broken: [Entry] { entries.filter { chain(of: $0) == nil } }
}
