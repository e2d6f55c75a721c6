import TarnStore

/// A collection with its own way of aggregating a property of its objects.
protocol PropertyAggregating {
  func storedAggregate(_ kind: AggregateTerm.Kind, of property: String) -> Value
}

extension _ObjectAggregating {
  /// The minimum of a property given by name, nil without values. Nil and NaN are ignored. Traps if
  /// the elements are not objects, if they have no such property that is a number or a date, or if
  /// the property has another type.
  public func min<T: MinMaxType>(ofProperty name: String) -> T? {
    ValueFold.typed(aggregate(.min, name), "property '\(name)'")
  }

  /// The maximum of a property given by name, nil without values. Traps in the same cases as `min`.
  public func max<T: MinMaxType>(ofProperty name: String) -> T? {
    ValueFold.typed(aggregate(.max, name), "property '\(name)'")
  }

  /// The sum of a property given by name, 0 without values. Traps in the same cases as `min`, and
  /// if the type cannot hold the sum.
  public func sum<T: AddableType>(ofProperty name: String) -> T {
    ValueFold.typed(aggregate(.sum, name), "property '\(name)'") ?? T(_nearest: 0)
  }

  /// The average of a property given by name, nil without values; truncated for integer types.
  /// Traps in the same cases as `min`.
  public func average<T: AddableType>(ofProperty name: String) -> T? {
    ValueFold.typed(aggregate(.average, name), "property '\(name)'")
  }

  func aggregate(_ kind: AggregateTerm.Kind, _ name: String) -> Value {
    if let own = self as? any PropertyAggregating {
      return own.storedAggregate(kind, of: name)
    }
    guard let objects = self as? any Sequence else {
      trap("\(Self.self) does not say how it is aggregated: bug in this package")
    }
    return ValueFold(of: objects, elements: _Member.self, property: name, for: kind).value(kind)
  }
}

extension _ObjectAggregating where _Member: KeypathSortable {
  /// The minimum of a property, nil without values. Nil and NaN are ignored. Enums and custom types
  /// compare by their stored values.
  public func min<T: _Aggregatable>(of keyPath: KeyPath<_Member, T>) -> T._Extreme?
  where T._Stored: MinMaxType { extreme(.min, keyPath) }

  /// The maximum of a property; see `min(of:)`.
  public func max<T: _Aggregatable>(of keyPath: KeyPath<_Member, T>) -> T._Extreme?
  where T._Stored: MinMaxType { extreme(.max, keyPath) }

  private func extreme<T: _Aggregatable>(
    _ kind: AggregateTerm.Kind, _ keyPath: KeyPath<_Member, T>
  ) -> T._Extreme? {
    let name = _name(for: keyPath, .aggregate)
    return T._extreme(_BoxedValue(aggregate(kind, name)), "property '\(name)'")
  }

  /// The sum of a property's values, 0 without values. For enums and custom types it is the sum of
  /// the stored values, returned for a custom type as a value of it. Traps if the type cannot hold
  /// or refuses the sum.
  public func sum<T: _Aggregatable>(of keyPath: KeyPath<_Member, T>) -> T._Sum
  where T._Stored: AddableType {
    let name = _name(for: keyPath, .aggregate)
    return T.sum(aggregate(.sum, name), "property '\(name)'")
  }

  /// The average of a property's stored values, nil without values.
  public func average<T: _Aggregatable>(of keyPath: KeyPath<_Member, T>) -> Double?
  where T._Stored: AddableType { average(ofProperty: _name(for: keyPath, .aggregate)) }

  /// The average of decimals as a decimal, nil without values.
  public func average<T: _Aggregatable>(of keyPath: KeyPath<_Member, T>) -> Decimal128?
  where T._Stored: AddableType, T._Sum == Decimal128 {
    average(ofProperty: _name(for: keyPath, .aggregate))
  }
}

extension Map: _ObjectAggregating, PropertyAggregating
where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
  public typealias _Member = Value.Wrapped

  func storedAggregate(_ kind: AggregateTerm.Kind, of property: String) -> TarnStore.Value {
    ValueFold(of: values, elements: Value.Wrapped.self, property: property, for: kind).value(kind)
  }
}
