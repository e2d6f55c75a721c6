import TarnStore

extension RealmCollection {
  /// The minimum of the property with that name, nil if there are no values. Nil and NaN are
  /// ignored. Traps if the elements are not objects, have no such property, or its type is another.
  public func min<T: MinMaxType>(ofProperty name: String) -> T? {
    ValueFold.typed(fold(name).min, "property '\(name)'")
  }

  /// The maximum of the property with that name, nil if there are no values. Traps as `min` does.
  public func max<T: MinMaxType>(ofProperty name: String) -> T? {
    ValueFold.typed(fold(name).max, "property '\(name)'")
  }

  /// The sum of the property with that name, 0 if there are no values. Traps as `min` does, and if
  /// the type cannot hold the sum.
  public func sum<T: AddableType>(ofProperty name: String) -> T {
    ValueFold.typed(fold(name, "sum").sum, "property '\(name)'") ?? T(_nearest: 0)
  }

  /// The average of the property with that name, nil if there are no values; truncated for integer
  /// types. Traps as `min` does.
  public func average<T: AddableType>(ofProperty name: String) -> T? {
    ValueFold.typed(fold(name, "average").average, "property '\(name)'")
  }

  private func fold(_ name: String, _ total: String? = nil) -> ValueFold {
    ValueFold(of: self, elements: Element.self, property: name, total: total)
  }

  fileprivate func foldOfElements() -> ValueFold { ValueFold(of: self) }
}

extension RealmCollection where Element: KeypathSortable {
  /// The minimum of a property, nil if there are no values. Nil and NaN are ignored.
  public func min<T: MinMaxType>(of keyPath: KeyPath<Element, T>) -> T? {
    min(ofProperty: _name(for: keyPath, .aggregate))
  }
  /// The same for an optional property.
  public func min<T: MinMaxType>(of keyPath: KeyPath<Element, T?>) -> T? {
    min(ofProperty: _name(for: keyPath, .aggregate))
  }

  /// The maximum of a property, nil if there are no values. Nil and NaN are ignored.
  public func max<T: MinMaxType>(of keyPath: KeyPath<Element, T>) -> T? {
    max(ofProperty: _name(for: keyPath, .aggregate))
  }
  /// The same for an optional property.
  public func max<T: MinMaxType>(of keyPath: KeyPath<Element, T?>) -> T? {
    max(ofProperty: _name(for: keyPath, .aggregate))
  }

  /// The sum of a property's values, 0 if there are no values. Traps if the type cannot hold it.
  public func sum<T: AddableType>(of keyPath: KeyPath<Element, T>) -> T {
    sum(ofProperty: _name(for: keyPath, .aggregate))
  }
  /// The same for an optional property.
  public func sum<T: AddableType>(of keyPath: KeyPath<Element, T?>) -> T {
    sum(ofProperty: _name(for: keyPath, .aggregate))
  }

  /// The average of a property's values, nil if there are no values.
  public func average<T: AddableType>(of keyPath: KeyPath<Element, T>) -> Double? {
    average(ofProperty: _name(for: keyPath, .aggregate))
  }
  /// The same for an optional property.
  public func average<T: AddableType>(of keyPath: KeyPath<Element, T?>) -> Double? {
    average(ofProperty: _name(for: keyPath, .aggregate))
  }

  /// The average of a property's values as a decimal, nil if there are no values.
  public func average(of keyPath: KeyPath<Element, Decimal128>) -> Decimal128? {
    average(ofProperty: _name(for: keyPath, .aggregate))
  }
  /// The same for an optional property.
  public func average(of keyPath: KeyPath<Element, Decimal128?>) -> Decimal128? {
    average(ofProperty: _name(for: keyPath, .aggregate))
  }
}

extension RealmCollection where Element: MinMaxType & Comparable {
  /// The minimum, nil if there are no values. NaN is ignored.
  public func min() -> Element? { ValueFold.typed(foldOfElements().min, "the minimum") }
  /// The maximum, nil if there are no values. NaN is ignored.
  public func max() -> Element? { ValueFold.typed(foldOfElements().max, "the maximum") }
}

extension RealmCollection where Element == AnyRealmValue {
  /// The smallest number, or the earliest date if there is no number; nil if there is neither.
  /// Other values, and NaN, are ignored.
  public func min() -> AnyRealmValue? { ValueFold.typed(foldOfElements().min, "the minimum") }
  /// The latest date, or the largest number if there is no date; nil if there is neither. Other
  /// values, and NaN, are ignored.
  public func max() -> AnyRealmValue? { ValueFold.typed(foldOfElements().max, "the maximum") }
}

extension RealmCollection where Element: OptionalProtocol, Element.Wrapped: MinMaxType {
  /// The minimum, nil if there are no values. Nil and NaN are ignored.
  public func min() -> Element.Wrapped? { ValueFold.typed(foldOfElements().min, "the minimum") }
  /// The maximum, nil if there are no values. Nil and NaN are ignored.
  public func max() -> Element.Wrapped? { ValueFold.typed(foldOfElements().max, "the maximum") }
}

extension RealmCollection where Element: AddableType {
  /// The sum of the elements, 0 if there are no values. Traps if the type cannot hold it.
  public func sum() -> Element {
    ValueFold.typed(foldOfElements().sum, "the sum") ?? Element(_nearest: 0)
  }
  /// The average of the elements, nil if there are no values; truncated for integer types.
  public func average<T: AddableType>() -> T? {
    ValueFold.typed(foldOfElements().average, "the average")
  }
}

extension RealmCollection where Element: OptionalProtocol, Element.Wrapped: AddableType {
  /// The sum of the elements, 0 if there are no values. Traps if the type cannot hold it.
  public func sum() -> Element.Wrapped {
    ValueFold.typed(foldOfElements().sum, "the sum") ?? Element.Wrapped(_nearest: 0)
  }
  /// The average of the elements, nil if there are no values; truncated for integer types.
  public func average<T: AddableType>() -> T? {
    ValueFold.typed(foldOfElements().average, "the average")
  }
}
