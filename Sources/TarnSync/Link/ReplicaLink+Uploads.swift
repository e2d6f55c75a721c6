import TarnStore

/// Objects that the server never had, or has lost.
extension ReplicaLink {
  private static let uploadMax = 1_000

  /// Sends objects that were in the file before it was a replica, and those that the server has
  /// lost. Objects that the server refuses stay unchanged here.
  func upload() throws -> Sending {
    guard replica.state.hasUploads, isComplete else { return .nothing }
    var hasSent = false
    for one in classes {
      let snapshot = try replica.snapshot()
      let missing = try keysToUpload(one, snapshot)
      for start in stride(from: 0, to: missing.count, by: Self.uploadMax) {
        hasSent = true
        let keys = missing[start..<min(start + Self.uploadMax, missing.count)]
        guard try upload(keys, one, snapshot) else { return .pullFirst }
      }
    }
    if !hasSent, unwelcome.isEmpty {
      var next = replica.state
      next.hasUploads = false
      try replica.keep(next)
    }
    if hasSent { try dropSent() }
    return hasSent ? .sent : .nothing
  }

  /// - Returns: false if something must be downloaded first.
  private func upload(
    _ keys: ArraySlice<ObjectKey>, _ one: ReplicaClass, _ snapshot: Snapshot
  ) throws -> Bool {
    let state = replica.state
    let header = try ChangeLog.header(of: state.done.version, in: snapshot.transaction)
    let plan = try PushPlan(
      Array(keys), one, state, time: Int64(clamping: header?.meta.note?.stamp ?? 1),
      without: replica.cursor.number, in: snapshot)
    switch try send(plan, to: state.sent) {
    case .taken:
      try accept(plan, state)
    case .mergeFirst:
      try meet(plan)
      return false
    case .otherVersion, .lost: return false
    case .refused(let error):
      guard keys.count == 1 else {
        let middle = (keys.startIndex + keys.endIndex) / 2
        return try upload(keys[..<middle], one, snapshot)
          && upload(keys[middle...], one, snapshot)
      }
      for (_, key, primaryKey) in plan.keys {
        unwelcome.insert(ObjectRef(classID: one.id, key: key))
        refused(
          RefusedCommit(
            version: 0, objects: [(one.described.name, primaryKey)], error: error,
            properties: try error.columns(connection)))
      }
    }
    return true
  }

  private func keysToUpload(_ one: ReplicaClass, _ snapshot: Snapshot) throws -> [ObjectKey] {
    let objects = ReplicaObjects(snapshot)
    let unsent = try UnsentChanges(
      after: replica.state, without: replica.cursor.number, in: snapshot)
    var missing: [ObjectKey] = []
    try SnapshotReader(snapshot).forEachCluster(in: one.id) { cluster throws(StorageError) in
      for slot in 0..<cluster.image.rowCount {
        let key = cluster.image.key(at: slot)
        if unwelcome.contains(ObjectRef(classID: one.id, key: key)) { continue }
        if try objects[one.id, key] != nil { continue }
        if try unsent.pending(of: key, in: one.id, after: 0).isCreated { continue }
        missing.append(key)
      }
      return true
    }
    return missing
  }
}
