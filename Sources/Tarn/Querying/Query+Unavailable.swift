import TarnStore

// What people write that cannot work, so that the compiler says what can: overloads that it takes
// only where no other fits. Without them it names an operand's type and stops there.

extension Query {
  /// Says that members of values are not stored.
  @available(*, unavailable, message: "Members of values are not stored: compare the value itself.")
  @_disfavoredOverload
  public subscript<V>(dynamicMember member: KeyPath<T, V>) -> Query<V> { Self.unavailable() }

  /// Says that members of values are not stored.
  @available(*, unavailable, message: "Members of values are not stored: compare the value itself.")
  @_disfavoredOverload
  public subscript<V, W>(dynamicMember member: KeyPath<W, V>) -> Query<V> where T == W? {
    Self.unavailable()
  }

  fileprivate static func unavailable() -> Never {
    trap("an overload that no program can call: bug in this package")
  }
}

extension Query where T: _QueryText {
  /// Says how to write the condition.
  @available(*, unavailable, message: "Write $0.name == \"\", or == Data().")
  public var isEmpty: Query<Bool> { Self.unavailable() }
  /// Says how to write the condition.
  @available(*, unavailable, message: "Write starts(with:).")
  public func hasPrefix(_ text: String) -> Query<Bool> { Self.unavailable() }
  /// Says how to write the condition.
  @available(*, unavailable, message: "Write ends(with:).")
  public func hasSuffix(_ text: String) -> Query<Bool> { Self.unavailable() }
  /// Says how to write the condition.
  @available(*, unavailable, message: "Write equals(_:options:) with .caseInsensitive.")
  public func lowercased() -> Query<String> { Self.unavailable() }
  /// Says how to write the condition.
  @available(*, unavailable, message: "Write equals(_:options:) with .caseInsensitive.")
  public func uppercased() -> Query<String> { Self.unavailable() }
}

extension Query where T: RealmCollection {
  /// Says how to write the condition.
  @available(*, unavailable, message: "Write $0.dogs.count == 0.")
  public var isEmpty: Query<Bool> { Self.unavailable() }
}

extension Query where T: RealmKeyedCollection {
  /// Says how to write the condition.
  @available(*, unavailable, message: "Write $0.marks.count == 0.")
  public var isEmpty: Query<Bool> { Self.unavailable() }
}

// MARK: - Comparing

extension Query {
  /// Says what a property compares with.
  @available(
    *, unavailable,
    message: "A property compares with a value or a property of its own type: convert the other."
  )
  @_disfavoredOverload
  public static func == <V>(property: Query, value: V) -> Query<Bool> { unavailable() }
  /// Says what a property compares with.
  @available(
    *, unavailable,
    message: "A property compares with a value or a property of its own type: convert the other."
  )
  @_disfavoredOverload
  public static func != <V>(property: Query, value: V) -> Query<Bool> { unavailable() }
  /// Says that the property always has a value.
  @available(*, unavailable, message: "The property is never nil: its type is not optional.")
  @_disfavoredOverload
  public static func == (property: Query, value: _OptionalNilComparisonType) -> Query<Bool> {
    unavailable()
  }
  /// Says that the property always has a value.
  @available(*, unavailable, message: "The property is never nil: its type is not optional.")
  @_disfavoredOverload
  public static func != (property: Query, value: _OptionalNilComparisonType) -> Query<Bool> {
    unavailable()
  }
  /// Says what has an order.
  @available(
    *, unavailable,
    message: """
      Only numbers, strings, dates and ids have an order, and both sides must be of one type: \
      convert the other.
      """
  )
  @_disfavoredOverload
  public static func < <V>(property: Query, value: V) -> Query<Bool> { unavailable() }
  /// Says what has an order.
  @available(
    *, unavailable,
    message: """
      Only numbers, strings, dates and ids have an order, and both sides must be of one type: \
      convert the other.
      """
  )
  @_disfavoredOverload
  public static func <= <V>(property: Query, value: V) -> Query<Bool> { unavailable() }
  /// Says what has an order.
  @available(
    *, unavailable,
    message: """
      Only numbers, strings, dates and ids have an order, and both sides must be of one type: \
      convert the other.
      """
  )
  @_disfavoredOverload
  public static func > <V>(property: Query, value: V) -> Query<Bool> { unavailable() }
  /// Says what has an order.
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

// Without these the compiler would ask to convert a property, which cannot be done.
extension Query where T: _QueryNumber {
  /// Says what compares numbers of different types.
  @available(
    *, unavailable,
    message: """
      Properties compare if both are of one type. A text compares all numbers: \
      filter("age == weight").
      """
  )
  @_disfavoredOverload
  public static func == <V: _QueryNumber>(property: Query, other: Query<V>) -> Query<Bool> {
    unavailable()
  }
  /// Says what compares numbers of different types.
  @available(
    *, unavailable,
    message: """
      Properties compare if both are of one type. A text compares all numbers: \
      filter("age != weight").
      """
  )
  @_disfavoredOverload
  public static func != <V: _QueryNumber>(property: Query, other: Query<V>) -> Query<Bool> {
    unavailable()
  }
  /// Says what compares numbers of different types.
  @available(
    *, unavailable,
    message: """
      Properties compare if both are of one type. A text compares all numbers: \
      filter("age < weight").
      """
  )
  @_disfavoredOverload
  public static func < <V: _QueryNumber>(property: Query, other: Query<V>) -> Query<Bool> {
    unavailable()
  }
  /// Says what compares numbers of different types.
  @available(
    *, unavailable,
    message: """
      Properties compare if both are of one type. A text compares all numbers: \
      filter("age <= weight").
      """
  )
  @_disfavoredOverload
  public static func <= <V: _QueryNumber>(property: Query, other: Query<V>) -> Query<Bool> {
    unavailable()
  }
  /// Says what compares numbers of different types.
  @available(
    *, unavailable,
    message: """
      Properties compare if both are of one type. A text compares all numbers: \
      filter("age > weight").
      """
  )
  @_disfavoredOverload
  public static func > <V: _QueryNumber>(property: Query, other: Query<V>) -> Query<Bool> {
    unavailable()
  }
  /// Says what compares numbers of different types.
  @available(
    *, unavailable,
    message: """
      Properties compare if both are of one type. A text compares all numbers: \
      filter("age >= weight").
      """
  )
  @_disfavoredOverload
  public static func >= <V: _QueryNumber>(property: Query, other: Query<V>) -> Query<Bool> {
    unavailable()
  }
}

// MARK: - Joining

extension Query where T == Bool {
  /// Says what can be combined.
  @available(*, unavailable, message: "Both sides of && are conditions, such as $0.age > 3.")
  @_disfavoredOverload
  public static func && <V>(a: Query, b: V) -> Query<Bool> { unavailable() }
  /// Says what can be combined.
  @available(*, unavailable, message: "Both sides of || are conditions, such as $0.age > 3.")
  @_disfavoredOverload
  public static func || <V>(a: Query, b: V) -> Query<Bool> { unavailable() }
}

extension Query {
  /// Says what can be negated.
  @available(*, unavailable, message: "Behind ! stands a condition: !($0.age > 3).")
  @_disfavoredOverload
  public static prefix func ! (query: Query) -> Query<Bool> { unavailable() }
}
