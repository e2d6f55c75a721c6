import Foundation
import TarnStore

/// Objects of classes as the file describes them.
extension RealmCore {
  /// How dynamic objects of the class meet the file. Traps if the file has no such class.
  func dynamicBinding(_ name: String) -> ClassBinding {
    let schema = schemaToBind()
    if let known = dynamicBindings[name] ?? frozen?.here().dynamicBindings[name] { return known }
    guard let described = schema.schema.named(name), !described.isVacant else {
      trap(
        "The file has no class '\(name)'. Use the name that it has there, without module; see the "
          + "Realm's schema.")
    }
    let binding = ClassBinding(ClassReflection(schema.schema, described), described)
    if let frozen {
      frozen.here().dynamicBindings[name] = binding
    } else {
      dynamicBindings[name] = binding
    }
    return binding
  }

  /// The row of a managed object as a dynamic one.
  func dynamicObject(for object: ObjectBase) -> DynamicObject {
    if isInvalidated(object) { trapInvalid(object) }
    return dynamicObject(ObjectKey(object._key), dynamicBinding(object._className))
  }

  func dynamicObject(_ key: ObjectKey, _ binding: ClassBinding) -> DynamicObject {
    unsafeDowncast(object(key, binding), to: DynamicObject.self)
  }

  func binding(of spec: QuerySpec) -> ClassBinding {
    spec.dynamicClass.map { dynamicBinding($0) } ?? binding(of: spec.type)
  }

  /// The binding of a managed object's class at the schema that is shown.
  func binding(for object: ObjectBase) -> ClassBinding {
    object is DynamicObject
      ? dynamicBinding(object._binding!.reflection.name) : binding(of: type(of: object))
  }

  // MARK: - Values

  private func column(of property: PropertyReflection, in binding: ClassBinding) -> ColumnID {
    guard let column = binding.column(property.name) else {
      trap(
        "Class '\(binding.reflection.name)' has no property '\(property.name)' any more: a "
          + "migration removed it. Ask for the object again.")
    }
    return column
  }

  /// Gives a collection the elements of an array, or of a dictionary. Traps for anything else.
  private func setElements(
    _ object: ObjectBase, _ column: ColumnSchema, _ property: PropertyReflection, _ value: Any?
  ) {
    var element = column
    element.collection = .none
    var keys: [String] = []
    var given: [Any] = []
    if column.collection == .map, let pairs = entries(of: value) {
      for (key, value) in pairs.sorted(by: { $0.0 < $1.0 }) {
        keys.append(key)
        given.append(value)
      }
    } else if column.collection != .map, let values = value as? any Sequence {
      given = values.anyElements
    } else if value.flatMap({ flattened($0) }) != nil {
      object.trapUnfit(value, property)
    }
    let place = SequencePlace(
      classID: object._binding!.classID, key: ObjectKey(object._key), column: column.id)
    let values = given.map { item in
      if let nested = nestedCollection(item, element) { return stored(nested, in: place, .error) }
      guard let stored = stored(item, element) else { object.trapUnfit(item, property) }
      return stored
    }
    let session = writing("modify managed objects")
    trapping { () throws(StorageError) in try session.put(values, keys: keys, in: place) }
  }

  private func entries(of value: Any?) -> [(String, Any)]? {
    if let map = value as? any AnyMap { return map.anyEntries }
    return (value as? [String: Any]).map { $0.map { ($0.key, $0.value) } }
  }

  /// A property of a dynamic object, nil for null. Traps for an invalidated object.
  func dynamicValue(_ object: ObjectBase, _ property: PropertyReflection) -> Any? {
    if isInvalidated(object) { trapInvalid(object) }
    let binding = binding(for: object)
    let column = column(of: property, in: binding)
    let key = ObjectKey(object._key)
    if property.collection != .none {
      return ManagedSequence(object, column, as: property).dynamicCollection
    }
    let value = trapping { () throws(StorageError) in
      if let session { return try session.value(of: column, at: key, in: binding.classID) }
      return try shown().value(of: column, at: key, in: binding.classID)
    }
    switch value {
    case nil: return nil
    case .list?, .map?:
      let boxed = ManagedSequence(object, column, as: property).boxed(value ?? .null)
      return (boxed.nested as? ManagedSequence)?.dynamicCollection
    case let value?: return swiftValue(value, of: property)
    }
  }

  /// Sets a property of a dynamic object.
  func setDynamicValue(_ object: ObjectBase, _ property: PropertyReflection, _ value: Any?) {
    _ = writing("modify managed objects")
    let binding = binding(for: object)
    let column = column(of: property, in: binding)
    binding.checkAssignable(column, on: object)
    let described = binding.schema[column]
    if described.collection != .none {
      return setElements(object, described, property, value)
    }
    if let nested = nestedCollection(value, described) {
      return setAny(object, column, nested)
    }
    guard let stored = stored(value, described) else { object.trapUnfit(value, property) }
    setIndexed(object, column, stored)
  }

  /// An array or dictionary for a column of values of any type, as the list or map that it becomes.
  private func nestedCollection(_ value: Any?, _ column: ColumnSchema) -> _BoxedValue? {
    guard column.type == .any, let value, let boxed = AnyRealmValue._convert(value)?._box(),
      boxed.nested != nil
    else { return nil }
    return boxed
  }

  /// A value as a column stores it, nil if it is not of the column's type. An unmanaged object for
  /// a link is added, a dictionary makes an object.
  private func stored(
    _ value: Any?, _ column: ColumnSchema, update: Realm.UpdatePolicy = .error
  ) -> Value? {
    guard let content = value.flatMap({ flattened($0) }) else {
      return column.isOptional || column.type == .any ? .null : nil
    }
    if column.type == .any, let object = content as? ObjectBase {
      return linkedObject(object, object._className, update).map {
        .object($0._binding!.classID, ObjectKey($0._key))
      }
    }
    if let target = column.target, let name = schemaToBind().schema[target]?.name {
      return linkedObject(content, name, update).map { .link(ObjectKey($0._key)) }
    }
    guard let boxed = (content as? any _Persistable)?._box().value else { return nil }
    switch (boxed, column.type) {
    case (.int, .int), (.bool, .bool), (.float, .float), (.double, .double), (.string, .string),
      (.data, .data), (.date, .date), (.objectID, .objectID), (.uuid, .uuid),
      (.decimal, .decimal):
      return boxed
    case (.int, .decimal), (.float, .decimal), (.double, .decimal):
      return Decimal128._unbox(_BoxedValue(boxed))?._box().value
    case (_, .any): return boxed == .null ? nil : boxed
    case (.int(let number), .double): return .double(Double(number))
    case (.int(let number), .float): return .float(Float(number))
    case (.float(let number), .double): return .double(Double(number))
    default: return nil
    }
  }

  private func linkedObject(
    _ content: Any, _ name: String, _ update: Realm.UpdatePolicy
  ) -> ObjectBase? {
    guard let object = content as? ObjectBase else {
      guard content is [String: Any] || content is [Any] else { return nil }
      let hasKey = dynamicBinding(name).schema.primaryKey != nil
      return dynamicCreate(
        name, value: content, update: hasKey ? update : .error, isInside: true)
    }
    guard object._className == name else { return nil }
    if object._core == nil { add(object, update: .error) }
    checkLinkable(object)
    return object
  }

  // MARK: - Creating

  /// Makes an object of a class of the file from values by name, in order, or of another object.
  ///
  /// - Parameter isInside: true for the value of another object's property.
  func dynamicCreate(
    _ name: String, value: Any, update: Realm.UpdatePolicy, isInside: Bool = false
  ) -> DynamicObject {
    let session = writing("create objects")
    require(
      isInside || schemaToBind().schema.named(name)?.isEmbedded != true,
      "Objects of the embedded class '\(name)' are made as the value of a property of another one.")
    let binding = dynamicBinding(name)
    require(
      update == .error || binding.schema.primaryKey != nil,
      "'\(name)' does not have a primary key and can not be updated")
    let given = columnValues(value, binding, update)
    let key = trapping { () throws(StorageError) in
      try put(given.values, binding, update, session)
    }
    let made = unsafeDowncast(object(key, binding), to: DynamicObject.self)
    for (property, value) in given.collections { setDynamicValue(made, property, value) }
    return made
  }

  private func put(
    _ values: [ColumnID: Value], _ binding: ClassBinding, _ update: Realm.UpdatePolicy,
    _ session: WriteSession
  ) throws(StorageError) -> ObjectKey {
    let id = binding.classID
    var values = values
    guard let key = binding.schema.primaryKey else { return try add(values, id, session) }
    let column = binding.schema[key]
    if values[key] == nil { values[key] = column.zero }
    guard let existing = try session.find(primaryKey: values[key] ?? .null, in: id) else {
      return try add(values, id, session)
    }
    require(
      update != .error,
      "Attempting to create an object of type '\(binding.schema.name)' with an existing primary "
        + "key value '\(values[key] ?? .null)'.")
    for (column, value) in values.sorted(by: { $0.key < $1.key }) where column != key {
      if update == .modified, let old = try session.value(of: column, at: existing, in: id),
        old.hasSameBits(as: value)
      {
        continue
      }
      try session.set(column, at: existing, in: id, to: value)
    }
    return existing
  }

  /// Links come last: an embedded object is taken from the one that has it.
  private func add(
    _ values: [ColumnID: Value], _ id: ClassID, _ session: WriteSession
  ) throws(StorageError) -> ObjectKey {
    let links = values.filter { $0.value.linksToObject }
    let key = try session.create(values.filter { !$0.value.linksToObject }, in: id)
    for (column, value) in links.sorted(by: { $0.key < $1.key }) {
      try session.set(column, at: key, in: id, to: value)
    }
    return key
  }

  private func columnValues(
    _ value: Any, _ binding: ClassBinding, _ update: Realm.UpdatePolicy
  ) -> (values: [ColumnID: Value], collections: [(PropertyReflection, Any)]) {
    var values: [ColumnID: Value] = [:]
    var collections: [(PropertyReflection, Any)] = []
    func set(_ name: String, _ value: Any) {
      let title = "'\(binding.reflection.name).\(name)'"
      guard let column = binding.column(name) else {
        trap("Class '\(binding.reflection.name)' has no property '\(name)'.")
      }
      let described = binding.schema[column]
      if described.collection != .none || nestedCollection(value, described) != nil,
        let property = binding.property(column)
      {
        collections.append((property, value))
        return
      }
      guard let stored = stored(value, described, update: update) else {
        trap(
          "Invalid value '\(value)' of type '\(Swift.type(of: value))' for property \(title).")
      }
      values[column] = stored
    }
    let names = binding.columns.map(\.property.name)
    switch value {
    case let given as [String: Any]:
      for (name, value) in given { set(name, value) }
    case let given as [Any]:
      require(
        given.count <= names.count,
        "\(given.count) values for the \(names.count) properties of '\(binding.schema.name)'.")
      for (name, value) in zip(names, given) { set(name, value) }
    case let other as ObjectBase:
      for property in other._reflection.properties
      where !property.isComputed && binding.column(property.columnName) != nil {
        set(property.columnName, property.read(other))
      }
    default:
      trap(
        "Objects of '\(binding.schema.name)' are made from a dictionary, an array or an object, "
          + "not from a '\(Swift.type(of: value))'.")
    }
    return (values, collections)
  }
}

extension Sequence {
  var anyElements: [Any] { map { $0 } }
}

extension Value {
  fileprivate var linksToObject: Bool {
    switch self {
    case .link, .object: true
    default: false
    }
  }
}

extension ColumnSchema {
  /// What a column has that was given nothing, as a primary key: a new one if it is an id.
  fileprivate var zero: Value {
    if isOptional { return .null }
    switch type {
    case .string: return .string("")
    case .objectID: return ObjectId.generate()._box().value
    case .uuid: return UUID()._box().value
    default: return .int(0)
    }
  }
}
