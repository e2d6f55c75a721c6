package import TarnStore

/// Objects without a primary key: a class may declare its key optional, but servers do not accept
/// nil.
package enum NilKeys {
  /// - Parameter names: the classes to check; nil for all.
  /// - Throws: `ServerError` that names the classes with an object whose key is nil, or
  ///   `StorageError` if the file cannot be read.
  package static func refuse(in snapshot: Snapshot, classes names: [String]?) throws {
    let reader = try SnapshotReader(snapshot)
    var found: [String] = []
    for one in snapshot.schema.schema.classes where !one.isVacant && !one.isEmbedded {
      guard names?.contains(one.name) ?? true, let column = one.primaryKey, !one.keyIsPrimary,
        one[column].isOptional, try hasNil(column, one, reader)
      else { continue }
      found.append("\(one.name).\(one[column].name)")
    }
    if found.isEmpty { return }
    throw ServerError(
      "migrate the server",
      "the primary key of an object is nil, which PostgreSQL's keys cannot be: "
        + found.joined(separator: ", "), hint: "Give the object a key, or delete it.")
  }

  private static func hasNil(
    _ column: ColumnID, _ one: ClassSchema, _ reader: SnapshotReader
  ) throws(StorageError) -> Bool {
    var isFound = false
    try reader.forEachCluster(in: one.id) { cluster throws(StorageError) in
      for slot in 0..<cluster.image.rowCount where !isFound {
        let key = cluster.image.key(at: slot)
        isFound = try reader.value(of: column, at: key, in: one.id) == .null
      }
      return !isFound
    }
    return isFound
  }
}
