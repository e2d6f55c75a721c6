import TarnStore

/// Objects that the server never had, or has lost.
extension ReplicaLink {
  private static let uploadMax = 1_000
  /// How many are tried together that were refused in smaller parts: they may refer to each other.
  private static let togetherMax = 10_000

  /// Sends objects that were in the file before it was a replica, and those that the server has
  /// lost. Objects that the server refuses stay unchanged here.
  func upload() throws -> Sending {
    guard replica.state.hasUploads, isComplete else { return .nothing }
    let snapshot = try replica.snapshot()
    let missing = try classes.map { try keysToUpload($0, snapshot) }
    let objects = try UploadOrder(classes, snapshot).sorted(missing)
    if objects.isEmpty {
      if unwelcome.isEmpty {
        var next = replica.state
        next.hasUploads = false
        try replica.keep(next)
      }
      return .nothing
    }
    guard try upload(objects, snapshot) else { return .pullFirst }
    try dropSent()
    return .sent
  }

  /// The same with the objects of one class.
  func upload(_ one: ReplicaClass) throws -> Sending {
    guard let place = classes.firstIndex(where: { $0.id == one.id }) else { return .nothing }
    let snapshot = try replica.snapshot()
    let missing = try keysToUpload(one, snapshot)
    if missing.isEmpty { return .nothing }
    guard try upload(missing.map { (place, $0) }, snapshot) else { return .pullFirst }
    try dropSent()
    return .sent
  }

  private typealias Upload = (place: Int, key: ObjectKey)

  /// Sends objects in parts. Objects that a foreign key refuses are sent again as long as the
  /// server accepts others, which may be those to which they refer.
  ///
  /// - Returns: false if something must be downloaded first.
  private func upload(_ objects: [Upload], _ snapshot: Snapshot) throws -> Bool {
    var (rest, size) = (objects[...], Self.uploadMax)
    while true {
      var refused: [(part: ArraySlice<Upload>, error: ServerError)] = []
      for start in stride(from: rest.startIndex, to: rest.endIndex, by: size) {
        let part = rest[start..<min(start + size, rest.endIndex)]
        guard try upload(part, snapshot, splits: size > Self.uploadMax, &refused) else {
          return false
        }
      }
      let others = refused.flatMap(\.part)
      if others.isEmpty { return true }
      if others.count == rest.count, size > Self.uploadMax {
        for (part, error) in refused {
          for one in part { try note(one, unwelcome: error, snapshot) }
        }
        return true
      }
      (rest, size) = (others[...], Self.togetherMax)
    }
  }

  /// - Parameters:
  ///   - splits: whether a part that a foreign key refuses is sent again in smaller ones.
  ///   - refused: the parts that a foreign key refuses.
  /// - Returns: false if something must be downloaded first.
  private func upload(
    _ objects: ArraySlice<Upload>, _ snapshot: Snapshot, splits: Bool,
    _ refused: inout [(part: ArraySlice<Upload>, error: ServerError)]
  ) throws -> Bool {
    let state = replica.state
    let header = try ChangeLog.header(of: state.done.version, in: snapshot.transaction)
    let plan = try PushPlan(
      classes.indices.map { place in
        (classes[place], objects.filter { $0.place == place }.map(\.key))
      }, state, time: Int64(clamping: header?.meta.note?.stamp ?? 1),
      without: replica.cursor.number, in: snapshot, bytesMax: pushBytes)
    if !plan.isTooLarge {
      switch try sendOnce(plan, to: state.sent) {
      case .taken:
        try accept(plan, state)
        return true
      case .again, .pullFirst: return false
      case .refused(let error):
        let isByKey = error.state == "23503"
        if isByKey, !splits || objects.count == 1 {
          refused.append((objects, error))
          return true
        }
        if objects.count == 1 {
          try note(objects[objects.startIndex], unwelcome: error, snapshot)
          return true
        }
      }
    }
    let middle = (objects.startIndex + objects.endIndex) / 2
    return try upload(objects[..<middle], snapshot, splits: splits, &refused)
      && upload(objects[middle...], snapshot, splits: splits, &refused)
  }

  private func note(
    _ object: Upload, unwelcome error: ServerError, _ snapshot: Snapshot
  ) throws {
    let one = classes[object.place]
    unwelcome.insert(ObjectRef(classID: one.id, key: object.key))
    let reader = try SnapshotReader(snapshot)
    let key =
      one.described.keyIsPrimary
      ? .int(object.key.rawValue)
      : try reader.value(of: one.exchange.key.id, at: object.key, in: one.id) ?? .null
    refused(
      RefusedCommit(
        version: 0, objects: [(one.described.name, key)], error: error,
        properties: try error.columns(connection)))
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
