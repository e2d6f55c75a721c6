import TarnStore

/// Finds what no transaction of the server tells: policies that look at the clock, rows that were
/// changed past the triggers, an unannounced restore.
extension ReplicaLink {
  /// Compares a digest of each class with the server's, and lets the next download compare the
  /// objects of those that differ.
  ///
  /// - Returns: false if there were changes meanwhile, so that nothing is known.
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
    // What is different because it is new says so itself.
    if try !different.isEmpty && pull() { return false }
    try replica.edit { edit, _ throws(StorageError) in
      for one in different { try noteBehind(one, edit) }
    }
    try tellPending()
    return true
  }
}
