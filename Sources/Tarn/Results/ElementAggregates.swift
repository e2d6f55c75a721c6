import TarnStore

// Aggregates of the values themselves.

extension RealmCollection where Element: _Aggregatable & Comparable, Element._Stored: MinMaxType {
  // As below: without these, a call could as well mean the `min()` that every sequence has.

  /// The minimum, nil if there are no values. NaN is ignored. Enums and custom types compare by
  /// their stored values.
  public func min() -> Element._Extreme? { extreme(.min) }
  /// The maximum, nil if there are no values. NaN is ignored.
  public func max() -> Element._Extreme? { extreme(.max) }
}

extension RealmCollection where Element: _Aggregatable, Element._Stored: MinMaxType {
  /// The minimum, nil if there are no values. Nil and NaN are ignored. Enums and custom types
  /// compare as they are stored. Of `AnyRealmValue`s the smallest number, or the earliest date if
  /// there is no number.
  public func min() -> Element._Extreme? { extreme(.min) }
  /// The maximum, nil if there are no values. Nil and NaN are ignored. Of `AnyRealmValue`s the
  /// latest date, or the largest number if there is no date.
  public func max() -> Element._Extreme? { extreme(.max) }

  fileprivate func extreme(_ kind: AggregateTerm.Kind) -> Element._Extreme? {
    Element._extreme(_BoxedValue(ValueFold(of: self).value(kind)), kind.said)
  }
}

extension RealmCollection where Element: _Aggregatable, Element._Stored: AddableType {
  /// The sum of the stored values, 0 if there are none; for a custom type a value of that type.
  /// Traps if the type cannot hold the sum, or refuses it.
  public func sum() -> Element._Sum { Element.sum(ValueFold(of: self).totals.sum, "the sum") }
  /// The average of the elements as they are stored, nil if there are no values; truncated for
  /// integer types.
  public func average<T: AddableType>() -> T? {
    ValueFold.typed(ValueFold(of: self).totals.average, "the average")
  }
}

extension Map where Value: _Aggregatable, Value._Stored: MinMaxType {
  /// The minimum, nil if there are no values. Nil and NaN are ignored. Enums and custom types
  /// compare as they are stored.
  public func min() -> Value._Extreme? { extreme(.min) }
  /// The maximum, nil if there are no values. Nil and NaN are ignored.
  public func max() -> Value._Extreme? { extreme(.max) }

  private func extreme(_ kind: AggregateTerm.Kind) -> Value._Extreme? {
    Value._extreme(_BoxedValue(ValueFold(of: values).value(kind)), kind.said)
  }
}

extension Map where Value: _Aggregatable, Value._Stored: AddableType {
  /// The sum of the values as they are stored, 0 if there are no values; for a custom type a value
  /// of it. Traps if the type cannot hold the sum, or refuses it.
  public func sum() -> Value._Sum { Value.sum(ValueFold(of: values).totals.sum, "the sum") }
  /// The average of the stored values, nil if there are no values; truncated for integer types.
  public func average<T: AddableType>() -> T? {
    ValueFold.typed(ValueFold(of: values).totals.average, "the average")
  }
}

extension AggregateTerm.Kind {
  fileprivate var said: String { self == .min ? "the minimum" : "the maximum" }
}
