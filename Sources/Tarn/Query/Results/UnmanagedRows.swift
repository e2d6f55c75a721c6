import TarnStore

/// Unmanaged objects as rows that conditions can be tested on, and the targets of their links,
/// which may be managed.
///
/// Objects get keys when they are first seen. Managed ones keep theirs, so that a link to one
/// equals a link to it in a condition. Each object is read once.
final class UnmanagedRows {
  let schema: SchemaView
  private let classes: [ClassReflection]
  private var objects: [ObjectRef: ObjectBase] = [:]
  /// Each object that was read, as the only row of a cluster.
  private var clusters: [ObjectRef: WorkingCluster] = [:]
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
    let schema = StoreSchema(
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
    self.schema = SchemaView(schema: schema, epoch: 0)
  }

  private static func classID(
    of type: ObjectBase.Type?, among classes: [ClassReflection]
  ) -> ClassID? {
    classes.firstIndex { $0.type == type }.map { ClassID(UInt32($0)) }
  }

  private func stored(_ id: ClassID) -> [PropertyReflection] {
    classes[Int(id.rawValue)].properties.filter { !$0.isComputed }
  }

  /// The key of an object, by which it is found.
  func key(of object: ObjectBase, _ id: ClassID) -> ObjectKey {
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

  /// The value that a condition uses for it; nil for an unmanaged object.
  private func identity(of object: ObjectBase) -> Value? {
    object._binding.map { .object($0.classID, ObjectKey(object._key)) }
  }

  /// No class of a Realm has the number that unmanaged ones pretend to have.
  private func identity(of object: ObjectBase, _ id: ClassID) -> Value {
    .object(ClassID(.max - id.rawValue), key(of: object, id))
  }

  private func read(_ object: ObjectBase, _ ref: ObjectRef) -> WorkingCluster {
    let described = schema[ref.classID]
    let cluster = WorkingCluster(described)
    let slot = cluster.insert(ref.key)
    for (column, property) in zip(described.columns, stored(ref.classID))
    where column.collection == .none {
      let value = value(property.readBoxed(object), of: column)
      if value != .null { cluster.set(column.id, slot, value) }
    }
    return cluster
  }
}

extension UnmanagedRows: RowOverlay {
  func location(
    of key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> (cluster: RowCluster, slot: Int)? {
    let ref = ObjectRef(classID: id, key: key)
    if let known = clusters[ref] { return (.working(known), 0) }
    guard let object = objects[ref] else { return nil }
    let cluster = read(object, ref)
    clusters[ref] = cluster
    return (.working(cluster), 0)
  }

  /// All values are in the clusters.
  func longBytes(
    of column: ColumnID, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> [UInt8] { [] }

  func glance(at place: SequencePlace) throws(StorageError) -> (any SequenceReading)? {
    let column = schema[place.classID][place.column]
    if let id = place.nested {
      let backing = nested[Int(id.rawValue)]
      return UnmanagedElements(backing, .nested(backing.kind), column, self)
    }
    guard let object = objects[ObjectRef(classID: place.classID, key: place.key)],
      let found = stored(place.classID)[place.column.index].read(object) as? any _CollectionProperty
    else { return nil }
    return UnmanagedElements(found.backing, SequenceShape(column), column, self)
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

  /// These rows have no primary keys.
  func object(
    in id: ClassID, withPrimaryKey value: Value, _ column: ColumnID
  ) throws(StorageError) -> ObjectKey? { nil }

  func object(_ target: ObjectRef) -> Value {
    guard let object = objects[target] else { return .link(target.key) }
    return identity(of: object) ?? identity(of: object, target.classID)
  }
}

/// An unmanaged list, set or map.
private final class UnmanagedElements: SequenceReading {
  let shape: SequenceShape
  private let backing: any SequenceBacking
  private let column: ColumnSchema
  private let rows: UnmanagedRows

  init(
    _ backing: any SequenceBacking, _ shape: SequenceShape, _ column: ColumnSchema,
    _ rows: UnmanagedRows
  ) {
    self.shape = shape
    self.backing = backing
    self.column = column
    self.rows = rows
  }

  var count: Int { backing.count }

  func value(at index: Int) throws(StorageError) -> Value {
    rows.value(backing.element(at: index), of: column)
  }

  func key(at index: Int) throws(StorageError) -> String { backing.key(at: index) }

  func find(_ value: Value) throws(StorageError) -> (index: Int, isFound: Bool) {
    for index in 0..<count where try self.value(at: index) == value { return (index, true) }
    return (count, false)
  }

  func find(key: String) throws(StorageError) -> (index: Int, isFound: Bool) { backing.find(key) }

  func forEach(
    in range: Range<Int>, _ body: (Value) throws(StorageError) -> Bool
  ) throws(StorageError) {
    for boxed in backing.all[range] {
      guard try body(rows.value(boxed, of: column)) else { return }
    }
  }

  var numberPages: NumberPages? { nil }
}
