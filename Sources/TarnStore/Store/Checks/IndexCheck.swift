/// Verifies the indexes of a class, including those of unique rules: that every entry that the
/// objects require exists, that there are no others, and that no two objects violate a rule.
/// Reports problems; changes nothing.
package struct IndexCheck {
  /// Errors in indexes, which rebuilding them repairs.
  package private(set) var problems: [String] = []
  /// Unique rules that objects violate, and primary keys that two objects have.
  package private(set) var broken: [String] = []
  package private(set) var entries = 0

  package init(_ described: ClassSchema, _ reader: SnapshotReader) throws(StorageError) {
    for index in reader.indexNames(of: described.id) {
      let title = reader.title(of: index)
      do throws(StorageError) {
        try look(index, title, reader)
      } catch {
        guard error.code == .corrupted else { throw error }
        problems.append("\(title): \(error)")
      }
    }
  }

  private mutating func look(
    _ index: IndexName, _ title: String, _ reader: SnapshotReader
  ) throws(StorageError) {
    let packed = index.packed
    var (expected, missing) = (0, 0)
    var cursor = try Cursor(reader.snapshot.transaction)
    if let problem = try packed.problem(&cursor) { problems.append("\(title): \(problem)") }
    try reader.forEachCluster(in: index.classID) { cluster throws(StorageError) in
      for slot in 0..<cluster.image.rowCount {
        let key = cluster.image.key(at: slot)
        try reader.forEachEntry(of: key, in: index) { order, link throws(StorageError) in
          expected += 1
          if let (link, count) = link {
            if try reader.linkCount(link) != count { missing += 1 }
          } else if try !packed.contains(order, key, &cursor) {
            missing += 1
          }
        }
      }
      return true
    }
    let found = try packed.count(&cursor)
    entries += found
    if missing > 0 {
      problems.append(
        "\(title) lacks \(missing) of \(expected) entries, or has wrong counts for them")
    }
    if found != expected {
      problems.append("\(title) has \(found) entries instead of \(expected)")
    }
    var doubles = 0
    try IndexDoubles.find(in: index, reader, &cursor) { _, _ in doubles += 1 }
    if doubles > 0 { broken.append("\(title) is violated by \(doubles) objects") }
  }
}

/// Finds objects with equal values under a unique rule, or the same primary key.
enum IndexDoubles {
  /// Calls `body` with each object whose values equal those of an earlier one in the index. Never
  /// for an index that allows that.
  ///
  /// - Parameter cursor: over the tree with the index.
  static func find(
    in index: IndexName, _ reader: SnapshotReader, _ cursor: inout Cursor,
    _ body: (_ first: ObjectKey, _ other: ObjectKey) throws(StorageError) -> Void
  ) throws(StorageError) {
    guard reader.uniqueColumns(of: index) != nil else { return }
    var order: [UInt8] = []
    /// Objects with the same order key but different values, because keys are truncated.
    var together: [ObjectKey] = []
    try unsafe index.packed.forEach(&cursor) { bytes, key throws(StorageError) in
      if unsafe !bytes.elementsEqual(order) {
        order = unsafe Array(bytes)
        together = []
      }
      for first in together where try reader.areDoubles(first, key, in: index) {
        try body(first, key)
        return true
      }
      together.append(key)
      return true
    }
  }
}

extension SnapshotReader {
  /// Throws `.corrupted` if the clusters, the row counts or the indexes of a class are
  /// inconsistent, or their numbers of rows differ. For tests; it stops at the first problem.
  package func checkInvariants(of id: ClassID) throws(StorageError) {
    let described = schema[id]
    var clusters: [RowCount] = []
    try forEachCluster(in: id) { found throws(StorageError) in
      try found.image.verifyChecksum()
      try found.image.checkRows(described)
      if let last = clusters.last, last.first >= found.boundary {
        throw contradiction("two clusters are out of order")
      }
      guard found.image.key(at: 0) >= found.boundary else {
        throw contradiction("a row lies before its cluster")
      }
      clusters.append(RowCount(first: found.boundary, rows: found.image.rowCount))
      return true
    }
    let rows = clusters.reduce(0) { $0 + $1.rows }
    guard try record(of: id).rowCount == rows else {
      throw contradiction("the record of the class has a wrong number of rows")
    }
    let indexes =
      described.columns.filter(described.hasIndex).map { PackedIndex(id, $0.id) }
      + described.uniqueRules.indices.map { PackedIndex(id, uniqueRule: $0) }
    try withCursor { cursor throws(StorageError) in
      if let problem = try RowCounts(id).problem(listing: clusters, &cursor) {
        throw contradiction("its row counts: \(problem)")
      }
      for index in indexes { try index.checkInvariants(&cursor) }
    }
  }

  private func contradiction(_ detail: String) -> StorageError {
    StorageError(.corrupted, operation: "check a class", path: "", detail: detail)
  }
}
