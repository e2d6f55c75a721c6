import TarnStore

/// The net changes of the unsent commits that were joined, in records by object. They precede the
/// changes in change records. Read from a snapshot.
final class JoinedChanges {
  typealias Entry = (object: ObjectRef, change: JoinedChange)

  static let kind: UInt8 = 4

  private let snapshot: Snapshot
  private var known: [ClassID: KeySet] = [:]
  private var deleted: [ClassID: [ElementKey: [ObjectKey]]] = [:]

  init(_ snapshot: Snapshot) { self.snapshot = snapshot }

  static func key(_ id: ClassID, _ key: ObjectKey) -> ReplicaKey {
    ReplicaKey(kind, id, key.rawValue)
  }

  static func decoded(_ bytes: [UInt8]) throws(StorageError) -> JoinedChange {
    guard let change = JoinedChange(decoding: bytes) else { throw ReplicaObjects.damaged() }
    return change
  }

  subscript(id: ClassID, key: ObjectKey) -> JoinedChange? {
    get throws(StorageError) {
      try ReplicaRecords.bytes(Self.key(id, key), in: snapshot.transaction).map {
        bytes throws(StorageError) in try Self.decoded(bytes)
      }
    }
  }

  /// Passes the changes of a class, in the order of the objects' keys, until `body` returns false.
  func forEach(
    in id: ClassID, _ body: (ObjectKey, JoinedChange) throws(StorageError) -> Bool
  ) throws(StorageError) {
    try ReplicaRecords.forEach(Self.kind, id, in: snapshot.transaction) {
      number, bytes throws(StorageError) in
      try body(ObjectKey(number), Self.decoded(bytes))
    }
  }

  /// The objects of a class with changes.
  func keys(in id: ClassID) throws(StorageError) -> KeySet {
    if let known = known[id] { return known }
    var keys: [ObjectKey] = []
    try forEach(in: id) { key, _ throws(StorageError) in
      keys.append(key)
      return true
    }
    let all = KeySet(keys)
    known[id] = all
    return all
  }

  /// The objects that were deleted with that primary key.
  func deleted(_ primaryKey: ElementKey, in described: ClassSchema) throws(StorageError)
    -> [ObjectKey]
  {
    if let known = deleted[described.id] { return known[primaryKey] ?? [] }
    var found: [ElementKey: [ObjectKey]] = [:]
    try forEach(in: described.id) { key, change throws(StorageError) in
      if change.deleted > 0, let value = change.primaryKey(of: key, in: described) {
        found[ElementKey(value), default: []].append(key)
      }
      return true
    }
    deleted[described.id] = found
    return found[primaryKey] ?? []
  }
}

extension JoinedChange {
  /// The primary key of the object that was deleted.
  func primaryKey(of key: ObjectKey, in described: ClassSchema) -> Value? {
    if described.keyIsPrimary { return .int(key.rawValue) }
    guard let primaryKey, let column = described.primaryKey else { return nil }
    return WireValue(primaryKey).value(described[column].type)
  }
}
