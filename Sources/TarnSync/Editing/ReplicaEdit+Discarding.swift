import TarnStore

/// Objects that are removed without a trace: the file must not have them, or must equal the server.
extension ReplicaEdit {
  /// Deletes an object that the server has, and that is not needed here.
  func drop(_ key: ObjectKey, _ one: ReplicaClass) throws(StorageError) {
    if try session.reader.row(key, in: one.id) != nil { try session.delete(key, in: one.id) }
    try objects.forget(key, in: one.id)
  }

  /// Deletes the objects that the server never had, and the records of objects deleted only here.
  func discardUnsent(_ one: ReplicaClass) throws(StorageError) {
    var alone: [ObjectKey] = []
    try session.reader.forEachCluster(in: one.id) { cluster throws(StorageError) in
      for slot in 0..<cluster.image.rowCount {
        let key = cluster.image.key(at: slot)
        if try objects[one.id, key] == nil { alone.append(key) }
      }
      return true
    }
    for key in alone { try session.delete(key, in: one.id) }
    var gone: [ObjectKey] = []
    try objects.forEach(in: one.id) { key, _ throws(StorageError) in
      if try session.reader.row(key, in: one.id) == nil { gone.append(key) }
      return true
    }
    for key in gone { try objects.forget(key, in: one.id) }
    for key in try JoinedChanges(snapshot).keys(in: one.id) {
      objects.set(JoinedChanges.key(one.id, key), nil)
    }
  }
}
