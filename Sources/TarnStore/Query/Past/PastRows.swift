/// The rows of a retained version that no snapshot pins any more: those of a newer snapshot, with
/// the old values from the change records since then.
///
/// - Note: Reading a class throws `.invalidInput` if a commit since then changed it without keeping
///   its old values, or after a migration.
///
/// Used on one thread at a time.
package final class PastRows {
  /// The reader of the newer rows.
  package let reader: SnapshotReader
  /// The changes from this version to that of the newer rows.
  package let changes: ChangeSet
  package let images: OldValues
  /// Only objects deleted since then are read, for which their last values suffice: some records
  /// keep the old values of deleted objects only.
  package let isOfDeletedObjects: Bool
  let cache = PastRowCache()

  package var schema: SchemaView { reader.schema }
  package var version: Version { changes.from }

  /// The rows of a version, from those of a newer one.
  ///
  /// - Throws: `.corrupted` if the records in between are damaged or missing.
  package convenience init(at version: Version, from reader: SnapshotReader) throws(StorageError) {
    let snapshot = reader.snapshot
    self.init(
      reader,
      try RecordedPast(after: version, upTo: snapshot.version, in: snapshot.transaction))
  }

  /// - Parameters:
  ///   - reader: the reader of the version at which the changes end. Must not be advanced.
  ///   - past: the records from this version to that one.
  package init(
    _ reader: SnapshotReader, _ past: RecordedPast, isOfDeletedObjects: Bool = false
  ) {
    self.reader = reader
    changes = past.changes
    images = past.images
    self.isOfDeletedObjects = isOfDeletedObjects
  }

  /// These rows for conditions.
  package var rows: Rows { Rows(self) }

  // MARK: - Objects

  /// Throws if not all old values of the class are known.
  package func check(_ id: ClassID) throws(StorageError) {
    let needed = isOfDeletedObjects ? OldValueLevel.deletedObjects : .oldValues
    guard changes.schemaChanged || images.level(of: id) < needed else { return }
    let name = schema.schema[id]?.name ?? ""
    throw StorageError(
      .invalidInput, operation: "read version \(version.rawValue)", path: "",
      detail: changes.schemaChanged
        ? "A migration lies between that version and version \(changes.to.rawValue)."
        : "The old values of class '\(name)' were not kept by all commits since then.")
  }

  package func contains(_ object: ObjectRef) throws(StorageError) -> Bool {
    try check(object.classID)
    switch fate(of: object.key, in: object.classID) {
    case .deleted: return true
    case .inserted: return false
    case .kept: return try reader.row(object.key, in: object.classID) != nil
    }
  }

  /// The keys of all objects of the class.
  package func keys(of id: ClassID) throws(StorageError) -> KeySet {
    try check(id)
    var keys: [ObjectKey] = []
    try reader.forEachCluster(in: id) { found in
      for slot in 0..<found.image.rowCount { keys.append(found.image.key(at: slot)) }
      return true
    }
    guard let entry = changes[id] else { return KeySet(keys) }
    let deleted = images[id]?.deleted ?? KeySet()
    return KeySet(keys).subtracting(entry.inserted).union(deleted)
  }

  private enum Fate { case kept, inserted, deleted }

  /// The change of an object since then.
  private func fate(of key: ObjectKey, in id: ClassID) -> Fate {
    guard let entry = changes[id] else { return .kept }
    if images[id]?.deleted.contains(key) == true { return .deleted }
    return entry.inserted.contains(key) ? .inserted : .kept
  }

  /// A property's value; nil if the object does not exist. Not for collections.
  package func value(
    of column: ColumnID, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> Value? {
    try check(id)
    let fate = fate(of: key, in: id)
    if fate == .inserted { return nil }
    if let former = images[id]?.value(of: column, at: key) {
      return try schema.checked(former.resolved(in: reader.snapshot.transaction))
    }
    guard fate == .deleted else { return try reader.value(of: column, at: key, in: id) }
    let described = schema[id]
    if described.keyIsPrimary, described.primaryKey == column { return .int(key.rawValue) }
    return described[column].isOptional ? .null : described[column].type.zero
  }

  /// Some changed objects' rows at this version, including that object; nil if it did not change.
  /// They have no collections.
  private func changedRows(
    around key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> WorkingCluster? {
    guard let entry = changes[id], let before = images[id] else { return nil }
    let keys = cache.keys(of: id) {
      Array(entry.touched.reduce(before.deleted) { $0.union($1.keys) })
    }
    let index = keys.partitioningIndex { $0 >= key }
    guard index < keys.count, keys[index] == key else { return nil }
    let number = index / PastRowCache.rowsPerCluster
    if let known = cache.cluster(number, of: id) { return known }
    let start = number * PastRowCache.rowsPerCluster
    let cluster = WorkingCluster(schema[id])
    for key in keys[start..<min(start + PastRowCache.rowsPerCluster, keys.count)] {
      let slot = cluster.insert(key)
      for column in schema[id].columns where !column.isRemoved && column.collection == .none {
        if schema[id].keyIsPrimary, column.id == schema[id].primaryKey { continue }
        guard let value = try value(of: column.id, at: key, in: id), value != .null else {
          continue
        }
        cluster.set(column.id, slot, value)
      }
    }
    cache.keep(cluster, number, of: id)
    return cluster
  }

  // MARK: - Collections

  /// A list, set or map; nil if its object or the value that contains it does not exist, or if it
  /// is a nested one without elements.
  package func sequence(at place: SequencePlace) throws(StorageError) -> PastSequence? {
    guard try contains(ObjectRef(classID: place.classID, key: place.key)) else { return nil }
    guard let entry = changes[place.classID], let before = images[place.classID] else {
      return try reader.sequence(at: place).map { PastSequence($0) }
    }
    let name = SequenceName(column: place.column, key: place.key, nested: place.nested)
    let former = before.sequences[name]
    func whole(_ former: OldSequence?) -> PastSequence {
      PastSequence(former, PastSequence.shape(at: place, former, schema), reader.snapshot)
    }
    if let former, former.isWhole { return whole(former) }
    // For a collection that was emptied before it was deleted, all elements are among the former
    // ones.
    if before.deleted.contains(place.key) { return whole(former) }
    guard let now = try reader.sequence(at: place) else {
      return former.map(whole)
    }
    guard let script = entry.script(of: name) else { return PastSequence(now) }
    guard script.newCount == now.count else {
      throw SequenceShape.damaged("its change does not lead to its elements")
    }
    return PastSequence(now, script, former)
  }
}

extension PastRows: RowOverlay {
  package func location(
    of key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> (cluster: RowCluster, slot: Int)? {
    try check(id)
    if fate(of: key, in: id) == .inserted { return nil }
    if let rows = try changedRows(around: key, in: id), let slot = rows.slot(of: key) {
      return (.working(rows), slot)
    }
    guard let (image, slot) = try reader.row(key, in: id) else { return nil }
    return (.image(image), slot)
  }

  /// Changed rows have their long values in memory.
  package func longBytes(
    of column: ColumnID, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> [UInt8] {
    try reader.longBytes(of: column, at: key, in: id)
  }

  package func glance(at place: SequencePlace) throws(StorageError) -> (any SequenceReading)? {
    try sequence(at: place)
  }

  package func expect(lookups: Int, in id: ClassID) { reader.expect(lookups: lookups, in: id) }
}

/// A cache of reconstructed rows of a former version. One thread at a time.
final class PastRowCache {
  static let rowsPerCluster = 128
  private static let clustersMax = 32

  private struct Place: Hashable {
    var id: ClassID
    var number: Int
  }

  private var keys: [ClassID: [ObjectKey]] = [:]
  private var clusters: [Place: WorkingCluster] = [:]
  private var primaryKeys: [ClassID: [Value: ObjectKey]] = [:]
  private var origins: [SchemaView.LinkColumn: [ObjectRef: [ObjectKey]]] = [:]

  /// The keys of a class's changed objects, ascending.
  func keys(of id: ClassID, _ make: () -> [ObjectKey]) -> [ObjectKey] {
    if let known = keys[id] { return known }
    let made = make()
    keys[id] = made
    return made
  }

  func cluster(_ number: Int, of id: ClassID) -> WorkingCluster? {
    clusters[Place(id: id, number: number)]
  }

  func keep(_ cluster: WorkingCluster, _ number: Int, of id: ClassID) {
    if clusters.count >= Self.clustersMax { clusters = [:] }
    clusters[Place(id: id, number: number)] = cluster
  }

  /// A class's deleted objects, by their primary keys.
  func primaryKeys(
    of id: ClassID, _ make: () throws(StorageError) -> [Value: ObjectKey]
  ) throws(StorageError) -> [Value: ObjectKey] {
    if let known = primaryKeys[id] { return known }
    let made = try make()
    primaryKeys[id] = made
    return made
  }

  /// The targets of a column's links from changed objects, and the objects that link to them.
  func origins(
    _ column: SchemaView.LinkColumn,
    _ make: () throws(StorageError) -> [ObjectRef: [ObjectKey]]
  ) throws(StorageError) -> [ObjectRef: [ObjectKey]] {
    if let known = origins[column] { return known }
    let made = try make()
    origins[column] = made
    return made
  }
}
