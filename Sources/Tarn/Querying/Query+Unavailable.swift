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

extension Query where T: _Persistable & _QueryText {
  /// Says what data is compared by.
  @available(*, unavailable, message: "Data compares byte by byte: leave the options out.")
  @_disfavoredOverload
  public func contains<V>(_ data: V, options: StringOptions) -> Query<Bool> { Self.unavailable() }
  /// Says what data is compared by.
  @available(*, unavailable, message: "Data compares byte by byte: leave the options out.")
  @_disfavoredOverload
  public func starts<V>(with data: V, options: StringOptions) -> Query<Bool> { Self.unavailable() }
  /// Says what data is compared by.
  @available(*, unavailable, message: "Data compares byte by byte: leave the options out.")
  @_disfavoredOverload
  public func ends<V>(with data: V, options: StringOptions) -> Query<Bool> { Self.unavailable() }
  /// Says what data is compared by.
  @available(*, unavailable, message: "Data compares byte by byte: leave the options out.")
  @_disfavoredOverload
  public func equals<V>(_ data: V, options: StringOptions) -> Query<Bool> { Self.unavailable() }
  /// Says what data is compared by.
  @available(*, unavailable, message: "Data compares byte by byte: leave the options out.")
  @_disfavoredOverload
  public func notEquals<V>(_ data: V, options: StringOptions) -> Query<Bool> { Self.unavailable() }
}

extension Query where T: _QueryString {
  /// Says what has a number.
  @available(*, unavailable, message: "Lengths are not stored. Objects have $0.dogs.count.")
  @_disfavoredOverload
  public var count: Query<Int> { Self.unavailable() }
}

extension Query where T: _QueryNumber {
  /// Says what has a number.
  @available(*, unavailable, message: "Write $0.dogs.count, or ($0.dogs.age > 3).count.")
  public var count: Query<Int> { Self.unavailable() }
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

// MARK: - Elements

extension Query {
  /// Says what has positions.
  @available(*, unavailable, message: "A set has no positions: compare any of its elements.")
  public subscript<E>(_ position: Int) -> Query<E> where T == MutableSet<E> { Self.unavailable() }
  /// Says what has positions.
  @available(*, unavailable, message: "What links to an object has no order: compare any of it.")
  public subscript<E>(_ position: Int) -> Query<E> where T == LinkingObjects<E> {
    Self.unavailable()
  }
}

extension Query where T: _AggregatedCollection, T._Aggregated == AnyRealmValue {
  /// Says what can be added up.
  @available(*, unavailable, message: "Conditions neither rank nor add up values of any type.")
  public var min: Query<AnyRealmValue> { Self.unavailable() }
  /// Says what can be added up.
  @available(*, unavailable, message: "Conditions neither rank nor add up values of any type.")
  public var max: Query<AnyRealmValue> { Self.unavailable() }
  /// Says what can be added up.
  @available(*, unavailable, message: "Conditions neither rank nor add up values of any type.")
  public var sum: Query<AnyRealmValue> { Self.unavailable() }
  /// Says what can be added up.
  @available(*, unavailable, message: "Conditions neither rank nor add up values of any type.")
  public var avg: Query<AnyRealmValue> { Self.unavailable() }
}

extension Query where T == AnyRealmValue {
  /// Says what can be added up.
  @available(*, unavailable, message: "Conditions neither rank nor add up values of any type.")
  public var min: Query<AnyRealmValue> { Self.unavailable() }
  /// Says what can be added up.
  @available(*, unavailable, message: "Conditions neither rank nor add up values of any type.")
  public var max: Query<AnyRealmValue> { Self.unavailable() }
  /// Says what can be added up.
  @available(*, unavailable, message: "Conditions neither rank nor add up values of any type.")
  public var sum: Query<AnyRealmValue> { Self.unavailable() }
  /// Says what can be added up.
  @available(*, unavailable, message: "Conditions neither rank nor add up values of any type.")
  public var avg: Query<AnyRealmValue> { Self.unavailable() }
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
