package import TarnStore

/// Joins the unsent commits of a file into their net changes, so that a file whose server cannot be
/// reached does not grow with every commit, and because the rows before a migration cannot be read
/// after it.
///
/// The changes become records by object, with the commit that wrote each property last: the server
/// orders values by its time. Values are not copied, because the file has them in their state after
/// the last joined commit. Lists, sets and maps are copied, because the names of their elements
/// depend on commits whose records are dropped.
package struct UnsentJoin {
  /// The maximum size of the records of unsent commits, in bytes.
  package static let bytesMax = 64 << 20

  private let replica: Replica
  private let snapshot: Snapshot
  private let classes: [ClassSchema]
  /// The version of the last migration among the commits.
  private let migration: Version?
  private var objects: ReplicaObjects

  /// - Parameter bytes: the maximum size of the records of unsent commits.
  /// - Returns: whether they were larger, and are joined now.
  @discardableResult
  package static func run(
    _ replica: Replica, above bytes: Int
  ) throws(StorageError) -> Bool {
    // If the server has these changes already, later ones must stay distinguishable.
    if replica.state.attempt?.isJoined == true { return false }
    let snapshot = try replica.store.newestSnapshot()
    let size = try ChangeLog.byteCount(
      after: replica.state.done.version, upTo: snapshot.version, most: bytes,
      in: snapshot.transaction)
    guard size > bytes else { return false }
    return try join(replica, snapshot)
  }

  /// Joins the commits before a migration, and those after it. All objects are then compared with
  /// the server's, because a migration does not record its changes.
  ///
  /// - Returns: whether there was a migration.
  @discardableResult
  static func passMigrations(_ replica: Replica) throws(StorageError) -> Bool {
    let snapshot = try replica.store.newestSnapshot()
    let unsent = try UnsentChanges(
      after: replica.state.done, without: replica.cursor.number, in: snapshot)
    if unsent.range.lastMigration == nil { return false }
    return try join(replica, snapshot)
  }

  private static func join(
    _ replica: Replica, _ snapshot: Snapshot
  ) throws(StorageError) -> Bool {
    var join = try UnsentJoin(replica, snapshot)
    return try join.run()
  }

  private init(_ replica: Replica, _ snapshot: Snapshot) throws(StorageError) {
    self.replica = replica
    self.snapshot = snapshot
    objects = ReplicaObjects(snapshot)
    classes = replica.names.compactMap { snapshot.schema.schema.named($0) }
    migration = try UnsentChanges(
      after: replica.state.done, without: replica.cursor.number, in: snapshot
    ).range.lastMigration
  }

  private mutating func run() throws(StorageError) -> Bool {
    // The rows of the push whose answer is missing cannot be read any more.
    if attempt != nil, migration != nil { return false }
    var (version, time) = (replica.state.done.version, replica.state.joinedTime)
    while let end = try endOfRun(after: version) {
      time = max(time, try addRun(after: version, through: end))
      if let attempt, attempt.rawValue == end.rawValue { try keepContents(at: end) }
      version = end
    }
    let rows = PastRows(try SnapshotReader(snapshot), RecordedPast(at: snapshot.version))
    try noteLinksToDeleted(rows)
    try keepContents(rows)
    var next = replica.state
    let last = try ChangeLog.header(of: snapshot.version, in: snapshot.transaction)
    next.done = FeedPlace(
      historyID: snapshot.head.historyID, version: snapshot.version,
      commitID: last?.meta.commitID ?? 0)
    next.joinedTime = max(1, time)
    next.isStale = next.isStale || migration != nil
    objects.set(next)
    try replica.keep(next, objects.records, acknowledging: next.done)
    return true
  }

  /// The last commit of the push whose answer is missing. Its changes are kept separately.
  private var attempt: Version? {
    guard let attempt = replica.state.attempt, attempt.last != replica.state.sent else {
      return nil
    }
    return Version(attempt.last.version)
  }

  private func endOfRun(after version: Version) throws(StorageError) -> Version? {
    let end = try PushRun.end(after: version, in: snapshot)
    guard let attempt, let end, attempt > version else { return end }
    return min(end, attempt)
  }

  // MARK: - Changes

  /// - Returns: the stamp of the last commit.
  private mutating func addRun(
    after start: Version, through end: Version
  ) throws(StorageError) -> Int64 {
    let place = FeedPlace(
      historyID: snapshot.head.historyID, version: start, commitID: 0)
    let run = try UnsentChanges(
      after: place, through: end, without: replica.cursor.number, in: snapshot)
    let last = JoinedChange.Write(version: end.rawValue, time: run.time)
    for one in classes {
      for key in try run.keys(in: one.id) {
        let pending = try run.pending(of: key, in: one.id, after: 0)
        if pending.isEmpty { continue }
        var change = try change(of: key, in: one.id) ?? JoinedChange()
        change.add(pending, by: last)
        if pending.isDeleted, !one.keyIsPrimary {
          change.primaryKey = run.primaryKey(ofDeleted: key, in: one).flatMap {
            WireValue($0)?.bytes
          }
        }
        objects.set(JoinedChanges.key(one.id, key), change.encoded)
      }
    }
    return run.time
  }

  private func change(of key: ObjectKey, in id: ClassID) throws(StorageError) -> JoinedChange? {
    try objects.bytes(JoinedChanges.key(id, key)).map { bytes throws(StorageError) in
      try JoinedChanges.decoded(bytes)
    }
  }

  /// All joined changes, including earlier ones.
  private func joinedKeys(in id: ClassID) throws(StorageError) -> KeySet {
    let new = objects.records.changes(of: JoinedChanges.kind).keys.filter { $0.classID == id }
    let keys = KeySet(new.map { ObjectKey($0.number) }.sorted())
    if replica.state.joinedTime == 0 { return keys }
    return try keys.union(JoinedChanges(snapshot).keys(in: id))
  }

  /// Omits links that are nil only because their target was deleted. If that was before a
  /// migration, the objects with the links cannot be found, and the links become nil on the server,
  /// too.
  private mutating func noteLinksToDeleted(_ rows: PastRows) throws(StorageError) {
    let schema = snapshot.schema.schema
    var start = replica.state.done
    start.version = migration ?? start.version
    let unsent = try UnsentChanges(after: start, without: replica.cursor.number, in: snapshot)
    let links = try LinksToDeleted(
      unsent, classes, objects, rows: rows, without: replica.cursor.number,
      refusing: ExchangedNames.refusing(classes, snapshot))
    for link in links.waiting { try WaitingLinks.add(link, schema, &objects) }
    for place in links.places {
      let (id, key) = (place.object.classID, place.object.key)
      guard let column = schema[id]?[place.column], ContentCoder(column, schema) == nil,
        var change = try change(of: key, in: id), change.created == nil
      else { continue }
      change.writes[place.column] = nil
      objects.set(JoinedChanges.key(id, key), change.isEmpty ? nil : change.encoded)
    }
  }

  // MARK: - Properties with parts

  /// Stores the contents at the end of the push whose answer is missing: if the server has it,
  /// later changes began there.
  private mutating func keepContents(at version: Version) throws(StorageError) {
    try keepContents(PastRows(at: version, from: SnapshotReader(snapshot)))
  }

  private mutating func keepContents(_ rows: PastRows) throws(StorageError) {
    let locals = try LocalContents(
      replica.state, replica.names, upTo: rows.version, without: replica.cursor.number,
      in: snapshot)
    for one in classes {
      let coders = coders(of: one)
      if coders.isEmpty { continue }
      for key in try joinedKeys(in: one.id) {
        guard let change = try change(of: key, in: one.id),
          try rows.contains(ObjectRef(classID: one.id, key: key))
        else { continue }
        var table = try objects.contents(of: key, in: one.id)
        for (column, coder) in coders where change.created != nil || change.writes[column] != nil {
          let place = SequencePlace(classID: one.id, key: key, column: column)
          let own = (table[column] ?? []).filter { change.created == nil || !$0.isOfFormer }
          table[column] = try kept(own, place, coder, locals, rows)
        }
        objects.set(table, of: key, in: one.id)
      }
    }
  }

  private func coders(of one: ClassSchema) -> [(ColumnID, ContentCoder)] {
    one.columns.compactMap { column in
      guard !column.isRemoved, let coder = ContentCoder(column, snapshot.schema.schema) else {
        return nil
      }
      return (column.id, coder)
    }
  }

  private mutating func kept(
    _ kept: [KeptContent], _ place: SequencePlace, _ coder: ContentCoder, _ locals: LocalContents,
    _ rows: PastRows
  ) throws(StorageError) -> [KeptContent] {
    let version = rows.version.rawValue
    let object = ObjectRef(classID: place.classID, key: place.key)
    let waiting =
      version < snapshot.version.rawValue
      ? [] : try WaitingLinks.links(of: object, objects).filter { $0.place.column == place.column }
    let content = try locals.content(place, kept, coder, in: rows, waiting: waiting)
    for link in try LocalItems(rows: rows).hiddenLinks(of: content, place, coder) {
      try WaitingLinks.add(link, snapshot.schema.schema, &objects)
    }
    let start = locals.start(kept, place, at: version)
    let entry = KeptContent(
      version: version, stamp: start?.stamp ?? Stamp(0, by: 0),
      server: start?.server ?? coder.wire(coder.empty), local: coder.wire(content))
    // The contents from that push on.
    let before = kept.filter { $0.version < version && $0.version >= attempt?.rawValue ?? version }
    return before + [entry] + kept.filter { $0.version > version }
  }
}
