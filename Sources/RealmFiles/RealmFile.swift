/// A Realm database file, read without any code of Realm's.
///
/// Formats 20 to 24, which the SDKs from 2020 on write. The file is only read, and must not be
/// written meanwhile: read a copy of one that a program has open. Damage is an error with its
/// place: each offset, size and number is checked before it is used, and work and memory are
/// bounded by the size of the file. Not thread safe.
package final class RealmFile {
  /// The format number; 0 in a file that was never written.
  package let format: Int
  /// The tables by their positions, which links name; nil where one was removed.
  package let tables: [RealmTable?]
  /// The size of the plain file.
  package var byteCount: Int { bytes.count }
  let bytes: FileBytes
  let links: LinkTables

  /// Opens a file and reads its classes.
  ///
  /// - Parameters:
  ///   - pathBytes: the bytes of the path, if they are not its UTF-8.
  ///   - key: the 64 bytes of the key of an encrypted file.
  ///   - residentBytesMax: how much of the file may stay in memory between clusters.
  package init(
    _ path: String, pathBytes: [UInt8]? = nil, key: [UInt8]? = nil,
    residentBytesMax: Int = 64 << 20
  ) throws(RealmFileError) {
    let file = try FileDescriptor(pathBytes ?? Array(path.utf8))
    bytes = try Self.open(file, key, residentBytesMax)
    let header = try FileHeader(bytes)
    format = header.format
    guard let top = header.top else {
      (tables, links) = ([], LinkTables(keys: [], format: format))
      return
    }
    let group = try Group(bytes, top)
    let (bytes, links) = (bytes, LinkTables(keys: try group.tableKeys(), format: format))
    self.links = links
    var tables: [RealmTable?] = []
    for (index, name) in group.names.enumerated() {
      guard let ref = try group.tableRef(index) else {
        tables.append(nil)
        continue
      }
      guard let name else { throw .damaged("a table has no name", at: ref) }
      do {
        tables.append(try RealmTable(bytes, ref, name, at: index, links))
      } catch {
        // What the sync client keeps is not read.
        guard !RealmTable.isRead(name) else { throw error.within("table '\(name)'") }
        tables.append(nil)
      }
    }
    self.tables = tables
    let names = tables.compactMap { $0.map { Array($0.name.utf8) } }
    guard Set(names).count == names.count else {
      throw RealmFileError.damaged("two tables have one name", at: top)
    }
  }

  private static func open(
    _ file: FileDescriptor, _ key: [UInt8]?, _ residentBytesMax: Int
  ) throws(RealmFileError) -> FileBytes {
    guard file.byteCount > 0 else { throw RealmFileError(.notRealmFile, "the file is empty") }
    let plain = try FileBytes(
      PlainPages(file: file), residentBytesMax: residentBytesMax)
    let isPlain = try FileHeader.isPlain(plain)
    guard let key else {
      guard isPlain else {
        throw RealmFileError(
          .notRealmFile,
          file.byteCount % FileBytes.pageSize == 0
            ? "the file is not a Realm file, or it is encrypted: then its key is needed"
            : "the file is not a Realm file")
      }
      return plain
    }
    guard !isPlain else {
      throw RealmFileError(.wrongKey, "the file is not encrypted: leave the key out")
    }
    let pages = try EncryptedPages(file, key: key)
    let bytes = try FileBytes(pages, residentBytesMax: residentBytesMax)
    // The second half of the key is right if the page's code is; the first if its bytes make sense.
    guard try FileHeader.isPlain(bytes) else { throw EncryptedPages.wrongKey }
    return bytes
  }

  /// The tables that are classes, in the order of the file.
  package var classes: [RealmTable] { tables.compactMap { $0 }.filter { $0.className != nil } }

  /// The version that a program gave its classes; nil if it gave none.
  package func schemaVersion() throws(RealmFileError) -> UInt64? {
    guard let table = tables.compactMap({ $0 }).first(where: { $0.name == RealmTable.metadata }),
      let column = table.columns.firstIndex(where: { $0.name == "version" && $0.type == .int })
    else { return nil }
    var objects = try RealmObjects(self, table)
    guard let row = try objects.next(), case .int(let version) = try row.value(column, 0) else {
      return nil
    }
    return version == -1 ? nil : UInt64(bitPattern: version)
  }

  /// Begins a walk over everything. Each part may be visited once.
  package func beginWalk() { bytes.renewBudget() }
}

/// The array of a version: the tables and their names.
private struct Group {
  /// Nil perhaps where a table was removed.
  let names: [String?]
  private let bytes: FileBytes
  private let refs: RealmArray

  init(_ bytes: FileBytes, _ ref: Int) throws(RealmFileError) {
    self.bytes = bytes
    let top = try RealmArray.refs(bytes, ref)
    guard [3, 5, 7, 9, 10, 11, 12].contains(top.count), !top.isInner else {
      throw top.damaged("the newest version has \(top.count) slots")
    }
    guard let size = try top.optionalNumber(2), size <= bytes.count else {
      throw top.damaged("the file was cut: it should be longer")
    }
    let list = try RealmArray(bytes, top.ref(0))
    guard list.isCells else { throw list.damaged("an array does not have names") }
    names = try StringLeaf.names(list)
    refs = try .refs(bytes, top.ref(1))
    guard refs.count == names.count, refs.count <= 0xffff else {
      throw refs.damaged("there are \(refs.count) tables and \(names.count) names")
    }
  }

  func tableRef(_ index: Int) throws(RealmFileError) -> Int? {
    switch try refs.slot(index) {
    case .ref(let ref): return ref
    case .number, .empty: return nil
    }
  }

  /// The keys of the tables, by which links name them.
  func tableKeys() throws(RealmFileError) -> [Int?] {
    var keys: [Int?] = []
    for index in 0..<names.count {
      guard let ref = try tableRef(index) else {
        keys.append(nil)
        continue
      }
      let top = try RealmArray.refs(bytes, ref)
      guard let key = try top.optionalNumber(3), key & 0xffff == index else {
        throw top.damaged("the key of table '\(names[index] ?? "")' is not that of its place")
      }
      keys.append(key)
    }
    return keys
  }
}
