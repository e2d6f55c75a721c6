import Foundation
import TarnStore
import ToolSupport

/// The backups in a folder: files such as `pets-20270301T120000Z.tarn`. One whose name continues
/// with `.delta` is the difference from the backup after it.
///
/// Names are bytes: two spellings of a letter are two stores, and bytes need not be UTF-8.
struct BackupFolder {
  /// A backup, by its name.
  struct Backup: Equatable {
    let name: String
    /// The store's name without its extension.
    let stem: String
    /// The store's extension with its dot, or nothing.
    let ending: String
    /// When it was begun, as in the name: later times are greater texts.
    let time: String
    /// Whether it is the difference from the next backup.
    let isDelta: Bool

    static let deltaEnding = ".delta"

    static func == (a: Backup, b: Backup) -> Bool { a.name.utf8.elementsEqual(b.name.utf8) }

    /// The name of the store.
    var store: String { stem + ending }

    func isOf(_ stem: String, _ ending: String) -> Bool {
      self.stem.utf8.elementsEqual(stem.utf8) && self.ending.utf8.elementsEqual(ending.utf8)
    }

    /// Nil for the name of anything else.
    init?(_ name: String) {
      isDelta = name.endsWithBytes(of: Self.deltaEnding)
      let front = name.utf8.dropLast(isDelta ? Self.deltaEnding.utf8.count : 0)
      let store = String(Substring(front))
      let dot = store.lastASCII(".")
      let title = dot.map { store[..<$0] } ?? store[...]
      ending = dot.map { String(store[$0...]) } ?? ""
      guard let dash = String(title).lastASCII("-") else { return nil }
      time = String(title[title.utf8.index(after: dash)...])
      stem = String(title[..<dash])
      self.name = name
      let isCompanion = ["-lock", "-signal"].contains { ending.endsWithBytes(of: $0) }
      guard !stem.isEmpty, Self.isTime(time), !isCompanion else { return nil }
    }

    private static func isTime(_ text: String) -> Bool {
      let bytes = Array(text.utf8)
      guard bytes.count == 16, bytes[8] == UInt8(ascii: "T"), bytes[15] == UInt8(ascii: "Z")
      else { return false }
      return (bytes[..<8] + bytes[9..<15]).allSatisfy {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
      }
    }
  }

  let path: String
  /// In the order of the times in their names; one for each, the store if there is that and a
  /// difference.
  let backups: [Backup]
  /// Stores of which there is a difference as well: a process was killed before it deleted them.
  let doubles: [Backup]

  init(_ path: String) throws {
    self.path = path
    guard let folder = path.withPath({ opendir($0) }) else {
      throw ToolError("cannot read the folder", path, errno: errno)
    }
    closedir(folder)
    let all = FilePaths.names(in: path).compactMap { Backup($0) }
      .sorted { ($0.time, $0.name) < ($1.time, $1.name) }
    func bytes(_ name: String) -> [UInt8] { Array(name.utf8) }
    let names = Set(all.map { bytes($0.name) })
    doubles = all.filter { names.contains(bytes($0.name + Backup.deltaEnding)) }
    let differences = Set(doubles.map { bytes($0.name + Backup.deltaEnding) })
    backups = all.filter { !differences.contains(bytes($0.name)) }
  }

  func path(of backup: Backup) -> String { path + "/" + backup.name }

  /// The name and the extension of the store at a path.
  static func parts(of path: String) -> (stem: String, ending: String) {
    let name = path.lastASCII("/").map { String(path[path.utf8.index(after: $0)...]) } ?? path
    guard let dot = name.lastASCII("."), dot > name.startIndex else { return (name, "") }
    return (String(name[..<dot]), String(name[dot...]))
  }

  /// A time as in the names.
  static func text(of date: Date) -> String {
    var seconds = time_t(date.timeIntervalSince1970.rounded(.down))
    var parts = tm()
    gmtime_r(&seconds, &parts)
    return String(
      format: "%04d%02d%02dT%02d%02d%02dZ", Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1,
      Int(parts.tm_mday), Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec))
  }

  /// The backups of one store.
  func backups(of stem: String, _ ending: String) -> [Backup] {
    backups.filter { $0.isOf(stem, ending) }
  }

  /// The backups that a store is restored from: those of the store with its name, or of the only
  /// one that there is.
  func backups(for file: String) throws -> [Backup] {
    let (stem, ending) = Self.parts(of: file)
    let own = backups(of: stem, ending)
    if !own.isEmpty { return own }
    let stores = Dictionary(backups.map { (Array($0.store.utf8), $0.store) }) { first, _ in first }
    guard stores.count == 1 else {
      let list = stores.values.sorted().joined(separator: ", ")
      throw ToolError(
        stores.isEmpty
          ? "\(path) has no backups"
          : "\(path) has no backups of \(stem)\(ending), but of \(list): restore to a file with "
            + "such a name")
    }
    return backups
  }
}
