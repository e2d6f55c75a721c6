import TarnStore

/// The changes of a file that its server does not have, of every kind: by commits, by joined
/// commits, and objects that the server never had or has lost, including objects of asymmetric
/// classes. Waiting, progress, status and metrics all use this, so that they agree.
struct UnsentCount {
  let snapshot: Snapshot
  let state: ReplicaState
  /// The number of the session's cursor; nil if it was deleted, and with it the records of unsent
  /// commits.
  private let cursor: UInt32?
  /// The classes that the file's session exchanges.
  private let classes: [ClassSchema]
  /// Classes that a program expects to be exchanged and that the session does not know.
  private let others: [ClassSchema]

  /// - Parameter names: the classes that a program expects to be exchanged; the session may belong
  ///   to another program.
  /// - Returns: nil for a file that is not a replica.
  init?(_ store: Store, expecting names: [String] = []) throws(StorageError) {
    snapshot = try store.newestSnapshot()
    guard let bytes = try ReplicaRecords.bytes(ReplicaState.key, in: snapshot.transaction) else {
      return nil
    }
    let state = try ReplicaState(bytes, path: store.path)
    self.state = state
    let known = try store.feedTable(in: snapshot).cursors.first { _, record in
      record.name == Replica.cursorName && record.created == state.cursor
    }
    cursor = known?.key
    let schema = snapshot.schema.schema
    let exchanged = Set(known?.value.selection?.map(\.className) ?? state.classes.sorted())
    classes = exchanged.sorted().compactMap { schema.named($0) }
    others = Set(names).subtracting(exchanged).sorted().compactMap { schema.named($0) }
  }

  /// The names of the classes that the session exchanges.
  var classNames: [String] { classes.map(\.name) }

  /// The classes whose changes count, including those that the session does not know yet.
  var allClasses: [ClassSchema] { (classes + others).sorted { $0.name < $1.name } }

  /// Whether a program expects a class to be exchanged that the session does not know.
  func isUnknown(_ one: ClassSchema) -> Bool { others.contains { $0.id == one.id } }

  /// The version up to which commits are sent, refused, or irrelevant to the server.
  var done: UInt64 {
    state.joinedTime == 0 ? state.done.version.rawValue : state.sent.version
  }

  /// Whether the server has everything that the file had at a version.
  func isNothing(upTo version: Version) throws(StorageError) -> Bool {
    guard !state.server.isEmpty, !state.hasUploads, cursor != nil else { return false }
    let reader = try SnapshotReader(snapshot)
    for one in others where try reader.record(of: one.id).rowCount > 0 { return false }
    if state.done.version >= version, state.joinedTime == 0 { return true }
    return try changedKeys(upTo: version).values.allSatisfy(\.isEmpty)
  }

  /// Why no unsent change will be sent for now: the server refuses them.
  ///
  /// - Parameters:
  ///   - end: the last version that counts.
  ///   - former: how often the server had been asked about each stuck class. The problem may have
  ///     been fixed since, so only a later answer counts.
  /// - Returns: nil if something else is waiting, too.
  func obstacle(upTo end: Version, since former: [String: UInt64]) throws(StorageError)
    -> StuckNews?
  {
    // Changes that will be skipped do not count.
    guard try SkipRequest.read(in: snapshot).isEmpty else { return nil }
    let stuck = try StuckClasses.read(in: snapshot).classes
    let older = try StuckClasses.read(StuckClasses.olderKey, in: snapshot).classes
    let isNews = stuck.allSatisfy { $0.attempts != former[$0.className] }
    guard isNews, let first = stuck.first ?? older.first else { return nil }
    let (names, others) = (Set(stuck.map(\.className)), Set(older.map(\.className)))
    let changed = try changedKeys(upTo: end)
    for one in classes where !names.contains(one.name) {
      if changed[one.id]?.isEmpty == false { return nil }
      if !others.contains(one.name), try lacking(changed, [one]) > 0 { return nil }
    }
    return stuck.isEmpty ? .older(first.problemOfOlder) : .stuck(first.problem)
  }

  /// The changes that the server refuses.
  enum StuckNews {
    case stuck(ServerError)
    case older(ServerError)
  }

  /// The number of objects with changes by commits, and of other objects that the server lacks.
  func objects() throws(StorageError) -> (changed: Int, lacking: Int) {
    let changed = try cursor == nil ? [:] : changedKeys(upTo: snapshot.version)
    return (changed.values.reduce(0) { $0 + $1.count }, try lacking(changed, classes))
  }

  /// The number of commits with such changes; joined commits count as one.
  func commits() throws(StorageError) -> Int {
    guard let cursor else { return 0 }
    let schema = snapshot.schema.schema
    let embedded = Replica.embedded(classes.map(\.name), schema).compactMap { schema.named($0) }
    let ids = Set((classes + embedded).map(\.id))
    var (count, version) = (state.joinedTime == 0 ? 0 : 1, state.done.version)
    while version < snapshot.version {
      var commit = FeedRange(after: version, commitID: 0)
      version = version.next
      try commit.extend(
        upTo: version, without: cursor, tellsAllDeaths: true, passesMigrations: true, in: snapshot)
      let isOfConcern =
        commit.changes.classes.contains { ids.contains($0.id) }
        || commit.deaths.keys.contains { ids.contains($0) }
      if isOfConcern { count += 1 }
    }
    return count
  }

  private func changedKeys(upTo end: Version) throws(StorageError) -> [ClassID: KeySet] {
    let unsent = try UnsentChanges(
      after: state.done, through: end, without: cursor ?? 0, joinedAt: state.joinedTime,
      in: snapshot)
    var keys: [ClassID: KeySet] = [:]
    for one in classes { keys[one.id] = try unsent.keys(in: one.id) }
    return keys
  }

  /// The objects that the server does not have and that no unsent commit has changed.
  private func lacking(
    _ changed: [ClassID: KeySet], _ classes: [ClassSchema]
  ) throws(StorageError) -> Int {
    guard state.hasUploads || cursor == nil else { return 0 }
    let (objects, reader) = (ReplicaObjects(snapshot), try SnapshotReader(snapshot))
    var count = 0
    for one in classes {
      let others = changed[one.id] ?? KeySet()
      try reader.forEachCluster(in: one.id) { cluster throws(StorageError) in
        for slot in 0..<cluster.image.rowCount {
          let key = cluster.image.key(at: slot)
          if others.contains(key) { continue }
          if try objects[one.id, key] == nil { count += 1 }
        }
        return true
      }
    }
    return count
  }
}
