/// Finds out why a row is missing. Usually it was deleted; then nothing in the snapshot refers to
/// it.
extension SnapshotReader {
  /// A description of the damage, if something in this snapshot proves that the row exists although
  /// it cannot be found; nil otherwise.
  ///
  /// Called before the program ends: reads the whole class.
  package func damage(behindMissing key: ObjectKey, in id: ClassID) -> String? {
    guard let described = schema.schema[id] else { return nil }
    let name = "object \(key.rawValue) of class '\(described.name)'"
    do throws(StorageError) {
      if try row(key, in: id) != nil { return nil }
      if try hasRowElsewhere(key, in: id) {
        return "\(name) is in the wrong place"
      }
      if let problem = try problemOfRowCounts(of: id) {
        return "\(name) is missing, and the row counts of its class are wrong: \(problem)"
      }
      for column in schema.indexed(in: id) where try files(key, PackedIndex(id, column.id)) {
        return "\(name) is missing, but in the index over '\(column.name)'"
      }
      if let origin = try linkingProperty(to: ObjectRef(classID: id, key: key)) {
        return "\(name) is missing, but '\(origin)' links to it"
      }
      return nil
    } catch {
      return "\(name) is missing: \(error)"
    }
  }

  private func hasRowElsewhere(_ key: ObjectKey, in id: ClassID) throws(StorageError) -> Bool {
    var found = false
    try forEachCluster(in: id) { cluster throws(StorageError) in
      // Keys may be out of order, so a binary search would not help.
      for slot in 0..<cluster.image.rowCount where cluster.image.key(at: slot) == key {
        found = true
      }
      return !found
    }
    return found
  }

  private func problemOfRowCounts(of id: ClassID) throws(StorageError) -> String? {
    var listing: [RowCount] = []
    try forEachCluster(in: id) { cluster throws(StorageError) in
      listing.append(RowCount(first: cluster.boundary, rows: cluster.image.rowCount))
      return true
    }
    return try withCursor { cursor throws(StorageError) in
      try RowCounts(id).problem(listing: listing, &cursor)
    }
  }

  private func files(_ key: ObjectKey, _ index: PackedIndex) throws(StorageError) -> Bool {
    var found = false
    try withCursor { cursor throws(StorageError) in
      try index.forEachKey(&cursor) { object in
        found = object == key
        return !found
      }
    }
    return found
  }

  private func linkingProperty(to target: ObjectRef) throws(StorageError) -> String? {
    for described in schema.schema.classes {
      for column in schema.indexed(in: described.id)
      where column.target == target.classID || column.type == .any {
        let origins = try origins(of: target, in: described.id, through: column.id)
        if !origins.isEmpty { return "\(described.name).\(column.name)" }
      }
    }
    return nil
  }
}
