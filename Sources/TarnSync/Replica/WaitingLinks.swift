import TarnStore

/// Links to objects that are missing here: nil in the file, until their target arrives.
///
/// They are stored as records by target, and by the object that has the link. Records by target are
/// short: they have only a prefix of a long key, and the object's record has all of it.
struct WaitingLinks {
  private static let keyBytes = 64
  static let byTarget: UInt8 = 3
  private static let byObject: UInt8 = 129

  /// A property of an object.
  struct Place: Hashable {
    let object: ObjectRef
    let column: ColumnID
  }

  /// A link whose target is missing here.
  struct Waiting: Hashable {
    let place: Place
    let target: ClassID
    /// The primary key of the target in PostgreSQL's binary format.
    let key: [UInt8]

    init(place: Place, target: ClassID, key: [UInt8]) {
      (self.place, self.target, self.key) = (place, target, key)
    }

    /// A link in a property with parts.
    init?(_ target: LinkTarget, at place: SequencePlace) {
      guard let key = WireValue(target.key)?.bytes else { return nil }
      let object = ObjectRef(classID: place.classID, key: place.key)
      self.init(place: Place(object: object, column: place.column), target: target.id, key: key)
    }

    /// In the form of the records by target.
    fileprivate var shortened: Waiting {
      Waiting(place: place, target: target, key: Array(key.prefix(WaitingLinks.keyBytes)))
    }

    /// Links to one target have adjacent and usually different numbers.
    fileprivate var number: Int64 {
      var writer = BigEndianWriter()
      writer.write(place.object.classID.rawValue)
      writer.write(place.object.key.rawValue)
      writer.write(place.column.rawValue)
      return WaitingLinks.first(to: key) + Int64(WaitingLinks.hash(writer.bytes))
    }
  }

  /// The smallest number of links to a target.
  private static func first(to key: [UInt8]) -> Int64 {
    Int64(Int32(bitPattern: hash(key))) << 32
  }

  /// FNV-1a: equal in every process.
  private static func hash(_ bytes: [UInt8]) -> UInt32 {
    var hash: UInt32 = 0x811c_9dc5
    for byte in bytes { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
    return hash
  }

  /// Stores a waiting link, or removes the one in that property.
  static func set(
    _ waiting: Waiting?, at place: Place, _ objects: inout ReplicaObjects
  ) throws(StorageError) {
    try set(waiting.map { [$0] } ?? [], at: place, &objects)
  }

  /// Stores the waiting links of a property with parts, replacing the former ones.
  static func set(
    _ waiting: [Waiting], at place: SequencePlace, _ objects: inout ReplicaObjects
  ) throws(StorageError) {
    let owner = Place(
      object: ObjectRef(classID: place.classID, key: place.key), column: place.column)
    try set(waiting, at: owner, &objects)
  }

  /// Adds a waiting link to others of a property with parts.
  static func add(
    _ waiting: Waiting, _ schema: StoreSchema, _ objects: inout ReplicaObjects
  ) throws(StorageError) {
    let place = waiting.place
    let column = schema[place.object.classID]?[place.column]
    let isWhole = column.map { ContentCoder($0, schema) == nil } ?? true
    let others = isWhole ? [] : try links(of: place.object, objects).filter { $0.place == place }
    try set(others.filter { $0 != waiting } + [waiting], at: place, &objects)
  }

  private static func set(
    _ waiting: [Waiting], at place: Place, _ objects: inout ReplicaObjects
  ) throws(StorageError) {
    let name = ReplicaKey(byObject, place.object.classID, place.object.key.rawValue)
    let own = try list(name, objects)
    let former = own.filter { $0.place == place }
    if Set(former) == Set(waiting) { return }
    for gone in former where !waiting.contains(gone) {
      let others = ReplicaKey(byTarget, gone.target, gone.number)
      put(try list(others, objects).filter { $0 != gone.shortened }, others, &objects)
    }
    for new in waiting where !former.contains(new) {
      let others = ReplicaKey(byTarget, new.target, new.number)
      put(try list(others, objects) + [new.shortened], others, &objects)
    }
    put(own.filter { $0.place != place } + waiting, name, &objects)
  }

  /// Whether any link of a file waits for an object of a class.
  static func isAny(to target: ClassID, in snapshot: Snapshot) throws(StorageError) -> Bool {
    var isAny = false
    try ReplicaRecords.forEach(byTarget, target, in: snapshot.transaction) {
      _, _ throws(StorageError) in
      isAny = true
      return false
    }
    return isAny
  }

  /// All links of a file that wait for objects of a class.
  static func forEach(
    to target: ClassID, in snapshot: Snapshot, _ body: (Waiting) -> Void
  ) throws(StorageError) {
    let objects = ReplicaObjects(snapshot)
    try ReplicaRecords.forEach(byTarget, target, in: snapshot.transaction) {
      number, bytes throws(StorageError) in
      for waiting in try whole(decoded(bytes), number, objects) { body(waiting) }
      return true
    }
  }

  /// The links that wait for a target.
  static func links(
    to target: ClassID, _ key: [UInt8], _ objects: ReplicaObjects
  ) throws(StorageError) -> [Waiting] {
    let first = first(to: key)
    var found: [Waiting] = []
    try objects.forEach(byTarget, target, in: first...first + Int64(UInt32.max)) {
      bytes throws(StorageError) in
      found += try whole(decoded(bytes), first, objects).filter { $0.key == key }
    }
    return found
  }

  /// Links of a record by target, with their whole keys.
  private static func whole(
    _ list: [Waiting], _ number: Int64, _ objects: ReplicaObjects
  ) throws(StorageError) -> [Waiting] {
    var found: [Waiting] = []
    for waiting in list {
      guard waiting.key.count >= keyBytes else {
        found.append(waiting)
        continue
      }
      found += try links(of: waiting.place.object, objects).filter {
        $0.shortened == waiting.shortened && first(to: $0.key) >> 32 == number >> 32
      }
    }
    return found
  }

  /// The links of an object that wait.
  static func links(
    of object: ObjectRef, _ objects: ReplicaObjects
  ) throws(StorageError) -> [Waiting] {
    try list(ReplicaKey(byObject, object.classID, object.key.rawValue), objects)
  }

  /// Removes the links of a deleted object.
  static func forget(
    _ object: ObjectRef, _ objects: inout ReplicaObjects
  ) throws(StorageError) {
    for waiting in try links(of: object, objects) { try set(nil, at: waiting.place, &objects) }
  }

  private static func list(
    _ name: ReplicaKey, _ objects: ReplicaObjects
  ) throws(StorageError) -> [Waiting] {
    try objects.bytes(name).map { bytes throws(StorageError) in try decoded(bytes) } ?? []
  }

  private static func decoded(_ bytes: [UInt8]) throws(StorageError) -> [Waiting] {
    var reader = BigEndianReader(bytes)
    var list: [Waiting] = []
    while !reader.isAtEnd {
      guard let classID: UInt32 = reader.read(), let key: Int64 = reader.read(),
        let column: UInt16 = reader.read(), let target: UInt32 = reader.read(),
        let bytes = reader.readBytes()
      else { throw ReplicaObjects.damaged() }
      list.append(
        Waiting(
          place: Place(
            object: ObjectRef(classID: ClassID(classID), key: ObjectKey(key)),
            column: ColumnID(column)), target: ClassID(target), key: bytes))
    }
    return list
  }

  private static func put(
    _ list: [Waiting], _ name: ReplicaKey, _ objects: inout ReplicaObjects
  ) {
    var writer = BigEndianWriter()
    for waiting in list {
      writer.write(waiting.place.object.classID.rawValue)
      writer.write(waiting.place.object.key.rawValue)
      writer.write(waiting.place.column.rawValue)
      writer.write(waiting.target.rawValue)
      writer.write(count: waiting.key.count)
      writer.write(waiting.key)
    }
    objects.set(name, list.isEmpty ? nil : writer.bytes)
  }
}
