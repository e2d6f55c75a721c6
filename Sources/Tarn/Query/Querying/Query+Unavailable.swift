import TarnStore

// Common mistakes, for which the compiler then shows the right form: overloads that it chooses only
// if no other fits. Without them its error only names an operand's type.

extension Query {
  /// Unavailable: members of values are not stored.
  @available(*, unavailable, message: "Members of values are not stored: compare the value itself.")
  @_disfavoredOverload
  public subscript<V>(dynamicMember member: KeyPath<T, V>) -> Query<V> { Self.unavailable() }

  /// Unavailable: members of values are not stored.
  @available(*, unavailable, message: "Members of values are not stored: compare the value itself.")
  @_disfavoredOverload
  public subscript<V, W>(dynamicMember member: KeyPath<W, V>) -> Query<V> where T == W? {
    Self.unavailable()
  }

  fileprivate static func unavailable() -> Never {
    trap("internal error: an overload that no program can call")
  }
}

extension Query where T: _QueryText {
  /// Unavailable: the message shows the condition to write.
  @available(*, unavailable, message: "Write $0.name == \"\", or == Data().")
  public var isEmpty: Query<Bool> { Self.unavailable() }
  /// Unavailable: the message shows the condition to write.
  @available(*, unavailable, message: "Write starts(with:).")
  public func hasPrefix(_ text: String) -> Query<Bool> { Self.unavailable() }
  /// Unavailable: the message shows the condition to write.
  @available(*, unavailable, message: "Write ends(with:).")
  public func hasSuffix(_ text: String) -> Query<Bool> { Self.unavailable() }
  /// Unavailable: the message shows the condition to write.
  @available(*, unavailable, message: "Write equals(_:options:) with .caseInsensitive.")
  public func lowercased() -> Query<String> { Self.unavailable() }
  /// Unavailable: the message shows the condition to write.
  @available(*, unavailable, message: "Write equals(_:options:) with .caseInsensitive.")
  public func uppercased() -> Query<String> { Self.unavailable() }
}

extension Query where T: _Persistable & _QueryText {
  /// Unavailable: data compares byte by byte.
  @available(*, unavailable, message: "Data is compared byte by byte: omit the options.")
  @_disfavoredOverload
  public func contains<V>(_ data: V, options: StringOptions) -> Query<Bool> { Self.unavailable() }
  /// Unavailable: data compares byte by byte.
  @available(*, unavailable, message: "Data is compared byte by byte: omit the options.")
  @_disfavoredOverload
  public func starts<V>(with data: V, options: StringOptions) -> Query<Bool> { Self.unavailable() }
  /// Unavailable: data compares byte by byte.
  @available(*, unavailable, message: "Data is compared byte by byte: omit the options.")
  @_disfavoredOverload
  public func ends<V>(with data: V, options: StringOptions) -> Query<Bool> { Self.unavailable() }
  /// Unavailable: data compares byte by byte.
  @available(*, unavailable, message: "Data is compared byte by byte: omit the options.")
  @_disfavoredOverload
  public func equals<V>(_ data: V, options: StringOptions) -> Query<Bool> { Self.unavailable() }
  /// Unavailable: data compares byte by byte.
  @available(*, unavailable, message: "Data is compared byte by byte: omit the options.")
  @_disfavoredOverload
  public func notEquals<V>(_ data: V, options: StringOptions) -> Query<Bool> { Self.unavailable() }
}

extension Query where T: _QueryString {
  /// Unavailable: only collections and conditions on them have a count.
  @available(*, unavailable, message: "Lengths are not stored. Count objects: $0.dogs.count.")
  @_disfavoredOverload
  public var count: Query<Int> { Self.unavailable() }
}

extension Query where T: _QueryNumber {
  /// Unavailable: only collections and conditions on them have a count.
  @available(*, unavailable, message: "Write $0.dogs.count, or ($0.dogs.age > 3).count.")
  public var count: Query<Int> { Self.unavailable() }
}

extension Query where T: RealmCollection {
  /// Unavailable: the message shows the condition to write.
  @available(*, unavailable, message: "Write $0.dogs.count == 0.")
  public var isEmpty: Query<Bool> { Self.unavailable() }
}

extension Query where T: RealmKeyedCollection {
  /// Unavailable: the message shows the condition to write.
  @available(*, unavailable, message: "Write $0.marks.count == 0.")
  public var isEmpty: Query<Bool> { Self.unavailable() }
}

// MARK: - Elements

extension Query {
  /// Unavailable: only lists have positions.
  @available(*, unavailable, message: "A set has no positions: compare any of its elements.")
  public subscript<E>(_ position: Int) -> Query<E> where T == MutableSet<E> { Self.unavailable() }
  /// Unavailable: only lists have positions.
  @available(*, unavailable, message: "Backlinks have no positions: compare with any of them.")
  public subscript<E>(_ position: Int) -> Query<E> where T == LinkingObjects<E> {
    Self.unavailable()
  }
}

extension Query where T: _AggregatedCollection, T._Aggregated == AnyRealmValue {
  /// Unavailable: an `AnyRealmValue` has no aggregates in a query.
  @available(*, unavailable, message: "A query cannot aggregate AnyRealmValue properties.")
  public var min: Query<AnyRealmValue> { Self.unavailable() }
  /// Unavailable: an `AnyRealmValue` has no aggregates in a query.
  @available(*, unavailable, message: "A query cannot aggregate AnyRealmValue properties.")
  public var max: Query<AnyRealmValue> { Self.unavailable() }
  /// Unavailable: an `AnyRealmValue` has no aggregates in a query.
  @available(*, unavailable, message: "A query cannot aggregate AnyRealmValue properties.")
  public var sum: Query<AnyRealmValue> { Self.unavailable() }
  /// Unavailable: an `AnyRealmValue` has no aggregates in a query.
  @available(*, unavailable, message: "A query cannot aggregate AnyRealmValue properties.")
  public var avg: Query<AnyRealmValue> { Self.unavailable() }
}

extension Query where T == AnyRealmValue {
  /// Unavailable: an `AnyRealmValue` has no aggregates in a query.
  @available(*, unavailable, message: "A query cannot aggregate AnyRealmValue properties.")
  public var min: Query<AnyRealmValue> { Self.unavailable() }
  /// Unavailable: an `AnyRealmValue` has no aggregates in a query.
  @available(*, unavailable, message: "A query cannot aggregate AnyRealmValue properties.")
  public var max: Query<AnyRealmValue> { Self.unavailable() }
  /// Unavailable: an `AnyRealmValue` has no aggregates in a query.
  @available(*, unavailable, message: "A query cannot aggregate AnyRealmValue properties.")
  public var sum: Query<AnyRealmValue> { Self.unavailable() }
  /// Unavailable: an `AnyRealmValue` has no aggregates in a query.
  @available(*, unavailable, message: "A query cannot aggregate AnyRealmValue properties.")
  public var avg: Query<AnyRealmValue> { Self.unavailable() }
}

// MARK: - Comparing

extension Query {
  /// Unavailable: the types of both sides do not compare.
  @available(
    *, unavailable,
    message: "Compare a property with a value or a property of its own type: convert the other."
  )
  @_disfavoredOverload
  public static func == <V>(property: Query, value: V) -> Query<Bool> { unavailable() }
  /// Unavailable: the types of both sides do not compare.
  @available(
    *, unavailable,
    message: "Compare a property with a value or a property of its own type: convert the other."
  )
  @_disfavoredOverload
  public static func != <V>(property: Query, value: V) -> Query<Bool> { unavailable() }
  /// Unavailable: the property is never nil.
  @available(*, unavailable, message: "The property is never nil: its type is not optional.")
  @_disfavoredOverload
  public static func == (property: Query, value: _OptionalNilComparisonType) -> Query<Bool> {
    unavailable()
  }
  /// Unavailable: the property is never nil.
  @available(*, unavailable, message: "The property is never nil: its type is not optional.")
  @_disfavoredOverload
  public static func != (property: Query, value: _OptionalNilComparisonType) -> Query<Bool> {
    unavailable()
  }
  /// Unavailable: both sides must have the same type, with an order.
  @available(
    *, unavailable,
    message: """
      Only numbers, strings, dates and ids have an order, and both sides must be of one type: \
      convert the other.
      """
  )
  @_disfavoredOverload
  public static func < <V>(property: Query, value: V) -> Query<Bool> { unavailable() }
  /// Unavailable: both sides must have the same type, with an order.
  @available(
    *, unavailable,
    message: """
      Only numbers, strings, dates and ids have an order, and both sides must be of one type: \
      convert the other.
      """
  )
  @_disfavoredOverload
  public static func <= <V>(property: Query, value: V) -> Query<Bool> { unavailable() }
  /// Unavailable: both sides must have the same type, with an order.
  @available(
    *, unavailable,
    message: """
      Only numbers, strings, dates and ids have an order, and both sides must be of one type: \
      convert the other.
      """
  )
  @_disfavoredOverload
  public static func > <V>(property: Query, value: V) -> Query<Bool> { unavailable() }
  /// Unavailable: both sides must have the same type, with an order.
  @available(
    *, unavailable,
    message: """
      Only numbers, strings, dates and ids have an order, and both sides must be of one type: \
      convert the other.
      """
  )
  @_disfavoredOverload
  public static func >= <V>(property: Query, value: V) -> Query<Bool> { unavailable() }
}

// MARK: - Joining

extension Query where T == Bool {
  /// Unavailable: both sides must be conditions.
  @available(*, unavailable, message: "Both sides of && must be conditions, such as $0.age > 3.")
  @_disfavoredOverload
  public static func && <V>(a: Query, b: V) -> Query<Bool> { unavailable() }
  /// Unavailable: both sides must be conditions.
  @available(*, unavailable, message: "Both sides of || must be conditions, such as $0.age > 3.")
  @_disfavoredOverload
  public static func || <V>(a: Query, b: V) -> Query<Bool> { unavailable() }
}

extension Query {
  /// Unavailable: `!` needs a condition.
  @available(*, unavailable, message: "! needs a condition: !($0.age > 3).")
  @_disfavoredOverload
  public static prefix func ! (query: Query) -> Query<Bool> { unavailable() }
}
