import TarnStore

/// A replica's entry for an object that the server has.
struct ReplicaObject: Equatable {
  var incarnation: Int64
  /// The server's transaction that wrote the row; 0 until a download has brought it.
  var version: Int64
  /// Unsent commits up to this version changed an object that no longer exists.
  var void: UInt64 = 0
  /// An unsent commit here has created the object, and so has another replica: they are one object.
  var isJoined = false

  fileprivate var encoded: [UInt8] {
    var writer = BigEndianWriter(capacity: 28)
    writer.write(incarnation)
    writer.writeVariable(UInt64(bitPattern: version))
    writer.writeVariable(void << 1 | (isJoined ? 1 : 0))
    return writer.bytes
  }

  fileprivate init?(decoding bytes: [UInt8]) {
    var reader = BigEndianReader(bytes)
    guard let incarnation: Int64 = reader.read(), let version = reader.readVariable(),
      let rest = reader.readVariable(), reader.isAtEnd
    else { return nil }
    self.init(
      incarnation: incarnation, version: Int64(bitPattern: version), void: rest >> 1,
      isJoined: rest & 1 != 0)
  }

  init(incarnation: Int64, version: Int64, void: UInt64 = 0, isJoined: Bool = false) {
    self.incarnation = incarnation
    self.version = version
    self.void = void
    self.isJoined = isJoined
  }
}

/// The objects of a file that the server has: by their key here, and by their incarnation. An
/// object without an entry exists only on this replica. An object that was deleted here keeps its
/// entry until the server knows that.
///
/// The entries are separate records and not columns of the rows: observers and change records do
/// not contain them, and they outlive the object.
struct ReplicaObjects {
  private static let objects: UInt8 = 1
  private static let contents: UInt8 = 130

  private let snapshot: Snapshot
  private let index: IncarnationIndex
  private(set) var records = ReplicaRecords()

  init(_ snapshot: Snapshot) {
    self.snapshot = snapshot
    index = IncarnationIndex(snapshot)
  }

  subscript(id: ClassID, key: ObjectKey) -> ReplicaObject? {
    get throws(StorageError) {
      let found = try bytes(Self.objects, id, key.rawValue)
      return try found.map { bytes throws(StorageError) in try Self.object(bytes) }
    }
  }

  /// The objects of those incarnations that are here.
  func keys(
    of incarnations: Set<Int64>, in id: ClassID
  ) throws(StorageError) -> [Int64: ObjectKey] {
    var keys: [Int64: ObjectKey] = [:]
    guard try index.isComplete(id) else {
      try forEach(in: id) { key, object throws(StorageError) in
        if incarnations.contains(object.incarnation) { keys[object.incarnation] = key }
        return keys.count < incarnations.count
      }
      return keys
    }
    for incarnation in incarnations { keys[incarnation] = try key(of: incarnation, in: id) }
    return keys
  }

  private func key(of incarnation: Int64, in id: ClassID) throws(StorageError) -> ObjectKey? {
    try bytes(IncarnationIndex.key(id, incarnation)).map { bytes throws(StorageError) in
      try IncarnationIndex.decoded(bytes)
    }
  }

  /// Postpones building the index of a class until all its objects are here.
  mutating func postponeIndex(of id: ClassID) {
    records.set(IncarnationIndex.marker(id), [])
    index.postpone(id)
  }

  /// All objects of a class that the server has, in the order of their keys, before changes through
  /// this value.
  func forEach(
    in id: ClassID, _ body: (ObjectKey, ReplicaObject) throws(StorageError) -> Bool
  ) throws(StorageError) {
    try ReplicaRecords.forEach(Self.objects, id, in: snapshot.transaction) {
      number, bytes throws(StorageError) in
      try body(ObjectKey(number), Self.object(bytes))
    }
  }

  func isEmpty(_ id: ClassID) throws(StorageError) -> Bool {
    var isEmpty = true
    try forEach(in: id) { _, _ throws(StorageError) in
      isEmpty = false
      return false
    }
    return isEmpty
  }

  /// Stores the entry of an object, or removes it.
  mutating func set(
    _ object: ReplicaObject?, _ key: ObjectKey, in id: ClassID
  ) throws(StorageError) {
    if let object, try !index.isComplete(id) {
      // A first download, usually in the order of the keys.
      return records.append(.init(Self.objects, id, key.rawValue), object.encoded)
    }
    try replace(self[id, key], by: object, key, in: id)
  }

  /// The same for an object whose entry is known.
  mutating func replace(
    _ former: ReplicaObject?, by object: ReplicaObject?, _ key: ObjectKey, in id: ClassID
  ) throws(StorageError) {
    if former == object { return }
    if former?.incarnation != object?.incarnation, try index.isComplete(id) {
      if let former, try self.key(of: former.incarnation, in: id) == key {
        records.set(IncarnationIndex.key(id, former.incarnation), nil)
      }
      if let object {
        records.set(
          IncarnationIndex.key(id, object.incarnation), IncarnationIndex.encoded(key))
      }
    }
    records.set(.init(Self.objects, id, key.rawValue), object?.encoded)
  }

  /// The entries of an object's lists, sets and maps.
  func contents(of key: ObjectKey, in id: ClassID) throws(StorageError) -> KeptContent.Table {
    guard let bytes = try bytes(ReplicaKey(Self.contents, id, key.rawValue)) else { return [:] }
    guard var table = KeptContent.table(bytes) else { throw Self.damaged() }
    guard let described = snapshot.schema.schema[id] else { return table }
    for column in table.keys where described[column].isRemoved {
      // A migration has renamed the property.
      let origins = try ColumnOrigins(of: id, in: snapshot.transaction)
      guard let next = origins.successor(of: column), table[next] == nil else { continue }
      table[next] = table.removeValue(forKey: column)
    }
    return table
  }

  mutating func set(_ contents: KeptContent.Table, of key: ObjectKey, in id: ClassID) {
    records.set(ReplicaKey(Self.contents, id, key.rawValue), KeptContent.encoded(contents))
  }

  /// Removes the records of an object that no longer exists.
  mutating func forget(_ key: ObjectKey, in id: ClassID) throws(StorageError) {
    try set(nil, key, in: id)
    try forgetContents(of: key, in: id)
    try WaitingLinks.forget(ObjectRef(classID: id, key: key), &self)
  }

  mutating func forgetContents(of key: ObjectKey, in id: ClassID) throws(StorageError) {
    if try !contents(of: key, in: id).isEmpty { set([:], of: key, in: id) }
  }

  mutating func set(_ state: ReplicaState) { records.set(ReplicaState.key, state.encoded) }

  /// The bytes of other records with these numbers, with changes through this value, in any order.
  func forEach(
    _ kind: UInt8, _ id: ClassID, in numbers: ClosedRange<Int64>,
    _ body: ([UInt8]) throws(StorageError) -> Void
  ) throws(StorageError) {
    try ReplicaRecords.forEach(kind, id, from: numbers.lowerBound, in: snapshot.transaction) {
      number, bytes throws(StorageError) in
      guard number <= numbers.upperBound else { return false }
      if records.change(of: ReplicaKey(kind, id, number)) == nil { try body(bytes) }
      return true
    }
    for (key, bytes) in records.changes(of: kind) where key.classID == id {
      if let bytes, numbers.contains(key.number) { try body(bytes) }
    }
  }

  /// The refused commits whose messages have not been delivered.
  func refusals() throws(StorageError) -> [RefusedCommit] {
    guard let bytes = try bytes(RefusedCommit.key) else { return [] }
    guard let commits = RefusedCommit.list(bytes) else { throw Self.damaged() }
    return commits
  }

  /// How many of the objects of a class are here; nil if none were fetched yet.
  func progress(of id: ClassID) throws(StorageError) -> ClassProgress? {
    guard let bytes = try bytes(ClassProgress.key(id)) else { return nil }
    guard let progress = ClassProgress(bytes) else { throw Self.damaged() }
    return progress
  }

  mutating func set(_ progress: ClassProgress, of id: ClassID) {
    records.set(ClassProgress.key(id), progress.encoded)
  }

  /// Sets another record of the replica.
  mutating func set(_ name: ReplicaKey, _ bytes: [UInt8]?) { records.set(name, bytes) }

  private func bytes(
    _ kind: UInt8, _ id: ClassID, _ number: Int64
  ) throws(StorageError) -> [UInt8]? {
    try bytes(ReplicaKey(kind, id, number))
  }

  /// The bytes of a record, with changes through this value.
  func bytes(_ key: ReplicaKey) throws(StorageError) -> [UInt8]? {
    if let changed = records.change(of: key) { return changed }
    return try ReplicaRecords.bytes(key, in: snapshot.transaction)
  }

  private static func object(_ bytes: [UInt8]) throws(StorageError) -> ReplicaObject {
    guard let object = ReplicaObject(decoding: bytes) else { throw damaged() }
    return object
  }

  static func damaged() -> StorageError {
    StorageError(
      .corrupted, operation: "read the state of sync", path: "",
      detail: "the entry of an object is damaged")
  }
}
