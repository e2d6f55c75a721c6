import TarnStore

/// The changes of this file's commits that the server does not have, as one difference: those of
/// joined commits, and those in the change records. Commits of the session itself are left out,
/// because they stored the server's rows, and so are migrations, whose changes are not recorded.
final class UnsentChanges {
  /// The changes of one object.
  struct Pending: Equatable {
    /// An object with this key was created.
    var isCreated = false
    /// An object with this key was deleted, perhaps before another one was created.
    var isDeleted = false
    /// The properties that were written, if the object existed before.
    var columns: [ColumnID] = []

    var isEmpty: Bool { !isCreated && !isDeleted && columns.isEmpty }
  }

  let range: FeedRange
  /// The stamp of the last commit, in microseconds since 1970.
  let time: Int64
  private let snapshot: Snapshot
  private let number: UInt32
  private let joined: JoinedChanges?
  /// From other versions up to the same one.
  private var later: [UInt64: FeedRange] = [:]
  /// From the same version up to others.
  private var earlier: [UInt64: FeedRange] = [:]
  private var knownFirst: UInt64?
  /// The owners of changed embedded objects, by the versions between which the changes are.
  private var owners: [[Version]: EmbeddedOwners] = [:]
  /// The columns that have the values of earlier ones since a migration.
  private var successors: [ClassID: [ColumnID: ColumnID]] = [:]
  private var deletedKeys: [ClassID: [ElementKey: [ObjectKey]]] = [:]

  /// - Parameters:
  ///   - place: the last commit that the server has.
  ///   - end: the last commit that counts; nil for the newest.
  ///   - number: the cursor whose commits are left out.
  ///   - joinedTime: the stamp of the last commit that was joined and is not sent; 0 for none.
  ///   - limit: the limit of the stamps.
  init(
    after place: FeedPlace, through end: Version? = nil, without number: UInt32,
    joinedAt joinedTime: Int64 = 0, limit: StampLimit = StampLimit(), in snapshot: Snapshot
  ) throws(StorageError) {
    var range = FeedRange(after: place.version, commitID: place.commitID)
    try range.extend(
      upTo: end ?? snapshot.version, without: number, tellsAllDeaths: true,
      passesMigrations: true, in: snapshot)
    self.range = range
    self.snapshot = snapshot
    self.number = number
    joined = joinedTime == 0 ? nil : JoinedChanges(snapshot)
    let note = try ChangeLog.header(of: range.to, in: snapshot.transaction)?.meta.note
    time = max(
      limit.limited(joinedTime, madeAt: joinedTime),
      limit.limited(
        Int64(clamping: note?.stamp ?? 0), madeAt: note?.time ?? 0, as: range.to.rawValue))
  }

  /// The same for the state of a replica: all changes that are not sent.
  convenience init(
    after state: ReplicaState, without number: UInt32, in snapshot: Snapshot
  ) throws(StorageError) {
    try self.init(
      after: state.done, without: number, joinedAt: state.joinedTime,
      limit: state.limit, in: snapshot)
  }

  /// The changes of an object by the commits after a version.
  func pending(
    of key: ObjectKey, in id: ClassID, after void: UInt64
  ) throws(StorageError) -> Pending {
    let pending = try recorded(of: key, in: id, range(after: void))
    // Joined changes concern an object that was deleted since.
    guard let joined, !pending.isDeleted, let before = try joined[id, key] else { return pending }
    var whole = before.pending(after: void)
    if pending.isCreated { (whole.isCreated, whole.columns) = (true, []) }
    whole.columns += pending.columns.filter { !whole.columns.contains($0) }
    return whole
  }

  /// Whether a commit up to a version has created an object or changed a property of it.
  func hasChanged(_ place: SequencePlace, upTo version: UInt64) throws(StorageError) -> Bool {
    guard try version >= firstVersion() else { return false }
    let changes = try recorded(of: place.key, in: place.classID, range(upTo: version))
    return changes.isCreated || changes.columns.contains(place.column)
  }

  /// The changes in change records.
  private func recorded(
    of key: ObjectKey, in id: ClassID, _ range: FeedRange
  ) throws(StorageError) -> Pending {
    var pending = Pending()
    pending.isDeleted = range.deaths[id]?.keys.contains(key) ?? false
    let owned = try owners(range).found[id] ?? [:]
    pending.columns = owned.filter { $0.value.contains(key) }.map(\.key)
    guard let changes = range.changes[id] else { return pending }
    pending.isCreated = changes.inserted.contains(key)
    pending.isDeleted = pending.isDeleted || changes.deleted.contains(key)
    pending.columns += changes.touched.filter { $0.keys.contains(key) }.map(\.column)
    if snapshot.schema.schema[id]?.columns.contains(where: \.isRemoved) == true {
      pending.columns = try pending.columns.map { column throws(StorageError) in
        try successor(of: column, in: id)
      }
    }
    return pending
  }

  private func successor(of column: ColumnID, in id: ClassID) throws(StorageError) -> ColumnID {
    if let known = successors[id]?[column] { return known }
    let origins = try ColumnOrigins(of: id, in: snapshot.transaction)
    let found = origins.successor(of: column) ?? column
    successors[id, default: [:]][column] = found
    return found
  }

  private func owners(_ range: FeedRange) throws(StorageError) -> EmbeddedOwners {
    if let known = owners[[range.from, range.to]] { return known }
    let made = try EmbeddedOwners(of: range.changes, in: snapshot)
    owners[[range.from, range.to]] = made
    return made
  }

  private func range(after version: UInt64) throws(StorageError) -> FeedRange {
    if version <= range.from.rawValue { return range }
    if let known = later[version] { return known }
    var rest = FeedRange(after: Version(min(version, range.to.rawValue)), commitID: 0)
    try rest.extend(
      upTo: range.to, without: number, tellsAllDeaths: true, passesMigrations: true, in: snapshot)
    later[version] = rest
    return rest
  }

  /// The version of the first commit. It may be preceded by many commits of the session.
  private func firstVersion() throws(StorageError) -> UInt64 {
    if let knownFirst { return knownFirst }
    var first = UInt64.max
    try ChangeLog.forEachHeader(after: range.from, in: snapshot.transaction) {
      header, _ throws(StorageError) in
      if header.meta.note?.cursors.contains(number) == true { return true }
      first = header.to.rawValue
      return false
    }
    knownFirst = first
    return first
  }

  private func range(upTo version: UInt64) throws(StorageError) -> FeedRange {
    if version >= range.to.rawValue { return range }
    if let known = earlier[version] { return known }
    var part = FeedRange(after: range.from, commitID: 0)
    try part.extend(
      upTo: max(range.from, Version(version)), without: number, tellsAllDeaths: true,
      passesMigrations: true, in: snapshot)
    earlier[version] = part
    return part
  }

  /// The objects of a class with changes.
  func keys(in id: ClassID) throws(StorageError) -> KeySet {
    var keys = range.deaths[id]?.keys ?? KeySet()
    if let joined { keys.formUnion(try joined.keys(in: id)) }
    for owned in try owners(range).found[id]?.values.map({ $0 }) ?? [] { keys.formUnion(owned) }
    guard let changes = range.changes[id] else { return keys }
    keys.formUnion(changes.inserted)
    keys.formUnion(changes.deleted)
    for entry in changes.touched { keys.formUnion(entry.keys) }
    return keys
  }

  /// The deleted objects of a class.
  func deleted(in id: ClassID) -> KeySet { range.deaths[id]?.keys ?? KeySet() }

  /// The primary key of a deleted object.
  func primaryKey(ofDeleted key: ObjectKey, in described: ClassSchema) -> Value? {
    if described.keyIsPrimary { return .int(key.rawValue) }
    return range.deaths[described.id]?.primaryKeys[key]
  }

  /// The objects that were deleted with that primary key, oldest first.
  func deleted(
    _ primaryKey: ElementKey, in described: ClassSchema
  ) throws(StorageError) -> [ObjectKey] {
    let id = described.id
    if described.keyIsPrimary {
      guard case .int(let number) = primaryKey.value else { return [] }
      let key = ObjectKey(number)
      if range.deaths[id]?.keys.contains(key) == true { return [key] }
      return try joined?[id, key] == nil ? [] : [key]
    }
    if deletedKeys[id] == nil {
      let known = range.deaths[id]?.primaryKeys ?? [:]
      deletedKeys[id] = Dictionary(grouping: known.keys.sorted()) { ElementKey(known[$0]!) }
    }
    let recorded = deletedKeys[id]?[primaryKey] ?? []
    guard let joined else { return recorded }
    return try joined.deleted(primaryKey, in: described) + recorded
  }

  /// The objects of a class that the server does not have, except those that unsent commits have
  /// created: they existed before the first exchange, or the server has lost them.
  func lacking(in id: ClassID, _ reader: SnapshotReader) throws(StorageError) -> [ObjectKey] {
    let objects = ReplicaObjects(reader.snapshot)
    var keys: [ObjectKey] = []
    try reader.forEachCluster(in: id) { cluster throws(StorageError) in
      for slot in 0..<cluster.image.rowCount {
        let key = cluster.image.key(at: slot)
        if try objects[id, key] != nil { continue }
        if try !pending(of: key, in: id, after: 0).isCreated { keys.append(key) }
      }
      return true
    }
    return keys
  }
}
