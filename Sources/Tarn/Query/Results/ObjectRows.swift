import TarnStore

/// Unmanaged objects as rows that conditions can be tested on, and the targets of their links,
/// which may be managed.
///
/// Objects get keys when they are first seen. Managed ones keep theirs, so that a link to one
/// equals a link to it in a condition.
/// one equals a link to it in a condition.
final class ObjectRows: RowSource {
  let schema: StoreSchema
  private let classes: [ClassReflection]
  private var objects: [ObjectRef: ObjectBase] = [:]
  /// The given keys; all of these objects are in `objects`.
  private var keys: [ObjectIdentifier: ObjectKey] = [:]
  /// Lists and maps within `AnyRealmValue` values, by the numbers given to them.
  private var nested: [any SequenceBacking] = []

  /// - Parameter type: the class of the tested objects; its id is 0.
  init(_ type: ObjectBase.Type) {
    var classes = [ClassReflection.of(type)]
    var next = 0
    while next < classes.count {
      for target in classes[next].properties.compactMap(\.target)
      where !classes.contains(where: { $0.type == target }) {
        classes.append(ClassReflection.of(target))
      }
      next += 1
    }
    self.classes = classes
    schema = StoreSchema(
      classes: classes.enumerated().map { id, reflection in
        let columns = reflection.properties.filter { !$0.isComputed }.enumerated().map {
          ColumnSchema(
            id: ColumnID(UInt16($0)), name: $1.columnName, type: $1.type,
            collection: $1.collection, isOptional: $1.isOptional,
            target: Self.classID(of: $1.target, among: classes))
        }
        return ClassSchema(
          id: ClassID(UInt32(id)), name: reflection.name, columns: columns, primaryKey: nil,
          isEmbedded: reflection.type is EmbeddedObject.Type)
      })
  }

  private static func classID(
    of type: ObjectBase.Type?, among classes: [ClassReflection]
  ) -> ClassID? {
    classes.firstIndex { $0.type == type }.map { ClassID(UInt32($0)) }
  }

  /// The row of an object.
  func row(_ object: ObjectBase, _ id: ClassID) -> ObjectRow {
    ObjectRow(object: object, key: key(of: object, id), properties: stored(id), id: id, rows: self)
  }

  private func stored(_ id: ClassID) -> [PropertyReflection] {
    classes[Int(id.rawValue)].properties.filter { !$0.isComputed }
  }

  fileprivate func key(of object: ObjectBase, _ id: ClassID) -> ObjectKey {
    if let known = keys[ObjectIdentifier(object)] { return known }
    if unsafe object._context != nil {
      let name = ObjectRef(classID: id, key: ObjectKey(object._key))
      let first = objects[name] ?? object
      objects[name] = first
      // An object of another Realm may have the same key.
      if first._core === object._core { return name.key }
    }
    var name = ObjectRef(classID: id, key: ObjectKey(.min + Int64(keys.count)))
    while objects[name] != nil { name.key = ObjectKey(name.key.rawValue + 1) }
    objects[name] = object
    keys[ObjectIdentifier(object)] = name.key
    return name.key
  }

  /// A value in the form of rows: for an object its key.
  fileprivate func value(_ boxed: _BoxedValue, of column: ColumnSchema) -> Value {
    if let collection = boxed.nested {
      nested.append(collection)
      let id = CollectionID(UInt64(nested.count - 1))
      return collection.kind == .map ? .map(id) : .list(id)
    }
    if column.type == .any, let object = boxed.object {
      // An object of another class than the links' targets equals nothing.
      let id = Self.classID(of: type(of: object), among: classes)
      return identity(of: object) ?? id.map { identity(of: object, $0) } ?? .link(ObjectKey(0))
    }
    guard let object = boxed.object, let target = column.target else { return boxed.value }
    return .link(key(of: object, target))
  }

  func object(_ target: ObjectRef) -> Value {
    guard let object = objects[target] else { return .link(target.key) }
    return identity(of: object) ?? identity(of: object, target.classID)
  }

  /// The value that a condition uses for it; nil for an unmanaged object.
  private func identity(of object: ObjectBase) -> Value? {
    object._binding.map { .object($0.classID, ObjectKey(object._key)) }
  }

  /// No class of a Realm has the number that unmanaged ones pretend to have.
  private func identity(of object: ObjectBase, _ id: ClassID) -> Value {
    .object(ClassID(.max - id.rawValue), key(of: object, id))
  }

  // MARK: - Rows

  func withRow<R>(
    _ classID: ClassID, _ key: ObjectKey, _ body: (ObjectRow, Int) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    guard let object = objects[ObjectRef(classID: classID, key: key)] else { return nil }
    return try body(row(object, classID), 0)
  }

  func withLongValue<R>(
    _ classID: ClassID, _ key: ObjectKey, _ column: ColumnID,
    _ body: (UnsafeRawBufferPointer) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    let found = objects[ObjectRef(classID: classID, key: key)].map { row($0, classID) }
    let bytes = found.map { Self.bytes(of: $0.value(column), schema[classID]![column].type) } ?? []
    return unsafe try withBytes(of: bytes) { bytes throws(StorageError) in unsafe try body(bytes) }
  }

  private static func bytes(of value: Value, _ type: ColumnType) -> [UInt8] {
    switch (type, value) {
    case (.any, _): value.taggedBytes
    case (_, .string(let text)): Array(text.utf8)
    case (_, .data(let data)): data
    default: []
    }
  }

  private func backing(_ place: SequencePlace) -> (any SequenceBacking)? {
    if let id = place.nested { return nested[Int(id.rawValue)] }
    guard let object = objects[ObjectRef(classID: place.classID, key: place.key)] else {
      return nil
    }
    let property = stored(place.classID)[place.column.index]
    return (property.read(object) as? any _CollectionProperty)?.backing
  }

  func elementCount(of place: SequencePlace) throws(StorageError) -> Int {
    backing(place)?.count ?? 0
  }

  func forEachElement(
    of place: SequencePlace, _ body: (Value) throws(StorageError) -> Bool
  ) throws(StorageError) {
    let column = schema[place.classID]![place.column]
    for boxed in backing(place)?.all ?? [] {
      guard try body(value(boxed, of: column)) else { return }
    }
  }

  func forEachKey(
    of place: SequencePlace, _ body: (String) throws(StorageError) -> Bool
  ) throws(StorageError) {
    for key in backing(place)?.allKeys ?? [] {
      guard try body(key) else { return }
    }
  }

  func element(
    of place: SequencePlace, at step: ValueStep
  ) throws(StorageError) -> Value? {
    guard let backing = backing(place) else { return nil }
    let column = schema[place.classID]![place.column]
    switch step {
    case .position(let position) where backing.kind == .list:
      let index = position < 0 ? position + backing.count : position
      return (0..<backing.count).contains(index)
        ? value(backing.element(at: index), of: column) : nil
    case .key(let key) where backing.kind == .map:
      let (index, isFound) = backing.find(key)
      return isFound ? value(backing.element(at: index), of: column) : nil
    default: return nil
    }
  }

  /// An unmanaged object does not know its backlinks.
  func origins(
    of target: ObjectRef, in id: ClassID, through column: ColumnID
  ) throws(StorageError) -> [ObjectKey] {
    guard let object = objects[target], let core = object._core else { return [] }
    let origin = classes[Int(id.rawValue)].type
    let property = stored(id)[column.index]
    return core.backlinks(object, from: origin, property: property.name).map {
      self.key(of: core.object(origin, $0), id)
    }
  }
}

/// One object as the only row of a cluster.
struct ObjectRow: RowReading {
  let object: ObjectBase
  let key: ObjectKey
  let properties: [PropertyReflection]
  let id: ClassID
  let rows: ObjectRows

  func value(_ column: ColumnID) -> Value {
    rows.value(
      properties[column.index].readBoxed(object), of: rows.schema[id]![column])
  }

  var rowCount: Int { 1 }
  func key(at slot: Int) -> ObjectKey { key }
  func isNull(_ column: ColumnID, _ slot: Int) -> Bool { value(column) == .null }

  func int(_ column: ColumnID, _ slot: Int) -> Int64 {
    switch value(column) {
    case .int(let value): value
    case .link(let key): key.rawValue
    default: 0
    }
  }
  func bool(_ column: ColumnID, _ slot: Int) -> Bool { value(column) == .bool(true) }
  func float(_ column: ColumnID, _ slot: Int) -> Float {
    if case .float(let value) = value(column) { value } else { 0 }
  }
  func double(_ column: ColumnID, _ slot: Int) -> Double {
    if case .double(let value) = value(column) { value } else { 0 }
  }
  func date(_ column: ColumnID, _ slot: Int) -> Timestamp {
    if case .date(let value) = value(column) {
      value
    } else {
      Timestamp(seconds: 0, nanoseconds: 0)
    }
  }
  func bytes12(_ column: ColumnID, _ slot: Int) -> Bytes12 {
    if case .objectID(let value) = value(column) { value } else { Bytes12(high: 0, low: 0) }
  }
  func bytes16(_ column: ColumnID, _ slot: Int) -> Bytes16 {
    switch value(column) {
    case .uuid(let value), .decimal(let value): value
    default: Bytes16(high: 0, low: 0)
    }
  }
  /// No values are stored in a cluster.
  func bytes(_ column: ColumnID, _ slot: Int) throws(StorageError) -> ClusterBytes {
    switch value(column) {
    case .null: .null
    case .string(let text): .long(length: text.utf8.count)
    case .data(let bytes): .long(length: bytes.count)
    default: .long(length: 1)
    }
  }
}
