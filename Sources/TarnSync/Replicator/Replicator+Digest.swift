import TarnStore

/// Finds changes that no transaction of the server reports: policies that depend on the clock, rows
/// changed without the triggers, an unannounced restore.
extension Replicator {
  /// Compares a digest of each class with the server's, and makes the next download compare the
  /// objects of classes that differ.
  ///
  /// - Returns: false if there were changes meanwhile, so that the result is unknown.
  func compareDigests() throws -> Bool {
    guard isComplete else { return false }
    if try pull() { return false }
    var different: [ReplicaClass] = []
    for one in downloaded {
      let theirs: ClassDigest
      do throws(ServerError) {
        theirs = try ClassDigest(one.exchange, connection)
      } catch {
        try noticeOtherClasses(error)
        throw error
      }
      var ours = ClassDigest()
      try ReplicaObjects(replica.store.newestSnapshot()).forEach(in: one.id) {
        _, object throws(StorageError) in
        ours.add(incarnation: object.incarnation, version: object.version)
        return true
      }
      for (incarnation, one) in try leftOutRows(one.id) {
        ours.add(incarnation: incarnation, version: one.version)
      }
      if ours != theirs { different.append(one) }
    }
    // A difference that is a new change will be reported as one.
    if try !different.isEmpty && pull() { return false }
    try replica.edit { edit, _ throws(StorageError) in
      for one in different { try noteBehind(one, edit) }
    }
    try tellPending()
    return true
  }
}
