package import TarnStore

/// The net changes to objects of one class between two versions.
///
/// To keep a copy of the objects up to date, remove those in ``removals``, then store those in
/// ``upserts``; the other properties give the details. Objects are frozen at the newest version.
///
/// Threading: frozen; any thread may read it.
public struct ObjectChanges<Element: Object> {
  private let told: FeedClass
  private let core: RealmCore
  private let binding: ClassBinding
  private let start: RecordedPast?
  /// The rows at the version after the changes, or newer ones: see `FeedClass.isOfNewest`.
  private let rows: RecordedRows

  init(_ difference: FeedDifference, _ core: RealmCore, _ binding: ClassBinding) {
    let told = difference[binding.classID] ?? FeedClass(id: binding.classID)
    self.told = told
    self.core = core
    self.binding = binding
    start = difference.start
    let reader = core.rows().reader
    let end = (told.isOfNewest ? nil : difference.end) ?? RecordedPast(at: reader.snapshot.version)
    rows = RecordedRows(core, PastRows(reader, end))
  }

  /// True if there are no changes.
  public var isEmpty: Bool { told.isEmpty }

  // MARK: - In short

  /// All objects that the cursor selects and that were added, changed or entered, each once.
  public var upserts: [Element] { objects(presentKeys) }

  /// All objects that were deleted, or that the cursor no longer selects. Some of them may never
  /// have been reported before: ignore unknown identities.
  public var removals: [ObjectIdentity] { deleted + identities(told.left) + gone }

  // MARK: - In detail

  /// Objects that were added.
  public var inserted: [Element] { objects(told.inserted) }

  /// Objects that were added with the primary key of a deleted one that the cursor selected, of
  /// which nothing remains. Without old values these can include objects whose predecessor was not
  /// selected.
  public var replaced: [Element] { objects(told.replaced) }

  /// Objects with a change that the cursor selects, and that it selected before. A repeated batch
  /// includes objects that might not have been selected in between.
  public var modified: [ModifiedObject<Element>] { modifiedObjects(told.modified) }

  /// Objects that existed before, and that the cursor selects now and did not select then, whatever
  /// has changed in them or in objects that they link to. Without old values these include objects
  /// that were selected before, if something changed that the condition reads.
  public var entered: [ModifiedObject<Element>] { modifiedObjects(told.entered) }

  /// Objects that were deleted. Without old values these include objects that never matched the
  /// cursor's condition.
  public var deleted: [ObjectIdentity] {
    told.deleted.map { key in
      let primaryKey = told.primaryKeys[key].flatMap { ObjectIdentity.PrimaryKey($0) }
      return ObjectIdentity(binding.schema.name, key, primaryKey: primaryKey)
    }
  }

  /// Objects that exist and no longer match the cursor's condition. Without old values these
  /// include objects that did not match it before, if something changed that the condition reads. A
  /// repeated batch includes objects that may have matched only in between.
  public var left: [ObjectIdentity] { identities(told.left) }

  /// Objects that were added or changed and no longer exist: they were deleted after the end of the
  /// batch, which a later one reports, or by the consumer's own commit.
  public var gone: [ObjectIdentity] {
    identities(told.gone) + identities(presentKeys.filter { !exists($0) })
  }

  /// True if all objects that existed before were deleted at once. `deleted` then has those whose
  /// keys were kept; a consumer removes all others, too.
  public var isCleared: Bool { told.isCleared }

  /// The identity of an object of this class, to be stored with a copy.
  public func identity(of object: Element) -> ObjectIdentity {
    trapping { () throws(StorageError) in try readIdentity(ObjectKey(object._key)) }
  }

  // MARK: - As data

  /// True if ``recorded`` has the values of the version after the changes. False if that was not
  /// the newest version when this was made, and the old values of the class since then are not
  /// kept: ``recorded`` then has the values of the newest version.
  public var hasOwnValues: Bool {
    !told.isOfNewest || core.frozen?.snapshot.version == told.end
  }

  /// All changes as data, in a fixed order. If ``hasOwnValues`` is true, they are equal for the
  /// same two versions, whatever was committed since.
  public var recorded: [RecordedChange] {
    trapping { () throws(StorageError) in try readRecorded() }
  }

  /// The same for programs that must survive a damaged file.
  package func readRecorded() throws(StorageError) -> [RecordedChange] {
    let kinds: [(RecordedChange.Kind, KeySet)] = [
      (.deleted, told.deleted), (.left, told.left), (.gone, told.gone),
      (.inserted, told.inserted), (.replaced, told.replaced), (.modified, told.modified),
      (.entered, told.entered),
    ]
    let old = oldRows
    var all: [RecordedChange] = []
    for (kind, keys) in kinds {
      for key in keys { all.append(try change(kind, key, old)) }
    }
    return all
  }

  /// The values, by property name, of an object that exists at the version after the changes; nil
  /// for other objects. See ``hasOwnValues``.
  public func values(of identity: ObjectIdentity) -> [String: RecordedValue]? {
    trapping { () throws(StorageError) in try readValues(ObjectKey(identity.objectKey)) }
  }

  /// The former values of an object by property name, if the cursor keeps them: all values of a
  /// deleted object, and of another one those of its assigned properties.
  public func oldValues(of identity: ObjectIdentity) -> [String: RecordedValue] {
    trapping { () throws(StorageError) in
      try oldValues(of: ObjectKey(identity.objectKey), oldRows)
    }
  }

  private var allColumns: [ColumnID] {
    binding.schema.columns.filter { !$0.isRemoved }.map(\.id)
  }

  private func change(
    _ kind: RecordedChange.Kind, _ key: ObjectKey, _ old: RecordedRows?
  ) throws(StorageError) -> RecordedChange {
    let isAssigned = kind == .modified || kind == .entered
    let hasValues = isAssigned || kind == .inserted || kind == .replaced
    let columns = isAssigned ? told.columns(assignedIn: key) : []
    return RecordedChange(
      kind: kind, identity: try identity(key, kind),
      properties: isAssigned ? names(columns, key) : [],
      values: hasValues ? try readValues(key) : nil, oldValues: try oldValues(of: key, old),
      edits: edits(columns, key))
  }

  private func identity(
    _ key: ObjectKey, _ kind: RecordedChange.Kind
  ) throws(StorageError) -> ObjectIdentity {
    guard kind == .deleted else { return try readIdentity(key) }
    return ObjectIdentity(
      binding.schema.name, key,
      primaryKey: told.primaryKeys[key].flatMap { ObjectIdentity.PrimaryKey($0) })
  }

  func readValues(_ key: ObjectKey) throws(StorageError) -> [String: RecordedValue]? {
    guard try rows.rows.contains(ObjectRef(classID: binding.classID, key: key)) else {
      return nil
    }
    return try rows.values(of: key, allColumns, binding)
  }

  /// The rows before the changes; nil if their values were not kept.
  private var oldRows: RecordedRows? {
    guard let start, !start.changes.schemaChanged else { return nil }
    // Embedded objects are read with the object, and their commits may have kept less.
    let own = rows.rows.schema.schema.withEmbedded([binding.classID])
    let level = own.map { start.images.level(of: $0) }.min() ?? .none
    guard level >= .deletedObjects else { return nil }
    return RecordedRows(
      core, PastRows(rows.rows.reader, start, isOfDeletedObjects: level < .oldValues))
  }

  private func oldValues(
    of key: ObjectKey, _ old: RecordedRows?
  ) throws(StorageError) -> [String: RecordedValue] {
    guard let old else { return [:] }
    let isDeleted = told.deleted.contains(key)
    if old.rows.isOfDeletedObjects, !isDeleted { return [:] }
    let columns = isDeleted ? allColumns : told.columns(assignedIn: key)
    if columns.isEmpty { return [:] }
    guard try old.rows.contains(ObjectRef(classID: binding.classID, key: key)) else {
      return [:]
    }
    return try old.values(of: key, columns, binding)
  }

  // MARK: - Rows

  private var presentKeys: KeySet {
    told.inserted.union(told.replaced).union(told.modified).union(told.entered)
  }

  /// Whether the object exists at the newest version, from which objects are made.
  private func exists(_ key: ObjectKey) -> Bool {
    if told.isOfNewest { return true }
    return trapping { () throws(StorageError) in
      try core.rows().contains(ObjectRef(classID: binding.classID, key: key))
    }
  }

  private func objects(_ keys: KeySet) -> [Element] { keys.filter(exists).map(object) }

  private func object(_ key: ObjectKey) -> Element {
    unsafe unsafeDowncast(core.object(key, binding), to: Element.self)
  }

  private func identities(_ keys: some Sequence<ObjectKey>) -> [ObjectIdentity] {
    keys.map { key in trapping { () throws(StorageError) in try readIdentity(key) } }
  }

  func readIdentity(_ key: ObjectKey) throws(StorageError) -> ObjectIdentity {
    try rows.identity(ObjectRef(classID: binding.classID, key: key))
  }

  private func modifiedObjects(_ keys: KeySet) -> [ModifiedObject<Element>] {
    let old = oldRows
    return keys.filter(exists).map { key in
      let columns = told.columns(assignedIn: key)
      let before = trapping { () throws(StorageError) in try oldValues(of: key, old) }
      return ModifiedObject(
        object(key), properties: names(columns, key), oldValues: before,
        edits: edits(columns, key))
    }
  }

  private func edits(_ columns: [ColumnID], _ key: ObjectKey) -> [String: CollectionEdit] {
    var edits: [String: CollectionEdit] = [:]
    for (property, column) in binding.properties(of: columns.map { ($0, $0) }) {
      guard let script = told.script(of: column, in: key) else { continue }
      edits[property.name] = CollectionEdit(script)
    }
    return edits
  }

  /// The names of assigned properties, and of backlinks that a key path begins with.
  private func names(_ columns: [ColumnID], _ key: ObjectKey) -> [String] {
    if told.along.isEmpty {
      return binding.properties(of: columns.map { ($0, ()) }).map { $0.property.name }
    }
    let firsts = told.along.filter { $0.keys.contains(key) }.map(\.path.property)
    return Set(firsts).sorted().map { binding.reflection.properties[$0].name }
  }
}

@available(*, unavailable, message: "frozen, but its objects are not Sendable: use the batch")
extension ObjectChanges: Sendable {}
