import Foundation
import TarnStore

/// Objects of classes as the file describes them.
extension RealmCore {
  /// How dynamic objects of the class meet the file. Traps if the file has no such class.
  func dynamicBinding(_ name: String) -> ClassBinding {
    let schema = schemaToBind()
    if let known = dynamicBindings[name] ?? frozen?.here().dynamicBindings[name] { return known }
    guard let described = schema.schema.named(name), !described.isVacant else {
      trap("The file has no class '\(name)'.")
    }
    let binding = ClassBinding(ClassReflection(schema.schema, described), described)
    if let frozen {
      frozen.here().dynamicBindings[name] = binding
    } else {
      dynamicBindings[name] = binding
    }
    return binding
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

  func column(of property: PropertyReflection, in binding: ClassBinding) -> ColumnID {
    guard let column = binding.column(property.name) else {
      trap("Class '\(binding.reflection.name)' has no property '\(property.name)' any more.")
    }
    return column
  }

  /// The elements of a collection: an array, of a map a dictionary.
  private func elements(
    _ place: SequencePlace, _ kind: CollectionKind, _ property: PropertyReflection
  ) -> Any? {
    guard let sequence = sequence(at: place)?.reading else { return nil }
    return trapping { () throws(StorageError) -> Any? in
      var values: [Any] = []
      var byKey: [String: Any] = [:]
      for index in 0..<sequence.count {
        let value = shownValue(try sequence.value(at: index), in: place, property) as Any
        if kind == .map {
          byKey[try sequence.key(at: index)] = value
        } else {
          values.append(value)
        }
      }
      return kind == .map ? byKey as Any : values as Any
    }
  }

  /// A value at a place; of a list or map within it what it holds.
  private func shownValue(
    _ value: Value, in place: SequencePlace, _ property: PropertyReflection
  ) -> Any? {
    switch value {
    case .list(let id): elements(place.nested(id), .list, property)
    case .map(let id): elements(place.nested(id), .map, property)
    default: swiftValue(value, of: property)
    }
  }

  /// A property of a dynamic object, nil for null. Traps for an invalidated object.
  func dynamicValue(_ object: ObjectBase, _ property: PropertyReflection) -> Any? {
    if isInvalidated(object) { trapInvalid(object) }
    let binding = binding(for: object)
    let column = column(of: property, in: binding)
    let key = ObjectKey(object._key)
    let place = SequencePlace(classID: binding.classID, key: key, column: column)
    if property.collection != .none { return elements(place, property.collection, property) }
    return storedValue(object, column).flatMap { shownValue($0, in: place, property) }
  }

  /// What a row has in a column.
  func storedValue(_ object: ObjectBase, _ column: ColumnID) -> Value? {
    let key = ObjectKey(object._key)
    let id = object._binding!.classID
    return trapping { () throws(StorageError) in
      if let session { return try session.value(of: column, at: key, in: id) }
      return try shown().value(of: column, at: key, in: id)
    }
  }
}
