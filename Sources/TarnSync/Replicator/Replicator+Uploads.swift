internal import Glibc
import TarnStore

/// Objects that the server never had, or has lost.
extension Replicator {
  /// How many objects that were refused in smaller parts are tried together: they may refer to each
  /// other.
  private static let togetherMax = 10_000

  private typealias Upload = (place: Int, key: ObjectKey)

  /// Uploads from one state of the objects.
  private struct UploadRun {
    /// The maximum number of parts while other programs commit: each part writes entries into the
    /// file, which cannot reuse pages as long as an earlier snapshot is held.
    static let partsMax = 50

    let name = PushName.upload()
    var snapshot: Snapshot
    /// The number of parts sent.
    var sent = 0
    /// The parts that a foreign key refuses.
    var refused: [(part: ArraySlice<Upload>, error: ServerError)] = []

    /// Allows the file to reuse the pages that earlier parts have freed.
    ///
    /// - Returns: false if the snapshot has been held too long, because there are other commits.
    mutating func renew(_ replica: Replica) throws(StorageError) -> Bool {
      let newest = try replica.snapshot()
      if newest.version == snapshot.version {
        snapshot = newest
        return true
      }
      return sent < Self.partsMax
    }
  }

  /// Sends objects that were in the file before it was a replica, and those that the server has
  /// lost. Objects that the server refuses stay unchanged here.
  func upload() throws -> Sending {
    guard replica.state.hasUploads, isComplete else { return .nothing }
    var run = UploadRun(snapshot: try replica.snapshot())
    try forgetWelcome(run.snapshot)
    let missing = try classes.map { try keysToUpload($0, run.snapshot) }
    let objects = try UploadOrder(classes, run.snapshot).sorted(missing)
    if objects.isEmpty {
      if unwelcome.isEmpty {
        var next = replica.state
        next.hasUploads = false
        try replica.keep(next)
      }
      return .nothing
    }
    guard try upload(objects, &run) else { return .pullFirst }
    try keepUnwelcome()
    try dropSent()
    return .sent
  }

  /// The same for the objects of one class.
  func upload(_ one: ReplicaClass) throws -> Sending {
    guard let place = classes.firstIndex(where: { $0.id == one.id }) else { return .nothing }
    var run = UploadRun(snapshot: try replica.snapshot())
    try forgetWelcome(run.snapshot)
    let missing = try keysToUpload(one, run.snapshot)
    if missing.isEmpty { return .nothing }
    guard try upload(missing.map { (place, $0) }, &run) else { return .pullFirst }
    try keepUnwelcome()
    try dropSent()
    return .sent
  }

  /// Sends objects in parts. Objects that a foreign key refuses are sent again as long as the
  /// server accepts others, which may be those to which they refer.
  ///
  /// - Returns: false if something must be downloaded first.
  private func upload(_ objects: [Upload], _ run: inout UploadRun) throws -> Bool {
    var (rest, size) = (objects[...], uploadMax)
    while true {
      run.refused = []
      for start in stride(from: rest.startIndex, to: rest.endIndex, by: size) {
        guard try run.renew(replica) else { return true }
        let part = rest[start..<min(start + size, rest.endIndex)]
        guard try upload(part, splits: size > uploadMax, &run) else { return false }
      }
      let others = run.refused.flatMap(\.part)
      if others.isEmpty { return true }
      if others.count == rest.count, size > uploadMax {
        for (part, error) in run.refused {
          for one in part { try note(one, unwelcome: error, run.snapshot) }
        }
        return true
      }
      (rest, size) = (others[...], Self.togetherMax)
    }
  }

  /// - Parameter splits: whether a part that a foreign key refuses is sent again in smaller ones.
  /// - Returns: false if something must be downloaded first.
  private func upload(
    _ objects: ArraySlice<Upload>, splits: Bool, _ run: inout UploadRun
  ) throws -> Bool {
    let state = replica.state
    let plan = try PushPlan(
      classes.indices.map { place in
        (classes[place], objects.filter { $0.place == place }.map(\.key))
      }, of: run.name, state, time: try timeOfUploads(run.snapshot),
      without: replica.cursor.number, in: run.snapshot, bytesMax: pushBytes)
    if !plan.isTooLarge {
      switch try sendOnce(plan, to: state.sent) {
      case .taken:
        try accept(plan, state)
        run.sent += 1
        return true
      case .again, .pullFirst: return false
      case .refused(let error):
        let isByKey = error.state == "23503"
        if isByKey, !splits || objects.count == 1 {
          run.refused.append((objects, error))
          return true
        }
        if objects.count == 1 {
          try note(objects[objects.startIndex], unwelcome: error, run.snapshot)
          return true
        }
      }
    }
    let middle = (objects.startIndex + objects.endIndex) / 2
    return try upload(objects[..<middle], splits: splits, &run)
      && upload(objects[middle...], splits: splits, &run)
  }

  /// A stamp for values whose time is unknown: earlier than those of all commits, so that the
  /// unsent changes of other replicas win. Later uploads have later stamps.
  private func timeOfUploads(_ snapshot: Snapshot) throws(StorageError) -> Int64 {
    let done = replica.state.done.version
    let header = try ChangeLog.header(of: done, in: snapshot.transaction)
    return max(1, Int64(clamping: header?.meta.note?.stamp ?? 1) / 1_000_000)
  }

  private func note(
    _ object: Upload, unwelcome error: ServerError, _ snapshot: Snapshot
  ) throws {
    let one = classes[object.place]
    let name = one.described.name
    unwelcome.insert(ObjectRef(classID: one.id, key: object.key))
    older.classes.removeAll { $0.className == name }
    let now = Int64(time(nil)) * 1_000_000
    older.classes.append(StuckClass(className: name, error: error, since: now))
    let key = try primaryKey(of: object.key, one, SnapshotReader(snapshot))
    refused(
      RefusedCommit(
        version: 0, objects: [(name, key)], error: error, properties: try error.columns(connection))
    )
  }

  func primaryKey(
    of key: ObjectKey, _ one: ReplicaClass, _ reader: SnapshotReader
  ) throws(StorageError) -> Value {
    one.described.keyIsPrimary
      ? .int(key.rawValue)
      : try reader.value(of: one.exchange.key.id, at: key, in: one.id) ?? .null
  }

  /// Removes refused objects that were deleted since or sent by a commit.
  private func forgetWelcome(_ snapshot: Snapshot) throws(StorageError) {
    if unwelcome.isEmpty { return }
    let (objects, reader) = (ReplicaObjects(snapshot), try SnapshotReader(snapshot))
    var rest: Set<ObjectRef> = []
    for object in unwelcome {
      if try objects[object.classID, object.key] != nil { continue }
      if try reader.row(object.key, in: object.classID) != nil { rest.insert(object) }
    }
    unwelcome = rest
    try keepUnwelcome()
  }

  /// Records in the file the classes with refused objects.
  func keepUnwelcome() throws(StorageError) {
    let ids = Set(unwelcome.map(\.classID))
    let names = Set(classes.filter { ids.contains($0.id) }.map(\.described.name))
    older.classes.removeAll { !names.contains($0.className) }
    let snapshot = try replica.store.newestSnapshot()
    if try older == StuckClasses.read(StuckClasses.olderKey, in: snapshot) { return }
    var objects = ReplicaObjects(snapshot)
    older.store(StuckClasses.olderKey, in: &objects)
    try replica.cursor.keep(objects.records)
  }

  private func keysToUpload(_ one: ReplicaClass, _ snapshot: Snapshot) throws -> [ObjectKey] {
    let unsent = try UnsentChanges(
      after: replica.state, without: replica.cursor.number, in: snapshot)
    return try unsent.lacking(in: one.id, SnapshotReader(snapshot)).filter {
      !unwelcome.contains(ObjectRef(classID: one.id, key: $0))
    }
  }
}
