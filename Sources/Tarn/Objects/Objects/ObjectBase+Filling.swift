import TarnStore

/// Unmanaged objects made of values.
extension Object {
  /// Creates an unmanaged object from values: a dictionary keyed by property names, an array in the
  /// order of declaration, or another object, whose properties are used if both classes have them.
  /// Missing values take their defaults; names that the class does not have are ignored. For links
  /// and collections of objects, dictionaries and arrays become objects, at any depth. Embedded
  /// objects of another object are copied; other objects are shared.
  ///
  /// Values may come from `JSONSerialization`: see the article on models for conversions. Traps for
  /// a value that does not fit.
  public convenience init(value: Any) {
    self.init()
    _fill(from: value)
  }
}

extension EmbeddedObject {
  /// Creates an unmanaged object from values, like `Object.init(value:)`.
  public convenience init(value: Any) {
    self.init()
    _fill(from: value)
  }
}

extension ObjectBase {
  fileprivate final func _fill(from value: Any) {
    var reader = ValueReader(.shared, nil, keepsRefused: false)
    do {
      try reader.fill(self, ClassReflection.of(type(of: self)), from: value)
    } catch {
      trap(error.description)
    }
  }

  /// True for objects that are embedded in another one.
  final var _isEmbedded: Bool { self is EmbeddedObject || _binding?.schema.isEmbedded == true }

  /// The values that another object copies, by the names of the properties or of their columns. For
  /// a managed object these are the stored values, including values that the property's type
  /// refuses.
  final func _givenValues(byColumn: Bool) -> [(name: String, value: Any)] {
    let core = _core
    if core != nil, _isInvalidated { _trapInvalid() }
    let isByColumn = byColumn || self is DynamicObject
    return _reflection.properties.filter { !$0.isComputed }.compactMap { property in
      let value = core.map { $0.givenValue(self, property) } ?? _unmanagedValue(property)
      return value.map { (isByColumn ? property.columnName : property.name, $0) }
    }
  }

  private final func _unmanagedValue(_ property: PropertyReflection) -> Any? {
    // A date as the program has it: not all can be stored.
    let isPlain = property.collection == .none && property.type != .date && property.type != .any
    return isPlain ? property.readBoxed(self) : property.read(self)
  }
}

extension RealmCore {
  /// The value that a property of a managed object gives another object; nil if it has none yet,
  /// because the column is newer than the row.
  fileprivate func givenValue(_ object: ObjectBase, _ property: PropertyReflection) -> Any? {
    let column = column(of: property, in: binding(for: object))
    let sequence = ManagedSequence(object, column)
    if property.collection != .none { return _SequenceHandle(sequence) }
    let value = object._storedValue(column) ?? .null
    if value == .null, !property.isOptional, property.type != .any {
      return property.isDynamic ? nil : property.readBoxed(object)
    }
    return sequence.boxed(value)
  }
}
