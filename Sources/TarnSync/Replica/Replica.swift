package import TarnStore

/// A file whose objects are also on a server.
///
/// One session in one process has it at a time; all other processes read and write the file as
/// usual. For one thread at a time.
package final class Replica {
  package let store: Store
  /// The names of the classes that are exchanged.
  package let names: [String]
  let cursor: HeldCursor
  private(set) var state: ReplicaState
  /// The epoch of the schema that a link was made for; nil before there is one.
  var epoch: UInt64?

  /// Whether rows were left out because of unsent changes, and were not read again since.
  var hasClashes = false

  /// Called once for each notice.
  package var noticed: (SyncNotice) -> Void = { _ in }
  private var said: Set<SyncNotice> = []
  /// The number of values among them that are left out.
  private var leftOutCount = 0

  static let cursorName = SessionNotes.cursorName
  /// How much is kept behind the commits that the server has, because a restored server may have
  /// lost them.
  private static let grace = CursorLimits(age: 3_600_000_000, bytes: 256 << 20)

  /// Begins a session of a file, which makes the file a replica.
  ///
  /// - Parameters:
  ///   - names: the classes to exchange. They are in the file.
  ///   - takes: whether to take over a session that another process has.
  /// - Throws: `StorageError`: `.busy` if another process has the session.
  package init(
    _ store: Store, classes names: [String], taking takes: Bool = false
  ) throws(StorageError) {
    self.store = store
    self.names = names.sorted()
    var request = CursorRequest(
      Self.cursorName,
      selection: self.names.map {
        FeedSelectionName(className: $0, condition: nil, keyPaths: nil)
      }, level: .oldValues, limits: CursorLimits(), kept: Self.grace, takes: takes)
    request.related = Self.embedded(self.names, try store.newestSnapshot().schema.schema)
    cursor = try store.openCursor(request)
    let snapshot = try store.newestSnapshot()
    let record = try cursor.record(in: snapshot)
    if let bytes = try ReplicaRecords.bytes(ReplicaState.key, in: snapshot.transaction) {
      state = try ReplicaState(bytes, path: store.path)
      if state.cursor != record.created {
        // The cursor was deleted, and with it the records of unsent commits: all objects are
        // compared, and those that exist only here are sent.
        state.done = record.acknowledged
        (state.isStale, state.hasUploads) = (true, true)
      }
    } else {
      state = ReplicaState(done: record.acknowledged)
      // Later objects are in unsent commits.
      state.hasUploads = try Self.hasObjects(self.names, SnapshotReader(snapshot))
    }
    // Nothing is stored for a class that was not exchanged before.
    let hasNew = !Set(self.names).isSubset(of: state.classes)
    if hasNew || state.cursor != record.created { state.start = snapshot.version.rawValue }
    if state.cursor != record.created {
      state.cursor = record.created
      var records = ReplicaRecords()
      records.set(ReplicaState.key, state.encoded)
      try cursor.keep(records)
    }
  }

  private static func hasObjects(
    _ names: [String], _ reader: SnapshotReader
  ) throws(StorageError) -> Bool {
    for name in names {
      guard let described = reader.schema.schema.named(name) else { continue }
      if try reader.record(of: described.id).rowCount > 0 { return true }
    }
    return false
  }

  /// The embedded classes whose objects belong to those of some classes, at any depth.
  static func embedded(_ names: [String], _ schema: StoreSchema) -> [String] {
    var found: Set<String> = []
    var open = names
    while let name = open.popLast() {
      for column in schema.named(name)?.columns ?? [] where !column.isRemoved {
        guard let target = ItemCoder.embedded(column, schema) else { continue }
        if found.insert(target.name).inserted { open.append(target.name) }
      }
    }
    return found.sorted()
  }

  /// The process that last took the session of a file; nil if none did.
  package static func owner(of store: Store) throws(StorageError) -> CursorOwner? {
    try store.cursors().first { $0.record.name == cursorName }?.record.owner
  }

  /// The newest snapshot.
  ///
  /// - Throws: `.conflict` if its schema differs from that of the link, because a program has added
  ///   a property or has migrated the file. The session then begins again.
  func snapshot() throws(StorageError) -> Snapshot {
    let snapshot = try store.newestSnapshot()
    if let epoch, snapshot.schema.epoch != epoch {
      throw StorageError(
        .conflict, operation: "exchange with the server", path: store.path,
        detail: "the schema of the file has changed")
    }
    return snapshot
  }

  /// Releases the session for other processes.
  package func close() { cursor.release() }

  /// Syncs the newest version, unless it is on the disk. Otherwise a power failure could leave the
  /// server with commits that the file has not.
  func settle() throws(StorageError) {
    try store.settle(store.newestSnapshot(), unlessRelaxed: false)
  }

  /// Reports notices that have not been reported before, but not each of many left-out values.
  func say(_ notices: [SyncNotice]) {
    for notice in notices {
      var notice = notice
      if case .leftOut = notice, !said.contains(notice) {
        if leftOutCount == ReplicaReport.leftOutMax {
          notice = .moreLeftOut
        } else {
          leftOutCount += 1
        }
      }
      if said.insert(notice).inserted { noticed(notice) }
    }
  }

  /// Changes the state of the server without changing objects.
  ///
  /// - Parameter place: the position up to which the change records are no longer needed.
  func keep(
    _ next: ReplicaState, acknowledging place: FeedPlace? = nil,
    _ outcome: ReplicaOutcome = ReplicaOutcome(), progress: [ClassID: ClassProgress] = [:]
  ) throws(StorageError) {
    let snapshot = try store.newestSnapshot()
    var objects = ReplicaObjects(snapshot)
    for (id, progress) in progress { objects.set(progress, of: id) }
    try objects.take(outcome, snapshot.schema.schema)
    objects.set(next)
    try keep(next, objects.records, acknowledging: place)
  }

  /// - Parameter records: the records to store with the state.
  func keep(
    _ next: ReplicaState, _ records: ReplicaRecords, acknowledging place: FeedPlace? = nil
  ) throws(StorageError) {
    try cursor.keep(records, acknowledging: place)
    state = next
  }

  /// The refused commits whose messages have not been delivered.
  func refusals() throws(StorageError) -> [RefusedCommit] {
    try ReplicaObjects(store.newestSnapshot()).refusals()
  }

  func forgetRefusal(of version: UInt64) throws(StorageError) {
    var objects = ReplicaObjects(try store.newestSnapshot())
    let others = try objects.refusals().filter { $0.version != version }
    objects.set(RefusedCommit.key, RefusedCommit.encoded(others))
    try cursor.keep(objects.records)
  }

  /// Notes the server's clock, which limits the stamps of the commits that are sent.
  func noteClock(_ time: Int64) { state.limit.noteClock(time) }

  func noteSent(_ stamp: Int64) { state.limit.noteSent(stamp) }

  /// Continues from a state that need not be stored in the file: after a crash it is found again.
  func note(_ next: ReplicaState) { state = next }
}
