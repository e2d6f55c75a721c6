import TarnStore

// Aggregates of enums and custom types that are stored as numbers or dates.

extension RealmCollection where Element: KeypathSortable {
  /// The minimum of a property with an enum or a custom type, as its stored values compare; nil if
  /// there are no values. Nil is ignored.
  public func min<T: _StoredAs>(of keyPath: KeyPath<Element, T>) -> T?
  where T._Stored: MinMaxType { T._value(min(ofProperty: _name(for: keyPath, .aggregate))) }
  /// The same for an optional property.
  public func min<T: _StoredAs>(of keyPath: KeyPath<Element, T?>) -> T?
  where T._Stored: MinMaxType { T._value(min(ofProperty: _name(for: keyPath, .aggregate))) }

  /// The maximum of a property with an enum or a custom type, as its stored values compare; nil if
  /// there are no values. Nil is ignored.
  public func max<T: _StoredAs>(of keyPath: KeyPath<Element, T>) -> T?
  where T._Stored: MinMaxType { T._value(max(ofProperty: _name(for: keyPath, .aggregate))) }
  /// The same for an optional property.
  public func max<T: _StoredAs>(of keyPath: KeyPath<Element, T?>) -> T?
  where T._Stored: MinMaxType { T._value(max(ofProperty: _name(for: keyPath, .aggregate))) }

  /// The sum of the stored values of a property with an enum or a custom type. For a custom type it
  /// is a value of that type; traps if the type refuses the sum.
  public func sum<T: _StoredAs>(of keyPath: KeyPath<Element, T>) -> T._Sum
  where T._Stored: AddableType { T._sum(of: sum(ofProperty: _name(for: keyPath, .aggregate))) }
  /// The same for an optional property.
  public func sum<T: _StoredAs>(of keyPath: KeyPath<Element, T?>) -> T._Sum
  where T._Stored: AddableType { T._sum(of: sum(ofProperty: _name(for: keyPath, .aggregate))) }

  /// The average of the stored values of a property with an enum or a custom type, nil if there are
  /// none.
  public func average<T: _StoredAs>(of keyPath: KeyPath<Element, T>) -> Double?
  where T._Stored: AddableType { average(ofProperty: _name(for: keyPath, .aggregate)) }
  /// The same for an optional property.
  public func average<T: _StoredAs>(of keyPath: KeyPath<Element, T?>) -> Double?
  where T._Stored: AddableType { average(ofProperty: _name(for: keyPath, .aggregate)) }
}

extension Map where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
  /// The minimum of a property of the objects with an enum or a custom type, like `List`.
  public func min<T: _StoredAs>(of keyPath: KeyPath<Value.Wrapped, T>) -> T?
  where T._Stored: MinMaxType { T._value(min(ofProperty: _name(for: keyPath, .aggregate))) }
  /// The same for an optional property.
  public func min<T: _StoredAs>(of keyPath: KeyPath<Value.Wrapped, T?>) -> T?
  where T._Stored: MinMaxType { T._value(min(ofProperty: _name(for: keyPath, .aggregate))) }

  /// The maximum of a property of the objects with an enum or a custom type, like `List`.
  public func max<T: _StoredAs>(of keyPath: KeyPath<Value.Wrapped, T>) -> T?
  where T._Stored: MinMaxType { T._value(max(ofProperty: _name(for: keyPath, .aggregate))) }
  /// The same for an optional property.
  public func max<T: _StoredAs>(of keyPath: KeyPath<Value.Wrapped, T?>) -> T?
  where T._Stored: MinMaxType { T._value(max(ofProperty: _name(for: keyPath, .aggregate))) }

  /// The sum of a property of the objects with an enum or a custom type, like `List`.
  public func sum<T: _StoredAs>(of keyPath: KeyPath<Value.Wrapped, T>) -> T._Sum
  where T._Stored: AddableType { T._sum(of: sum(ofProperty: _name(for: keyPath, .aggregate))) }
  /// The same for an optional property.
  public func sum<T: _StoredAs>(of keyPath: KeyPath<Value.Wrapped, T?>) -> T._Sum
  where T._Stored: AddableType { T._sum(of: sum(ofProperty: _name(for: keyPath, .aggregate))) }

  /// The average of a property of the objects with an enum or a custom type, like `List`.
  public func average<T: _StoredAs>(of keyPath: KeyPath<Value.Wrapped, T>) -> Double?
  where T._Stored: AddableType { average(ofProperty: _name(for: keyPath, .aggregate)) }
  /// The same for an optional property.
  public func average<T: _StoredAs>(of keyPath: KeyPath<Value.Wrapped, T?>) -> Double?
  where T._Stored: AddableType { average(ofProperty: _name(for: keyPath, .aggregate)) }
}

extension RealmCollection
where Element: _StoredAs & Comparable, Element._Stored: MinMaxType {
  /// The minimum, as the stored values compare; nil if there are no elements.
  public func min() -> Element? { Element._value(ValueFold(of: self).min) }
  /// The maximum, as the stored values compare; nil if there are no elements.
  public func max() -> Element? { Element._value(ValueFold(of: self).max) }
}

extension RealmCollection
where Element: _StoredAs, Element._Stored: MinMaxType {
  /// The minimum, as the stored values compare; nil if there are no elements.
  public func min() -> Element? { Element._value(ValueFold(of: self).min) }
  /// The maximum, as the stored values compare; nil if there are no elements.
  public func max() -> Element? { Element._value(ValueFold(of: self).max) }
}

extension RealmCollection
where Element: OptionalProtocol, Element.Wrapped: _StoredAs, Element.Wrapped._Stored: MinMaxType {
  /// The minimum, as the stored values compare; nil if there are no values. Nil is ignored.
  public func min() -> Element.Wrapped? { Element.Wrapped._value(ValueFold(of: self).min) }
  /// The maximum, as the stored values compare; nil if there are no values. Nil is ignored.
  public func max() -> Element.Wrapped? { Element.Wrapped._value(ValueFold(of: self).max) }
}

extension RealmCollection
where Element: _StoredAs, Element._Stored: AddableType {
  /// The sum of the stored values; for a custom type, a value of it. Traps if the type refuses it.
  public func sum() -> Element._Sum { Element._sum(ValueFold(of: self)) }
  /// The average of the stored values, nil if there are no values.
  public func average<T: AddableType>() -> T? {
    ValueFold.typed(ValueFold(of: self).average, "the average")
  }
}

extension RealmCollection
where Element: OptionalProtocol, Element.Wrapped: _StoredAs, Element.Wrapped._Stored: AddableType {
  /// The sum of the stored values; for a custom type, a value of it. Traps if the type refuses it.
  public func sum() -> Element.Wrapped._Sum { Element.Wrapped._sum(ValueFold(of: self)) }
  /// The average of the stored values, nil if there are no values.
  public func average<T: AddableType>() -> T? {
    ValueFold.typed(ValueFold(of: self).average, "the average")
  }
}

extension Map
where Value: _StoredAs, Value._Stored: MinMaxType {
  /// The minimum, as the stored values compare; nil if there are no values.
  public func min() -> Value? { Value._value(ValueFold(of: values).min) }
  /// The maximum, as the stored values compare; nil if there are no values.
  public func max() -> Value? { Value._value(ValueFold(of: values).max) }
}

extension Map
where Value: OptionalProtocol, Value.Wrapped: _StoredAs, Value.Wrapped._Stored: MinMaxType {
  /// The minimum, as the stored values compare; nil if there are no values. Nil is ignored.
  public func min() -> Value.Wrapped? { Value.Wrapped._value(ValueFold(of: values).min) }
  /// The maximum, as the stored values compare; nil if there are no values. Nil is ignored.
  public func max() -> Value.Wrapped? { Value.Wrapped._value(ValueFold(of: values).max) }
}

extension Map
where Value: _StoredAs, Value._Stored: AddableType {
  /// The sum of the stored values; for a custom type, a value of it. Traps if the type refuses it.
  public func sum() -> Value._Sum { Value._sum(ValueFold(of: values)) }
  /// The average of the stored values, nil if there are no values.
  public func average<T: AddableType>() -> T? {
    ValueFold.typed(ValueFold(of: values).average, "the average")
  }
}

extension Map
where Value: OptionalProtocol, Value.Wrapped: _StoredAs, Value.Wrapped._Stored: AddableType {
  /// The sum of the stored values; for a custom type, a value of it. Traps if the type refuses it.
  public func sum() -> Value.Wrapped._Sum { Value.Wrapped._sum(ValueFold(of: values)) }
  /// The average of the stored values, nil if there are no values.
  public func average<T: AddableType>() -> T? {
    ValueFold.typed(ValueFold(of: values).average, "the average")
  }
}

extension _StoredAs where _Stored: MinMaxType {
  fileprivate static func _value(_ stored: _Stored?) -> Self? {
    stored.flatMap { _value($0._box().value) }
  }

  /// Nil for null.
  static func _value(_ stored: Value) -> Self? {
    if stored == .null { return nil }
    guard let value = _unbox(_BoxedValue(stored)) else {
      trap("The result, stored as \(stored), is not a valid \(Self.self).")
    }
    return value
  }
}

extension _StoredAs where _Stored: AddableType {
  fileprivate static func _sum(_ fold: ValueFold) -> _Sum {
    _sum(of: ValueFold.typed(fold.sum, "the sum") ?? _Stored(_nearest: 0))
  }
}
