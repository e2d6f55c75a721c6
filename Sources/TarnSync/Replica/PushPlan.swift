import TarnStore

/// The contents of a push: the changes of some commits of this file, as operations on the server's
/// rows.
struct PushPlan {
  /// The last commit that is sent.
  let last: FeedPlace
  private(set) var classes: [(class: ExchangeClass, operations: [(Value, Push.Operation)])] = []
  /// The entries to store for the objects once the server has accepted the push; nil for those that
  /// it has deleted.
  private(set) var outcome: [(class: ClassID, key: ObjectKey, object: ReplicaObject?)] = []
  /// The objects of the push.
  private(set) var keys: [(class: ReplicaClass, key: ObjectKey, primaryKey: Value)] = []

  private let rows: PastRows
  /// The rows before the commits; nil where no class has links, and for objects that are sent as a
  /// whole.
  private let before: PastRows?
  private let newest: SnapshotReader
  /// The commits after those that are sent.
  private let later: UnsentChanges?
  private let objects: ReplicaObjects
  private let stamp: Stamp

  var isEmpty: Bool { classes.isEmpty && outcome.isEmpty }

  /// - Parameters:
  ///   - unsent: the commits.
  ///   - number: the replica's.
  ///   - cursor: the number of the session's cursor.
  init(
    _ unsent: UnsentChanges, _ classes: [ReplicaClass], number: UInt32, without cursor: UInt32,
    in snapshot: Snapshot
  ) throws(StorageError) {
    let range = unsent.range
    last = FeedPlace(
      historyID: snapshot.head.historyID, version: range.to, commitID: range.commitID)
    newest = try SnapshotReader(snapshot)
    rows = try PastRows(at: range.to, from: newest)
    let hasLinks = classes.contains { one in
      one.exchange.others.contains { one.target(of: $0) != nil }
    }
    before = hasLinks ? try PastRows(at: range.from, from: newest) : nil
    later =
      last.version == snapshot.version
      ? nil : try UnsentChanges(after: last, without: cursor, in: snapshot)
    objects = ReplicaObjects(snapshot)
    stamp = Stamp(unsent.time, by: number)
    for one in classes {
      var operations: [(Value, Push.Operation)] = []
      for key in unsent.keys(in: one.id) { operations += try self.operations(key, unsent, one) }
      add(operations, one)
    }
  }

  /// Sends objects of one class as a whole: what the file had before it was a replica.
  ///
  /// - Parameter place: where the replica is.
  init(
    _ keys: [ObjectKey], _ one: ReplicaClass, at place: FeedPlace, time: Int64, number: UInt32,
    in snapshot: Snapshot
  ) throws(StorageError) {
    last = place
    newest = try SnapshotReader(snapshot)
    later = nil
    before = nil
    rows = PastRows(newest, RecordedPast(at: snapshot.version))
    objects = ReplicaObjects(snapshot)
    stamp = Stamp(time, by: number)
    var operations: [(Value, Push.Operation)] = []
    for key in keys {
      guard let primaryKey = try primaryKey(of: key, one) else { continue }
      self.keys.append((one, key, primaryKey))
      operations.append((primaryKey, try insertion(key, one)))
    }
    add(operations, one)
  }

  private mutating func add(_ operations: [(Value, Push.Operation)], _ one: ReplicaClass) {
    if !operations.isEmpty { classes.append((one.exchange, operations)) }
  }

  private mutating func operations(
    _ key: ObjectKey, _ unsent: UnsentChanges, _ one: ReplicaClass
  ) throws(StorageError) -> [(Value, Push.Operation)] {
    let known = try objects[one.id, key]
    let pending = try unsent.pending(of: key, in: one.id, after: known?.void ?? 0)
    if pending.isEmpty {
      // The entry of an object that both have deleted.
      if known != nil, try newest.row(key, in: one.id) == nil { outcome.append((one.id, key, nil)) }
      return []
    }
    guard let primaryKey = try primaryKey(of: key, one) else {
      guard let known, pending.isDeleted,
        let primaryKey = unsent.primaryKey(ofDeleted: key, in: one)
      else { return [] }
      keys.append((one, key, primaryKey))
      outcome.append((one.id, key, nil))
      return [(primaryKey, .delete(incarnation: known.incarnation))]
    }
    guard var known else {
      let isNew = try pending.isCreated ? true : isUnknown(key, one)
      guard isNew else { return [] }
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
    let values = try values(of: key, one) { written.contains($0.id) }
    if known.isJoined {
      known.isJoined = false
      outcome.append((one.id, key, known))
    }
    return values.isEmpty
      ? [] : [(primaryKey, .update(incarnation: known.incarnation, values))]
  }

  /// Whether the server does not know an object that was not created by these commits: it was here
  /// before the file was a replica, or the server has lost it. Otherwise the server had it, and has
  /// dropped it since: the edits go with it, also where a later commit has created it again.
  private func isUnknown(_ key: ObjectKey, _ one: ReplicaClass) throws(StorageError) -> Bool {
    guard try newest.row(key, in: one.id) != nil else { return false }
    return try later?.pending(of: key, in: one.id, after: 0).isCreated != true
  }

  private mutating func insertion(
    _ key: ObjectKey, _ one: ReplicaClass
  ) throws(StorageError) -> Push.Operation {
    let incarnation = Int64.random(in: .min ... .max)
    outcome.append((one.id, key, ReplicaObject(incarnation: incarnation, version: 0)))
    return .insert(
      ObjectRow(incarnation: incarnation, values: try values(of: key, one) { _ in true }))
  }

  /// The primary key of an object; nil if it does not exist after the commits.
  private func primaryKey(of key: ObjectKey, _ one: ReplicaClass) throws(StorageError) -> Value? {
    guard try rows.contains(ObjectRef(classID: one.id, key: key)) else { return nil }
    if one.described.keyIsPrimary { return .int(key.rawValue) }
    return try rows.value(of: one.exchange.key.id, at: key, in: one.id)
  }

  private func values(
    of key: ObjectKey, _ one: ReplicaClass, _ isWanted: (ExchangeClass.Property) -> Bool
  ) throws(StorageError) -> [String: ObjectRow<WireValue?>.Property] {
    var values: [String: ObjectRow<WireValue?>.Property] = [:]
    for property in one.exchange.others where isWanted(property) {
      guard let value = try rows.value(of: property.id, at: key, in: one.id) else { continue }
      guard let target = one.target(of: property) else {
        values[property.name] = .init(.single(WireValue(value)), stamp)
        continue
      }
      if value == .null, try isDerived(key, property, one) { continue }
      values[property.name] = .init(.single(try link(value, to: target)), stamp)
    }
    return values
  }

  // MARK: - Links

  /// A link as the primary key of its target.
  private func link(_ value: Value, to target: ClassID) throws(StorageError) -> WireValue? {
    guard case .link(let key) = value, let column = rows.schema.schema[target]?.primaryKey else {
      return nil
    }
    if rows.schema[target].keyIsPrimary { return WireValue(.int(key.rawValue)) }
    return try rows.value(of: column, at: key, in: target).flatMap { WireValue($0) }
  }

  /// Whether a link is nil because its target is not here, or was deleted here: the server keeps
  /// the key, so that the link comes back with the target.
  private func isDerived(
    _ key: ObjectKey, _ property: ExchangeClass.Property, _ one: ReplicaClass
  ) throws(StorageError) -> Bool {
    let object = ObjectRef(classID: one.id, key: key)
    if try WaitingLinks.links(of: object, objects).contains(where: {
      $0.place.column == property.id
    }) {
      return true
    }
    guard let before, let target = one.target(of: property),
      case .link(let former)? = try before.value(of: property.id, at: key, in: one.id)
    else { return false }
    return try !rows.contains(ObjectRef(classID: target, key: former))
  }
}
