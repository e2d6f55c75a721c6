import TarnStore

/// Unmanaged objects made of values.
extension Object {
  /// Makes an unmanaged object of values: a dictionary by property names, an array in the order of
  /// declaration, or another object, of whose properties those are taken that both have. What is
  /// missing has its default. For links and collections of objects, dictionaries and arrays stand
  /// for objects, at any depth. Embedded objects of another object are copied, others are shared.
  ///
  /// Traps for a name that the class does not have and for a value of a wrong type.
  public convenience init(value: Any) {
    self.init()
    var given = GivenProperties()
    _fill(from: value, &given)
  }
}

extension EmbeddedObject {
  /// Makes an unmanaged object of values, as `Object.init(value:)` does.
  public convenience init(value: Any) {
    self.init()
    var given = GivenProperties()
    _fill(from: value, &given)
  }
}

/// The names of the properties that objects were given, of those that values were made into.
typealias GivenProperties = [ObjectIdentifier: Set<String>]

extension ObjectBase {
  /// Sets an unmanaged object's properties. Notes which, for it and for the objects that are made
  /// for it.
  final func _fill(from value: Any, _ given: inout GivenProperties) {
    let reflection = ClassReflection.of(type(of: self))
    var names: Set<String> = []
    switch value {
    case let values as [String: Any]:
      for (name, value) in values {
        guard let property = reflection.property(name), !property.isComputed else {
          trap("Class '\(reflection.name)' has no property '\(name)'.")
        }
        fill(property, with: value, &given)
        names.insert(name)
      }
    case let values as [Any]:
      let stored = reflection.properties.filter { !$0.isComputed }
      require(
        values.count <= stored.count,
        "\(values.count) values for the \(stored.count) properties of '\(reflection.name)'.")
      for (property, value) in zip(stored, values) {
        fill(property, with: value, &given)
        names.insert(property.name)
      }
    case let other as ObjectBase:
      for property in ClassReflection.of(type(of: other)).properties where !property.isComputed {
        guard let mine = reflection.property(property.name), !mine.isComputed else { continue }
        fill(mine, with: property.read(other), &given, copiesEmbedded: true)
        names.insert(mine.name)
      }
    default:
      trap(
        "Objects of '\(reflection.name)' are made from a dictionary, an array or an object, not "
          + "from a '\(type(of: value))'.")
    }
    given[ObjectIdentifier(self)] = names
  }

  private final func fill(
    _ property: PropertyReflection, with value: Any, _ given: inout GivenProperties,
    copiesEmbedded: Bool = false
  ) {
    var converted = value
    if let target = property.target {
      converted = materialize(value, property.collection, of: target, &given, copiesEmbedded)
    }
    require(
      property.write(any: converted, self),
      "Invalid value '\(value)' of type '\(type(of: value))' for property "
        + "'\(_className).\(property.name)'.")
  }

  /// What a property that leads to objects is given: objects made of what stands for them.
  private final func materialize(
    _ value: Any, _ collection: CollectionKind, of target: ObjectBase.Type,
    _ given: inout GivenProperties, _ copiesEmbedded: Bool
  ) -> Any {
    func object(_ value: Any) -> Any {
      guard let content = flattened(value) else { return value }
      if let object = content as? ObjectBase {
        // One of another object has its place there.
        guard object is EmbeddedObject, copiesEmbedded || object._core != nil else { return value }
      }
      let made = target.init()
      made._fill(from: content, &given)
      return made
    }
    if value is any _CollectionProperty, !(target is EmbeddedObject.Type) { return value }
    switch (collection, value) {
    case (.none, _): return object(value)
    case (.map, let map as any AnyMap):
      return Dictionary(uniqueKeysWithValues: map.anyEntries).mapValues(object)
    case (.map, let values as [String: Any]): return values.mapValues(object)
    case (.list, let values as any Sequence), (.set, let values as any Sequence):
      return values.anyElements.map(object)
    default: return value
    }
  }
}
