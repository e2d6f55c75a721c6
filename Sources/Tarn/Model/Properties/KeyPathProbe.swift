import TarnStore

/// A value that a property pretends to have, to test whether a key path returns it unchanged.
enum KeyPathProbe {
  /// An odd value, nil if the type has none. Custom types are left out: their initializers may
  /// require values that make sense.
  static func value<V: _Persistable>(_: V.Type) -> V? {
    let description = V._description
    guard description.collection == .none, description.target == nil, !isCustom(V.self) else {
      return nil
    }
    if let type = V.self as? any CaseIterable.Type { return lastCase(of: type) as? V }
    return plain(description.type).flatMap { V._unbox(_BoxedValue($0)) }
  }

  /// True for a custom type that makes its own value from the stored one, and for nil or such a
  /// value.
  static func isCustom(_ type: Any.Type) -> Bool {
    type is any FailableCustomPersistable.Type
      || (type as? any OptionalProtocol.Type)?.wrappedType is any FailableCustomPersistable.Type
  }

  /// True if the value of a key path is the probe of its last property. Not used for custom types.
  static func isSame(_ value: Any, _ expected: Any, of property: PropertyReflection) -> Bool {
    if property.isComputed || isCustom(property.wrapper.valueType) { return true }
    if property.collection != .none, let element = flattened(expected) as? any RealmCollectionValue,
      !isObject(element)
    {
      return isSame(flattened(value), element)
    }
    if property.collection != .none || property.isPlainLink {
      return flattened(value).map { $0 as AnyObject }
        === flattened(expected).map { $0 as AnyObject }
    }
    guard let given = property.wrapper.boxed(value) else { return false }
    return given.value == property.wrapper.boxed(expected)?.value
  }

  private static func isObject<T: RealmCollectionValue>(_: T) -> Bool { T._isObject }

  private static func isSame<T: RealmCollectionValue>(_ value: Any?, _ element: T) -> Bool {
    guard let value = value as? T else { return false }
    return isCustom(T.self) || value._boxElement().value == element._boxElement().value
  }

  /// The type without the optionals around it.
  static func bare(_ type: Any.Type) -> Any.Type {
    var type = type
    while let optional = type as? any OptionalProtocol.Type { type = optional.wrappedType }
    return type
  }

  private static func lastCase<T: CaseIterable>(of _: T.Type) -> Any? { Array(T.allCases).last }

  private static func plain(_ type: ColumnType) -> Value? {
    let (integer, text) = (Int64(97), "Ä z\n0")
    switch type {
    case .int: return .int(integer)
    case .bool: return .bool(true)
    case .float: return .float(Float(integer) / 3)
    case .double: return .double(Double(integer) / 3)
    case .string: return .string(text)
    case .data: return .data(Array(text.utf8))
    case .date: return .date(Timestamp(seconds: integer >> 16, nanoseconds: 500_000_000))
    case .objectID: return .objectID(Bytes12(high: UInt64(bitPattern: integer), low: 7))
    case .uuid: return .uuid(Bytes16(high: UInt64(bitPattern: integer), low: 7))
    case .decimal: return .decimal(DecimalNumber(integer).cell)
    case .any: return .int(integer)
    case .link: return nil
    }
  }
}

extension OptionalProtocol {
  static var wrappedType: Any.Type { Wrapped.self }
}

/// A list, a set or a map, as seen by a key path.
protocol CollectionOfValues {
  /// The type of the elements; the type of a map's values.
  static var elementType: any RealmCollectionValue.Type { get }
}

extension CollectionOfValues {
  /// The element that a collection pretends to have; nil for objects.
  static var elementProbe: (value: Any, boxed: _BoxedValue)? {
    if KeyPathProbe.bare(elementType) is ObjectBase.Type { return nil }
    return (elementType as? any _Persistable.Type)?.probe
  }
}

extension _Persistable {
  fileprivate static var probe: (value: Any, boxed: _BoxedValue) {
    let value = KeyPathProbe.value(Self.self) ?? _default()
    return (value, value._box())
  }
}
