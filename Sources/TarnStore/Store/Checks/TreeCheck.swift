/// Verifies that every entry of a file's tree is of a known kind and belongs to something, and that
/// the long values of rows are whole. Other checks verify the contents of the entries, and those of
/// lists, sets and maps. Reports problems; changes nothing.
package struct TreeCheck: SnapshotCheck {
  package internal(set) var problems: [String] = []
  /// Wrong counts of links, which rebuilding the indexes repairs.
  package private(set) var indexProblems: [String] = []

  private let reader: SnapshotReader
  /// Pieces of long values that rows refer to, with their checksums, and counts of links of two and
  /// more.
  private var pieces = 0
  private var counts = 0

  package init(_ reader: SnapshotReader) {
    self.reader = reader
    for described in reader.schema.schema.classes {
      attempt("class \(described.name)") { check throws(StorageError) in
        try check.findLongValues(of: described)
        try check.findCounts(of: described)
      }
    }
    attempt("the tree") { check throws(StorageError) in try check.walk() }
  }

  // MARK: - References from rows

  private mutating func findLongValues(of described: ClassSchema) throws(StorageError) {
    let columns = described.columns.filter {
      !$0.isRemoved && ColumnStorage($0, isKey: false) == .bytes
    }
    if columns.isEmpty { return }
    var found: [(key: ObjectKey, column: ColumnSchema, byteCount: Int)] = []
    try reader.forEachCluster(in: described.id) { cluster throws(StorageError) in
      for column in columns {
        for slot in 0..<cluster.image.rowCount {
          if case .long(let byteCount) = try cluster.image.bytes(column.id, slot) {
            found.append((cluster.image.key(at: slot), column, byteCount))
          }
        }
      }
      return true
    }
    var cursor = try Cursor(reader.snapshot.transaction)
    for (key, column, byteCount) in found {
      do throws(StorageError) {
        pieces += try LongValues(described.id, column.id)
          .check(key, byteCount: byteCount, &cursor)
      } catch {
        note("\(described.name).\(column.name) of object \(key.rawValue): \(error)")
      }
    }
  }

  private mutating func findCounts(of described: ClassSchema) throws(StorageError) {
    let columns = reader.schema.indexed(in: described.id).filter { column in
      (column.type == .link || column.type == .any)
        && (column.collection != .none || column.type == .any)
    }
    if columns.isEmpty { return }
    try reader.forEachCluster(in: described.id) { cluster throws(StorageError) in
      for slot in 0..<cluster.image.rowCount {
        for column in columns {
          let key = cluster.image.key(at: slot)
          let links = try reader.links(from: column, at: key, in: described.id)
          counts += links.values.count { $0 > 1 }
        }
      }
      return true
    }
  }

  // MARK: - All entries

  private mutating func walk() throws(StorageError) {
    var (foundPieces, foundCounts, strangers) = (0, 0, 0)
    var cursor = try Cursor(reader.snapshot.transaction)
    var isAtEntry = try cursor.first()
    while isAtEntry {
      let key = unsafe cursor.key
      switch unsafe TreeKey.tag(of: key) {
      case .longValue: foundPieces += 1
      case .linkCount: foundCounts += 1
      default: if unsafe !belongs(key) { strangers += 1 }
      }
      isAtEntry = try cursor.next()
    }
    if foundPieces != pieces {
      note("there are \(foundPieces) pieces of long values, but objects have \(pieces)")
    }
    if foundCounts != counts {
      indexProblems.append("there are \(foundCounts) counts of links, but objects have \(counts)")
    }
    if strangers > 0 { note("\(strangers) entries of the tree do not belong to anything") }
  }

  private func belongs(_ key: UnsafeRawBufferPointer) -> Bool {
    switch unsafe TreeKey.tag(of: key) {
    case .schema: unsafe TreeKey.parseSchema(key) != nil
    case .classRecord: unsafe has(TreeKey.parseClassRecord(key))
    case .cluster: unsafe has(TreeKey.parseCluster(key)?.classID)
    case .rowCounts: unsafe has(TreeKey.parseRowCounts(key)?.classID)
    case .index, .unique: unsafe isPage(key)
    case .head: key.count == 1
    case .feed: unsafe TreeKey.parseFeed(key) != nil
    case .replica: unsafe TreeKey.parseReplica(key) != nil
    // Checked with the collections and with the change records.
    case .sequencePage, .sequenceRowCounts, .longElement, .nested, .change, .oldValue:
      true
    case .longValue, .linkCount: true
    case nil: false
    }
  }

  private func has(_ id: ClassID?) -> Bool { id.flatMap { reader.schema.schema[$0] } != nil }

  /// Whether the key is that of a page of an index or unique rule in the schema.
  private func isPage(_ key: UnsafeRawBufferPointer) -> Bool {
    guard let index = unsafe PackedIndex(ofPageUnder: key),
      let described = reader.schema.schema[index.classID]
    else { return false }
    if index.tag == .unique { return Int(index.number) < described.uniqueRules.count }
    return reader.schema.indexed(in: described.id).contains { $0.id.rawValue == index.number }
  }
}

/// A check of a file at one version that continues after a problem.
protocol SnapshotCheck {
  /// The problems, one sentence each; only the first ones if there are many.
  var problems: [String] { get set }
}

extension SnapshotCheck {
  mutating func note(_ problem: String) {
    if problems.count < 100 { problems.append(problem) }
  }

  /// Runs a part of the check, and notes an error that ends it under that name.
  mutating func attempt(
    _ name: String, _ body: (inout Self) throws(StorageError) -> Void
  ) {
    do throws(StorageError) { try body(&self) } catch { note("\(name): \(error)") }
  }
}
