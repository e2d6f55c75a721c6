import TarnStore

// Aggregates of a collection's elements.

extension RealmCollection where Element: _Aggregatable & Comparable, Element._Stored: MinMaxType {
  // The members below, repeated: a call would be ambiguous with the `min()` of every sequence.

  /// The minimum, nil if there are no values. NaN is ignored. Enums and custom types compare by
  /// their stored values.
  public func min() -> Element._Extreme? { extreme(.min) }
  /// The maximum, nil if there are no values. NaN is ignored.
  public func max() -> Element._Extreme? { extreme(.max) }
}

extension RealmCollection where Element: _Aggregatable, Element._Stored: MinMaxType {
  /// The minimum, nil if there are no values. Nil and NaN are ignored. Enums and custom types
  /// compare by their stored values. For `AnyRealmValue`s the smallest number, or the earliest date
  /// without numbers.
  public func min() -> Element._Extreme? { extreme(.min) }
  /// The maximum, nil if there are no values. Nil and NaN are ignored. For `AnyRealmValue`s
  /// the latest date, or the largest number without dates.
  public func max() -> Element._Extreme? { extreme(.max) }

  fileprivate func extreme(_ kind: AggregateTerm.Kind) -> Element._Extreme? {
    Element._extreme(_BoxedValue(ValueFold(of: self, for: kind).value(kind)), kind.said)
  }
}

extension RealmCollection where Element: _Aggregatable, Element._Stored: AddableType {
  /// The sum of the stored values, 0 if there are none; for a custom type a value of that type.
  /// Traps if the type cannot hold the sum, or refuses it.
  public func sum() -> Element._Sum {
    Element.sum(ValueFold(of: self, for: .sum).totals.sum, "the sum")
  }
  /// The average of the stored values, nil if there are no values; truncated for integer types.
  public func average<T: AddableType>() -> T? {
    ValueFold.typed(ValueFold(of: self, for: .average).totals.average, "the average")
  }
}

extension Map where Value: _Aggregatable, Value._Stored: MinMaxType {
  /// The minimum, nil if there are no values. Nil and NaN are ignored. Enums and custom types
  /// compare by their stored values.
  public func min() -> Value._Extreme? { extreme(.min) }
  /// The maximum, nil if there are no values. Nil and NaN are ignored.
  public func max() -> Value._Extreme? { extreme(.max) }

  private func extreme(_ kind: AggregateTerm.Kind) -> Value._Extreme? {
    Value._extreme(_BoxedValue(ValueFold(of: values, for: kind).value(kind)), kind.said)
  }
}

extension Map where Value: _Aggregatable, Value._Stored: AddableType {
  /// The sum of the stored values, 0 if there are none; for a custom type a value of that type.
  /// Traps if the type cannot hold the sum, or refuses it.
  public func sum() -> Value._Sum {
    Value.sum(ValueFold(of: values, for: .sum).totals.sum, "the sum")
  }
  /// The average of the stored values, nil if there are no values; truncated for integer types.
  public func average<T: AddableType>() -> T? {
    ValueFold.typed(ValueFold(of: values, for: .average).totals.average, "the average")
  }
}

extension AggregateTerm.Kind {
  fileprivate var said: String { self == .min ? "the minimum" : "the maximum" }
}
