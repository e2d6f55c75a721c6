extension SnapshotReader {
  /// Throws `.corrupted` if the clusters, the directory or the indexes of a class are inconsistent,
  /// or their numbers of rows differ. For tests; it stops at the first problem.
  package func checkInvariants(of id: ClassID) throws(StorageError) {
    let described = schema[id]
    var clusters: [DirectoryEntry] = []
    try forEachCluster(in: id) { found throws(StorageError) in
      try found.image.verifyChecksum()
      try found.image.checkRows(described)
      if let last = clusters.last, last.first >= found.boundary {
        throw contradiction("two clusters are out of order")
      }
      guard found.image.key(at: 0) >= found.boundary else {
        throw contradiction("a row lies before its cluster")
      }
      clusters.append(DirectoryEntry(first: found.boundary, rows: found.image.rowCount))
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
      if let problem = try ClassDirectory(id).problem(listing: clusters, &cursor) {
        throw contradiction("its directory: \(problem)")
      }
      for index in indexes { try index.checkInvariants(&cursor) }
    }
  }

  private func contradiction(_ detail: String) -> StorageError {
    StorageError(.corrupted, operation: "check a class", path: "", detail: detail)
  }
}
