import TarnStore

// A property against one of the same type that may be nil: `$0.age == $0.oldAge`.

extension Query where T: _OptionalPersistable {
  /// True if both properties have the same value; never if one is nil.
  public static func == (a: Query, b: Query<T?>) -> Query<Bool> { a.compare(.equal, with: b) }
  public static func == (a: Query<T?>, b: Query) -> Query<Bool> { a.compare(.equal, with: b) }
  /// True if the properties have different values, or if one is nil.
  public static func != (a: Query, b: Query<T?>) -> Query<Bool> { a.compare(.notEqual, with: b) }
  public static func != (a: Query<T?>, b: Query) -> Query<Bool> { a.compare(.notEqual, with: b) }
}

extension Query where T: _OptionalPersistable & _QueryComparable {
  public static func < (a: Query, b: Query<T?>) -> Query<Bool> { a.compare(.less, with: b) }
  public static func < (a: Query<T?>, b: Query) -> Query<Bool> { a.compare(.less, with: b) }

  public static func <= (a: Query, b: Query<T?>) -> Query<Bool> { a.compare(.lessOrEqual, with: b) }
  public static func <= (a: Query<T?>, b: Query) -> Query<Bool> { a.compare(.lessOrEqual, with: b) }

  public static func > (a: Query, b: Query<T?>) -> Query<Bool> { a.compare(.greater, with: b) }
  public static func > (a: Query<T?>, b: Query) -> Query<Bool> { a.compare(.greater, with: b) }

  public static func >= (a: Query, b: Query<T?>) -> Query<Bool> {
    a.compare(.greaterOrEqual, with: b)
  }
  public static func >= (a: Query<T?>, b: Query) -> Query<Bool> {
    a.compare(.greaterOrEqual, with: b)
  }
}

/// A value that may be missing although its type is not optional: one reached through a link, under
/// a key or at a position, and the minimum of an empty collection.
extension Query where T: _OptionalPersistable {
  /// True if the value is missing. Traps for a property that always has one.
  public static func == (property: Query, value: _OptionalNilComparisonType) -> Query<Bool> {
    property.compareToNil(.equal)
  }
  /// True if the value exists. Traps for a property that always has one.
  public static func != (property: Query, value: _OptionalNilComparisonType) -> Query<Bool> {
    property.compareToNil(.notEqual)
  }
  /// True if the value is missing. Traps for a property that always has one.
  public static func == (value: _OptionalNilComparisonType, property: Query) -> Query<Bool> {
    property.compareToNil(.equal)
  }
  /// True if the value exists. Traps for a property that always has one.
  public static func != (value: _OptionalNilComparisonType, property: Query) -> Query<Bool> {
    property.compareToNil(.notEqual)
  }

  private func compareToNil(_ op: ComparisonOperator) -> Query<Bool> {
    if case .path(let path) = content, path.count < 2 {
      trap(
        "'\(path.first ?? "the object")' is never nil, because its type is not optional: remove "
          + "the condition, or make the property optional.")
    }
    return compare(op, .value(.null))
  }
}

/// Numbers of different types compare by their exact value: `$0.age == $0.weight`. The compiler
/// chooses these only if no other comparison fits, so they change nothing elsewhere.
extension Query where T: _QueryNumber {
  /// True if both properties have the same number; never if only one is nil.
  @_disfavoredOverload
  public static func == <V: _QueryNumber>(a: Query, b: Query<V>) -> Query<Bool> {
    a.compare(.equal, with: b)
  }
  /// True if the properties have different numbers, or if one is nil.
  @_disfavoredOverload
  public static func != <V: _QueryNumber>(a: Query, b: Query<V>) -> Query<Bool> {
    a.compare(.notEqual, with: b)
  }
  @_disfavoredOverload
  public static func < <V: _QueryNumber>(a: Query, b: Query<V>) -> Query<Bool> {
    a.compare(.less, with: b)
  }
  @_disfavoredOverload
  public static func <= <V: _QueryNumber>(a: Query, b: Query<V>) -> Query<Bool> {
    a.compare(.lessOrEqual, with: b)
  }
  @_disfavoredOverload
  public static func > <V: _QueryNumber>(a: Query, b: Query<V>) -> Query<Bool> {
    a.compare(.greater, with: b)
  }
  @_disfavoredOverload
  public static func >= <V: _QueryNumber>(a: Query, b: Query<V>) -> Query<Bool> {
    a.compare(.greaterOrEqual, with: b)
  }
}
