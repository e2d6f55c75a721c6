import TarnStore

/// The contents of a push: the changes of some commits of this file, as operations on the server's
/// rows.
struct PushPlan {
  /// The last commit that is sent.
  let last: FeedPlace
  private(set) var classes: [(class: ExchangeClass, operations: [(Value, Push.Operation)])] = []
  /// The records to store once the server has accepted the push.
  var outcome = ReplicaOutcome()
  /// Whether the server's contents of an object are not known here, and must be downloaded first.
  private(set) var lacksContents = false
  /// Why it is not sent: it changes values that the file has left out of the server's rows.
  private(set) var refusal: ServerError?
  /// Whether it is incomplete, because its values need too much memory.
  private(set) var isTooLarge = false
  /// The objects of the push.
  private(set) var keys: [(class: ReplicaClass, key: ObjectKey, primaryKey: Value)] = []
  /// The objects that these commits have created.
  private(set) var created: [(class: ReplicaClass, key: ObjectKey, primaryKey: Value)] = []

  private let rows: PastRows
  private let newest: SnapshotReader
  private var deletedTargets = LinksToDeleted()
  /// The commits after the sent ones.
  private let later: LaterChanges?
  private let objects: ReplicaObjects
  /// The stamp of values without their own one.
  private var stamp: Stamp
  /// The commits that wrote the current object's properties.
  private var writes: [ColumnID: JoinedChange.Write] = [:]
  private let locals: LocalContents?
  private let name: PushName
  private let leftOut: LeftOutRows
  private let limit: StampLimit

  /// The stamp of the last commit, in microseconds since 1970.
  var time: Int64 { stamp.time }
  var isEmpty: Bool { classes.isEmpty && outcome.isEmpty && refusal == nil }

  /// - Parameters:
  ///   - unsent: the commits.
  ///   - cursor: the number of the session's cursor.
  ///   - bytesMax: the maximum size of the values of several commits.
  init(
    _ unsent: UnsentChanges, _ classes: [ReplicaClass], _ state: ReplicaState,
    without cursor: UInt32, in snapshot: Snapshot, bytesMax: Int = .max
  ) throws(StorageError) {
    let range = unsent.range
    let last = FeedPlace(
      historyID: snapshot.head.historyID, version: range.to, commitID: range.commitID)
    try self.init(upTo: last, unsent.time, classes, state, without: cursor, in: snapshot)
    deletedTargets = try LinksToDeleted(
      unsent, classes.map(\.described), objects, rows: rows, without: cursor,
      refusing: ReplicaClass.refusing(classes))
    outcome.waiting = deletedTargets.waiting
    var bytes = 0
    for one in classes {
      var operations: [(Value, Push.Operation)] = []
      for key in try unsent.keys(in: one.id) {
        let known = try objects[one.id, key]
        let pending = try unsent.pending(of: key, in: one.id, after: known?.void ?? 0)
        let deleted = pending.isDeleted ? unsent.primaryKey(ofDeleted: key, in: one.described) : nil
        let own = try self.operations(key, known, pending, deleted, one)
        bytes += own.reduce(0) { $0 + $1.1.byteCount }
        isTooLarge = bytes > bytesMax && range.commits > 1
        if isTooLarge { return }
        operations += own
      }
      add(operations, one)
    }
  }

  /// Sends the joined changes of some objects.
  ///
  /// - Parameter bytesMax: the maximum size of the values of several objects.
  init(
    _ joined: [JoinedChanges.Entry], _ classes: [ReplicaClass], _ state: ReplicaState,
    without cursor: UInt32, in snapshot: Snapshot, bytesMax: Int
  ) throws(StorageError) {
    try self.init(
      upTo: state.done, state.joinedTime, classes, state, without: cursor, in: snapshot)
    var bytes = 0
    for one in classes {
      var operations: [(Value, Push.Operation)] = []
      for (object, change) in joined where object.classID == one.id {
        let known = try objects[one.id, object.key]
        let time = change.created?.time ?? state.joinedTime
        stamp = Stamp(limit.limited(time, madeAt: time), by: state.number)
        writes = change.writes
        let own = try self.operations(
          object.key, known, change.pending(after: known?.void ?? 0),
          change.primaryKey(of: object.key, in: one.described), one)
        bytes += own.reduce(0) { $0 + $1.1.byteCount }
        isTooLarge = bytes > bytesMax && joined.count > 1
        if isTooLarge { return }
        operations += own
        outcome.joined.append(object)
      }
      add(operations, one)
    }
  }

  /// Sends objects as a whole: those that the file had before it was a replica.
  ///
  /// - Parameters:
  ///   - upload: the name of a run of such pushes, whose objects have incarnations in the order of
  ///     their keys, so that they fit on few pages of a file and its server.
  ///   - bytesMax: the maximum size of the values of several objects.
  init(
    _ objects: [(class: ReplicaClass, keys: [ObjectKey])], of upload: PushName,
    _ state: ReplicaState, time: Int64, without cursor: UInt32, in snapshot: Snapshot,
    bytesMax: Int
  ) throws(StorageError) {
    last = state.done
    newest = try SnapshotReader(snapshot)
    later = nil
    rows = PastRows(newest, RecordedPast(at: snapshot.version))
    self.objects = ReplicaObjects(snapshot)
    leftOut = LeftOutRows(snapshot)
    limit = state.limit
    stamp = Stamp(limit.limited(time, madeAt: time), by: state.number)
    name = upload
    let structured = objects.filter { $0.class.hasContents && !$0.keys.isEmpty }
    locals =
      structured.isEmpty
      ? nil
      : try LocalContents(
        state, structured.map(\.class.described.name), without: cursor, in: snapshot)
    var bytes = 0
    for (one, keys) in objects {
      var operations: [(Value, Push.Operation)] = []
      for key in keys {
        guard let primaryKey = try primaryKey(of: key, one) else { continue }
        self.keys.append((one, key, primaryKey))
        created.append((one, key, primaryKey))
        try noteRefusal(of: primaryKey, nil, UnsentChanges.Pending(), one)
        let operation = try insertion(key, one)
        bytes += operation.byteCount
        isTooLarge = bytes > bytesMax && self.keys.count > 1
        if isTooLarge { return }
        operations.append((primaryKey, operation))
      }
      add(operations, one)
    }
  }

  /// An empty plan.
  private init(
    upTo last: FeedPlace, _ time: Int64, _ classes: [ReplicaClass], _ state: ReplicaState,
    without cursor: UInt32, in snapshot: Snapshot
  ) throws(StorageError) {
    self.last = last
    newest = try SnapshotReader(snapshot)
    rows = try PastRows(at: last.version, from: newest)
    later = last.version == snapshot.version ? nil : LaterChanges(last, cursor, snapshot)
    objects = ReplicaObjects(snapshot)
    leftOut = LeftOutRows(snapshot)
    limit = state.limit
    stamp = Stamp(limit.limited(time, madeAt: time), by: state.number)
    name = PushName(replica: state.id, commit: last.commitID)
    locals =
      classes.contains { $0.hasContents }
      ? try LocalContents(
        state, classes.map(\.described.name), upTo: last.version, without: cursor, in: snapshot)
      : nil
  }

  private mutating func add(_ operations: [(Value, Push.Operation)], _ one: ReplicaClass) {
    if !operations.isEmpty { classes.append((one.exchange, operations)) }
  }

  /// - Parameters:
  ///   - known: the entry of the object.
  ///   - pending: the changes to send.
  ///   - deleted: the primary key of the object that they deleted.
  private mutating func operations(
    _ key: ObjectKey, _ known: ReplicaObject?, _ pending: UnsentChanges.Pending,
    _ deleted: Value?, _ one: ReplicaClass
  ) throws(StorageError) -> [(Value, Push.Operation)] {
    if pending.isEmpty {
      // The entry of an object that both sides have deleted.
      if known != nil, try newest.row(key, in: one.id) == nil {
        outcome.objects.append((one.id, key, nil))
      }
      return []
    }
    guard let primaryKey = try primaryKey(of: key, one) else {
      guard let known, pending.isDeleted, let primaryKey = deleted else { return [] }
      keys.append((one, key, primaryKey))
      outcome.objects.append((one.id, key, nil))
      return [(primaryKey, .delete(incarnation: known.incarnation))]
    }
    if pending.isCreated { created.append((one, key, primaryKey)) }
    var isNew = known == nil && pending.isCreated
    if known == nil, !isNew { isNew = try isUnknown(key, one) }
    if known == nil, !isNew { return [] }
    try noteRefusal(of: primaryKey, known, pending, one)
    guard var known else {
      keys.append((one, key, primaryKey))
      return [(primaryKey, try insertion(key, one))]
    }
    keys.append((one, key, primaryKey))
    if pending.isCreated, !known.isJoined {
      return [
        (primaryKey, .delete(incarnation: known.incarnation)),
        (primaryKey, try insertion(key, one)),
      ]
    }
    let written = pending.isCreated ? one.exchange.others.map(\.id) : pending.columns
    let values = try values(of: key, one, isNew: false) { written.contains($0.id) }
    if known.isJoined {
      known.isJoined = false
      outcome.objects.append((one.id, key, known))
    }
    return values.isEmpty
      ? [] : [(primaryKey, .update(incarnation: known.incarnation, values))]
  }

  /// Records why the server cannot receive the changes of an object.
  private mutating func noteRefusal(
    of primaryKey: Value, _ known: ReplicaObject?, _ pending: UnsentChanges.Pending,
    _ one: ReplicaClass
  ) throws(StorageError) {
    if refusal != nil { return }
    refusal = ServerKey.refusal(of: primaryKey, in: one.described)
    if refusal == nil { refusal = try leftOut.refusal(of: primaryKey, known, pending, one) }
  }

  /// Whether the server does not know an object that was not created by these commits: it existed
  /// here before the file was a replica, or the server has lost it. Otherwise the server had it,
  /// and has dropped it since: the edits are dropped with it, even if a later commit has created it
  /// again.
  private func isUnknown(_ key: ObjectKey, _ one: ReplicaClass) throws(StorageError) -> Bool {
    guard try newest.row(key, in: one.id) != nil else { return false }
    return try later?.changes().pending(of: key, in: one.id, after: 0).isCreated != true
  }

  private mutating func insertion(
    _ key: ObjectKey, _ one: ReplicaClass
  ) throws(StorageError) -> Push.Operation {
    let incarnation = name.incarnation(of: key, in: one.id)
    outcome.objects.append((one.id, key, ReplicaObject(incarnation: incarnation, version: 0)))
    return .insert(
      ObjectRow(
        incarnation: incarnation, values: try values(of: key, one, isNew: true) { _ in true }))
  }

  /// The primary key of an object; nil if it does not exist after the commits.
  private func primaryKey(of key: ObjectKey, _ one: ReplicaClass) throws(StorageError) -> Value? {
    guard try rows.contains(ObjectRef(classID: one.id, key: key)) else { return nil }
    if one.described.keyIsPrimary { return .int(key.rawValue) }
    return try rows.value(of: one.exchange.key.id, at: key, in: one.id)
  }

  /// - Parameter isNew: whether the server does not have the object.
  private mutating func values(
    of key: ObjectKey, _ one: ReplicaClass, isNew: Bool,
    _ isWanted: (ExchangeClass.Property) -> Bool
  ) throws(StorageError) -> [String: ObjectRow<WireValue?>.Property] {
    var values: [String: ObjectRow<WireValue?>.Property] = [:]
    var table = one.hasContents ? try objects.contents(of: key, in: one.id) : [:]
    var isChanged = false
    for property in one.exchange.others where isWanted(property) {
      if property.contents != nil {
        values[property.name] = try content(property, key, one, &table, isNew: isNew)
        isChanged = true
        continue
      }
      guard let value = try rows.value(of: property.id, at: key, in: one.id) else { continue }
      guard let target = one.target(of: property) else {
        values[property.name] = .init(.single(WireValue(value)), stamp(of: property))
        continue
      }
      if value == .null, let waiting = try waitingLink(key, property, one) {
        values[property.name] = .init(.single(waiting), stamp(of: property))
        continue
      }
      if value == .null, isDerived(key, property, one) { continue }
      values[property.name] = .init(
        .single(try link(value, to: target)), stamp(of: property))
    }
    if isChanged { outcome.contents.append((one.id, key, table)) }
    return values
  }

  /// A list, set or map to send: the server's, with the changes of these commits.
  ///
  /// - Parameter table: the stored contents of the object; updated to those after the push.
  /// - Returns: nil if the server has it.
  private mutating func content(
    _ property: ExchangeClass.Property, _ key: ObjectKey, _ one: ReplicaClass,
    _ table: inout KeptContent.Table, isNew: Bool
  ) throws(StorageError) -> ObjectRow<WireValue?>.Property? {
    guard let locals, let coder = property.contents else { return nil }
    let place = SequencePlace(classID: one.id, key: key, column: property.id)
    let version = rows.version.rawValue
    let kept = (table[property.id] ?? []).filter { !isNew || !$0.isOfFormer }
    let mine = try locals.content(place, kept, coder, in: rows)
    outcome.waiting += try LocalItems(rows: rows).hiddenLinks(of: mine, place, coder)
    let seen = isNew ? nil : kept.last
    if !isNew, seen == nil {
      // An object that a later commit deletes here was not downloaded, and needs no contents.
      if try newest.row(key, in: one.id) == nil { return nil }
      lacksContents = refusal == nil
    }
    let former = isNew ? coder.empty : locals.base(kept, place, coder, at: version)
    // The server had these at a later download: if they are missing now, they were removed since.
    let met = kept.filter { $0.version > version }.map {
      coder.content($0.server, at: $0.stamp)
    }
    let forms = Content.unified(
      [former] + met, inFormsOf: [mine], coder.items.column)
    let base = forms[0].adding(mine, metIn: Array(forms.dropFirst()))
    let own = stamp(of: property)
    let stamp = Stamp(max(own.time, (seen?.stamp.time ?? 0) + 1), by: own.writer)
    var next = [KeptContent(version: version, stamp: stamp, server: coder.wire(mine))]
    for later in kept where later.version > version {
      // A download after these commits.
      let theirs = coder.content(later.server, at: later.stamp)
      let merged = coder.wire(locals.merged(base, theirs, mine, coder))
      let local = later.local ?? later.server
      next.append(
        KeptContent(
          version: later.version, stamp: stamp, server: merged,
          local: local == merged ? nil : local))
    }
    let sent = next[next.count - 1].server
    if let seen, sent == seen.server {
      next[next.count - 1].stamp = seen.stamp
      table[property.id] = next
      return nil
    }
    table[property.id] = next
    return .init(.single(sent), stamp, seen: seen?.stamp)
  }

  private func stamp(of property: ExchangeClass.Property) -> Stamp {
    writes[property.id].map {
      Stamp(limit.limited($0.time, madeAt: $0.time), by: stamp.writer)
    } ?? stamp
  }

  // MARK: - Links

  /// A link, as the primary key of its target.
  private mutating func link(
    _ value: Value, to target: ClassID
  ) throws(StorageError) -> WireValue? {
    guard case .link(let key) = value, let column = rows.schema.schema[target]?.primaryKey else {
      return nil
    }
    if rows.schema[target].keyIsPrimary { return WireValue(.int(key.rawValue)) }
    guard let primaryKey = try rows.value(of: column, at: key, in: target) else { return nil }
    if refusal == nil { refusal = ServerKey.refusal(of: primaryKey, in: rows.schema[target]) }
    return WireValue(primaryKey)
  }

  /// The key of a link whose target is missing here.
  private func waitingLink(
    _ key: ObjectKey, _ property: ExchangeClass.Property, _ one: ReplicaClass
  ) throws(StorageError) -> WireValue? {
    let object = ObjectRef(classID: one.id, key: key)
    let waiting = try WaitingLinks.links(of: object, objects)
    return waiting.first { $0.place.column == property.id }.map { WireValue($0.key) }
  }

  /// Whether a link is nil because its target was deleted here: the server keeps the key, so that
  /// the link is restored with the target.
  private func isDerived(
    _ key: ObjectKey, _ property: ExchangeClass.Property, _ one: ReplicaClass
  ) -> Bool {
    let object = ObjectRef(classID: one.id, key: key)
    return deletedTargets.places.contains(WaitingLinks.Place(object: object, column: property.id))
  }
}

/// The changes of the commits after a push, read at their first use: with many unsent commits that
/// takes as long as all pushes.
private final class LaterChanges {
  private let place: FeedPlace
  private let cursor: UInt32
  private let snapshot: Snapshot
  private var known: UnsentChanges?

  init(_ place: FeedPlace, _ cursor: UInt32, _ snapshot: Snapshot) {
    (self.place, self.cursor, self.snapshot) = (place, cursor, snapshot)
  }

  func changes() throws(StorageError) -> UnsentChanges {
    if let known { return known }
    let made = try UnsentChanges(after: place, without: cursor, in: snapshot)
    known = made
    return made
  }
}

/// Assigns incarnations to the objects that a push creates. A push whose answer was lost is made
/// again with the same ones, and no other replica can guess them: the replica's id is a random
/// number of 128 bits that only the server receives.
struct PushName {
  let replica: Bytes16
  /// The random id of the last commit; nil for a run of uploads, which belong to no commit.
  let commit: UInt64?

  /// The name of a run of uploads.
  static func upload() -> PushName { PushName(replica: .random(), commit: nil) }

  func incarnation(of key: ObjectKey, in id: ClassID) -> Int64 {
    var state: UInt64 = 0
    for word in [replica.high, replica.low, commit ?? 0, UInt64(id.rawValue)] {
      state = Self.mixed(state ^ word)
    }
    guard commit != nil else { return Int64(bitPattern: state) &+ key.rawValue }
    return Int64(bitPattern: Self.mixed(state ^ UInt64(bitPattern: key.rawValue)))
  }

  /// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
  private static func mixed(_ word: UInt64) -> UInt64 {
    var word = word &+ 0x9e37_79b9_7f4a_7c15
    word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
    return word ^ (word >> 31)
  }
}
