import TarnStore

/// Comparisons with the elements of a collection of values, true if some element meets them:
/// `$0.scores > 3`, `$0.tags.starts(with: "a")`.
extension Query where T: RealmCollection, T.Element: _Persistable {
  private var element: Query<T.Element> { element() }

  /// True if some element equals the value.
  public static func == (elements: Query, value: T.Element) -> Query<Bool> {
    elements.element == value
  }
  /// True if some element differs from the value.
  public static func != (elements: Query, value: T.Element) -> Query<Bool> {
    elements.element != value
  }
  /// True if some element equals the value.
  public static func == (value: T.Element, elements: Query) -> Query<Bool> {
    elements.element == value
  }
  /// True if some element differs from the value.
  public static func != (value: T.Element, elements: Query) -> Query<Bool> {
    elements.element != value
  }
}

extension Query where T: RealmCollection, T.Element: _Persistable & _QueryComparable {
  public static func < (elements: Query, value: T.Element) -> Query<Bool> {
    elements.element < value
  }
  public static func <= (elements: Query, value: T.Element) -> Query<Bool> {
    elements.element <= value
  }
  public static func > (elements: Query, value: T.Element) -> Query<Bool> {
    elements.element > value
  }
  public static func >= (elements: Query, value: T.Element) -> Query<Bool> {
    elements.element >= value
  }

  public static func < (value: T.Element, elements: Query) -> Query<Bool> {
    elements.element > value
  }
  public static func <= (value: T.Element, elements: Query) -> Query<Bool> {
    elements.element >= value
  }
  public static func > (value: T.Element, elements: Query) -> Query<Bool> {
    elements.element < value
  }
  public static func >= (value: T.Element, elements: Query) -> Query<Bool> {
    elements.element <= value
  }
}

extension Query where T: RealmCollection, T.Element: _Persistable & _QueryComparable & Comparable {
  /// True if some element is in the range.
  public func contains(_ range: Range<T.Element>) -> Query<Bool> { element.contains(range) }
  /// True if some element is in the range.
  public func contains(_ range: ClosedRange<T.Element>) -> Query<Bool> { element.contains(range) }
}

extension Query where T: RealmCollection {
  /// True if some element is in the range; nil never is.
  public func contains<W: _OptionalPersistable & _QueryComparable & Comparable>(
    _ range: Range<W>
  ) -> Query<Bool> where T.Element == W? { (element() as Query<W?>).contains(range) }
  /// True if some element is in the range; nil never is.
  public func contains<W: _OptionalPersistable & _QueryComparable & Comparable>(
    _ range: ClosedRange<W>
  ) -> Query<Bool> where T.Element == W? { (element() as Query<W?>).contains(range) }
}

extension Query where T: RealmCollection, T.Element: _Persistable & _QueryText {
  /// True if the text of some element contains the text under the options, which data takes none
  /// of. Without options, `contains` asks whether the text is an element.
  public func contains(_ text: T.Element, options: StringOptions) -> Query<Bool> {
    element.compare(.contains, element.constant(text), options)
  }
  /// True if the text of some element starts with the text.
  public func starts(with text: T.Element) -> Query<Bool> { element.starts(with: text) }
  /// True if the text of some element ends with the text.
  public func ends(with text: T.Element) -> Query<Bool> { element.ends(with: text) }
  /// True if some element equals the text.
  public func equals(_ text: T.Element) -> Query<Bool> { element.equals(text) }
  /// True if some element differs from the text.
  public func notEquals(_ text: T.Element) -> Query<Bool> { element.notEquals(text) }
}

extension Query where T: RealmCollection, T.Element: _Persistable & _QueryString {
  /// True if the text of some element starts with the text under the options.
  public func starts(with text: T.Element, options: StringOptions) -> Query<Bool> {
    element.starts(with: text, options: options)
  }
  /// True if the text of some element ends with the text under the options.
  public func ends(with text: T.Element, options: StringOptions) -> Query<Bool> {
    element.ends(with: text, options: options)
  }
  /// True if some element equals the text under the options.
  public func equals(_ text: T.Element, options: StringOptions) -> Query<Bool> {
    element.equals(text, options: options)
  }
  /// True if some element differs from the text under the options.
  public func notEquals(_ text: T.Element, options: StringOptions) -> Query<Bool> {
    element.notEquals(text, options: options)
  }
  /// True if the text of some element matches the pattern.
  public func like(_ pattern: T.Element, caseInsensitive: Bool = false) -> Query<Bool> {
    element.like(pattern, caseInsensitive: caseInsensitive)
  }
}
