import TarnStore

/// Objects of a class that was removed from the server and added again.
extension ReplicaEdit {
  /// Gives an object the incarnation of the row with its key, so its unsent changes or its unsent
  /// deletion apply to that row, and the row is fetched.
  ///
  /// - Returns: the object; nil if the server did not have an object with the key.
  func takeOver(
    _ row: ClassPages.Entry, _ one: ReplicaClass
  ) throws(StorageError) -> ObjectKey? {
    guard row.fault == nil, let key = try known(row.key, one),
      let former = try objects[one.id, key]
    else { return nil }
    var object = former
    (object.incarnation, object.version) = (row.incarnation, 0)
    try objects.replace(former, by: object, key, in: one.id)
    return key
  }

  /// The object with a primary key that the server had: an existing one, or one whose deletion is
  /// not sent.
  private func known(
    _ primaryKey: ElementKey, _ one: ReplicaClass
  ) throws(StorageError) -> ObjectKey? {
    let present = try session.find(primaryKey: primaryKey.value, in: one.id)
    if let present, try objects[one.id, present] != nil { return present }
    for key in try unsent.deleted(primaryKey, in: one.described).reversed() {
      guard let known = try objects[one.id, key] else { continue }
      if try unsent.pending(of: key, in: one.id, after: known.void).isDeleted { return key }
    }
    return nil
  }

  /// Makes an object without a row be sent as a whole. The server already lacks an object whose
  /// deletion is unsent.
  func lose(_ key: ObjectKey, _ one: ReplicaClass) throws(StorageError) {
    guard let known = try objects[one.id, key] else { return }
    let pending = try unsent.pending(of: key, in: one.id, after: known.void)
    if try exists(key, in: one.id) {
      // The stored contents are those of the object that was deleted here, too.
      if pending.isCreated, !known.isJoined { try objects.forgetContents(of: key, in: one.id) }
      try forget(key, one)
    } else if !pending.isEmpty {
      try depart(key, one, gone: nil)
    }
  }
}
