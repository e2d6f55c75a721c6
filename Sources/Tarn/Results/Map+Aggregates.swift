import TarnStore

extension Map where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
  /// The minimum of the objects' property with that name, nil if there are no values. Nil and NaN
  /// are ignored. Traps if the class has no such property that is a number or a date, or if its
  /// type is another.
  public func min<T: MinMaxType>(ofProperty name: String) -> T? {
    ValueFold.typed(fold(name).min, "property '\(name)'")
  }

  /// The maximum of the objects' property with that name, nil if there are no values. Traps as
  /// `min` does.
  public func max<T: MinMaxType>(ofProperty name: String) -> T? {
    ValueFold.typed(fold(name).max, "property '\(name)'")
  }

  /// The sum of the objects' property with that name, 0 if there are no values. Traps as `min`
  /// does, and if the type cannot hold the sum.
  public func sum<T: AddableType>(ofProperty name: String) -> T {
    ValueFold.typed(fold(name, "sum").sum, "property '\(name)'") ?? T(_nearest: 0)
  }

  /// The average of the objects' property with that name, nil if there are no values; truncated for
  /// integer types. Traps as `min` does.
  public func average<T: AddableType>(ofProperty name: String) -> T? {
    ValueFold.typed(fold(name, "average").average, "property '\(name)'")
  }

  private func fold(_ name: String, _ total: String? = nil) -> ValueFold {
    ValueFold(of: values, elements: Value.Wrapped.self, property: name, total: total)
  }

  /// The minimum of a property of the objects, nil if there are no values. Nil and NaN are ignored.
  public func min<T: MinMaxType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T? {
    min(ofProperty: _name(for: keyPath, .aggregate))
  }
  /// The same for an optional property.
  public func min<T: MinMaxType>(of keyPath: KeyPath<Value.Wrapped, T?>) -> T? {
    min(ofProperty: _name(for: keyPath, .aggregate))
  }

  /// The maximum of a property of the objects, nil if there are no values.
  public func max<T: MinMaxType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T? {
    max(ofProperty: _name(for: keyPath, .aggregate))
  }
  /// The same for an optional property.
  public func max<T: MinMaxType>(of keyPath: KeyPath<Value.Wrapped, T?>) -> T? {
    max(ofProperty: _name(for: keyPath, .aggregate))
  }

  /// The sum of a property of the objects, 0 if there are no values. Traps if the type cannot hold
  /// it.
  public func sum<T: AddableType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T {
    sum(ofProperty: _name(for: keyPath, .aggregate))
  }
  /// The same for an optional property.
  public func sum<T: AddableType>(of keyPath: KeyPath<Value.Wrapped, T?>) -> T {
    sum(ofProperty: _name(for: keyPath, .aggregate))
  }

  /// The average of a property of the objects, nil if there are no values.
  public func average<T: AddableType>(of keyPath: KeyPath<Value.Wrapped, T>) -> Double? {
    average(ofProperty: _name(for: keyPath, .aggregate))
  }
  /// The same for an optional property.
  public func average<T: AddableType>(of keyPath: KeyPath<Value.Wrapped, T?>) -> Double? {
    average(ofProperty: _name(for: keyPath, .aggregate))
  }
}

extension Map where Value: MinMaxType {
  /// The minimum, nil if there are no values. NaN is ignored.
  public func min() -> Value? { ValueFold.typed(ValueFold(of: values).min, "the minimum") }
  /// The maximum, nil if there are no values. NaN is ignored.
  public func max() -> Value? { ValueFold.typed(ValueFold(of: values).max, "the maximum") }
}

extension Map where Value: OptionalProtocol, Value.Wrapped: MinMaxType {
  /// The minimum, nil if there are no values. Nil and NaN are ignored.
  public func min() -> Value.Wrapped? { ValueFold.typed(ValueFold(of: values).min, "the minimum") }
  /// The maximum, nil if there are no values. Nil and NaN are ignored.
  public func max() -> Value.Wrapped? { ValueFold.typed(ValueFold(of: values).max, "the maximum") }
}

extension Map where Value: AddableType {
  /// The sum of the values, 0 if there are no values. Traps if the type cannot hold it.
  public func sum() -> Value {
    ValueFold.typed(ValueFold(of: values).sum, "the sum") ?? Value(_nearest: 0)
  }
  /// The average of the values, nil if there are no values; truncated for integer types.
  public func average<T: AddableType>() -> T? {
    ValueFold.typed(ValueFold(of: values).average, "the average")
  }
}

extension Map where Value: OptionalProtocol, Value.Wrapped: AddableType {
  /// The sum of the values, 0 if there are no values. Traps if the type cannot hold it.
  public func sum() -> Value.Wrapped {
    ValueFold.typed(ValueFold(of: values).sum, "the sum") ?? Value.Wrapped(_nearest: 0)
  }
  /// The average of the values, nil if there are no values; truncated for integer types.
  public func average<T: AddableType>() -> T? {
    ValueFold.typed(ValueFold(of: values).average, "the average")
  }
}
