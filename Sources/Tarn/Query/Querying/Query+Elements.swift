import TarnStore

/// Conditions on the elements of a collection of values: `$0.scores.contains(1...3)`,
/// `$0.tags.starts(with: "a")`.
extension Query where T: RealmCollection, T.Element: _Persistable & _QueryComparable & Comparable {
  /// True if every element is in the range, and there is one.
  public func contains(_ range: Range<T.Element>) -> Query<Bool> {
    everyElement(range.lowerBound, range.upperBound, isClosed: false)
  }
  /// True if every element is in the range, and there is one.
  public func contains(_ range: ClosedRange<T.Element>) -> Query<Bool> {
    everyElement(range.lowerBound, range.upperBound, isClosed: true)
  }

  /// True if some element is in the range.
  public func containsAny(in range: Range<T.Element>) -> Query<Bool> { some.contains(range) }
  /// True if some element is in the range.
  public func containsAny(in range: ClosedRange<T.Element>) -> Query<Bool> {
    some.contains(range)
  }
}

extension Query where T: RealmCollection {
  /// True if every element that is not nil is in the range, and there is one.
  public func contains<W: _OptionalPersistable & _QueryComparable & Comparable>(
    _ range: Range<W>
  ) -> Query<Bool> where T.Element == W? {
    everyElement(Optional(range.lowerBound), Optional(range.upperBound), isClosed: false)
  }
  /// True if every element that is not nil is in the range, and there is one.
  public func contains<W: _OptionalPersistable & _QueryComparable & Comparable>(
    _ range: ClosedRange<W>
  ) -> Query<Bool> where T.Element == W? {
    everyElement(Optional(range.lowerBound), Optional(range.upperBound), isClosed: true)
  }

  /// True if some element is in the range; nil never is.
  public func containsAny<W: _OptionalPersistable & _QueryComparable & Comparable>(
    in range: Range<W>
  ) -> Query<Bool> where T.Element == W? { (element() as Query<W?>).contains(range) }
  /// True if some element is in the range; nil never is.
  public func containsAny<W: _OptionalPersistable & _QueryComparable & Comparable>(
    in range: ClosedRange<W>
  ) -> Query<Bool> where T.Element == W? { (element() as Query<W?>).contains(range) }
}

extension Query {
  /// True if every element of the collection is between `low` and `high`; nil and NaN are ignored.
  func everyElement<V: _Persistable>(_ low: V, _ high: V, isClosed: Bool) -> Query<Bool> {
    let element: Query<V> = element()
    guard case .any(let path) = element.content, case .value(let low) = constant(low),
      case .value(let high) = constant(high)
    else { trap("internal error: a range of objects") }
    let range = Operand.range(low, high, isClosed: isClosed)
    return Query<Bool>(
      .comparison(Comparison(.path(path), .in, range, quantifier: .all)), of: element.scope)
  }
}

extension Query where T: RealmCollection, T.Element: _Persistable & _QueryText {
  /// True if some element contains the text under the options, which data does not support. Without
  /// options, `contains` tests whether the text is an element.
  public func contains(_ text: T.Element, options: StringOptions) -> Query<Bool> {
    some.compare(.contains, constant(text), options)
  }
  /// True if some element starts with the text.
  public func starts(with text: T.Element) -> Query<Bool> { some.starts(with: text) }
  /// True if some element ends with the text.
  public func ends(with text: T.Element) -> Query<Bool> { some.ends(with: text) }
  /// True if some element equals the text.
  public func equals(_ text: T.Element) -> Query<Bool> { some.equals(text) }
  /// True if some element differs from the text.
  public func notEquals(_ text: T.Element) -> Query<Bool> { some.notEquals(text) }
}

extension Query where T: RealmCollection, T.Element: _Persistable & _QueryString {
  /// True if some element starts with the text under the options.
  public func starts(with text: T.Element, options: StringOptions) -> Query<Bool> {
    some.starts(with: text, options: options)
  }
  /// True if some element ends with the text under the options.
  public func ends(with text: T.Element, options: StringOptions) -> Query<Bool> {
    some.ends(with: text, options: options)
  }
  /// True if some element equals the text under the options.
  public func equals(_ text: T.Element, options: StringOptions) -> Query<Bool> {
    some.equals(text, options: options)
  }
  /// True if some element differs from the text under the options.
  public func notEquals(_ text: T.Element, options: StringOptions) -> Query<Bool> {
    some.notEquals(text, options: options)
  }
  /// True if some element matches the pattern.
  public func like(_ pattern: T.Element, caseInsensitive: Bool = false) -> Query<Bool> {
    some.like(pattern, caseInsensitive: caseInsensitive)
  }
}
