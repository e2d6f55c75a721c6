import TarnStore

extension Query where T: _QueryOperand {
  /// Some element of a collection; any other property itself.
  fileprivate var side: Query { T._isComparedByElement ? element() : self }

  fileprivate func compare<U: _QueryOperand>(
    _ op: ComparisonOperator, sideOf other: Query<U>
  ) -> Query<Bool> {
    side.compare(op, with: other.side)
  }
}

// MARK: - With a value

extension Query where T: _QueryOperand, T._QueryValue: _Persistable {
  fileprivate func compare(_ op: ComparisonOperator, to value: T._QueryValue) -> Query<Bool> {
    side.compare(op, constant(value))
  }

  /// True if the property has the value. For a link: if it points to that object.
  public static func == (property: Query, value: T._QueryValue) -> Query<Bool> {
    property.compare(.equal, to: value)
  }
  /// True if the property has another value.
  public static func != (property: Query, value: T._QueryValue) -> Query<Bool> {
    property.compare(.notEqual, to: value)
  }
  /// True if the property has the value. For a link: if it points to that object.
  public static func == (value: T._QueryValue, property: Query) -> Query<Bool> {
    property.compare(.equal, to: value)
  }
  /// True if the property has another value.
  public static func != (value: T._QueryValue, property: Query) -> Query<Bool> {
    property.compare(.notEqual, to: value)
  }
}

extension Query where T: _QueryOperand, T._QueryValue: _Persistable & _QueryComparable {
  public static func < (property: Query, value: T._QueryValue) -> Query<Bool> {
    property.compare(.less, to: value)
  }
  public static func <= (property: Query, value: T._QueryValue) -> Query<Bool> {
    property.compare(.lessOrEqual, to: value)
  }
  public static func > (property: Query, value: T._QueryValue) -> Query<Bool> {
    property.compare(.greater, to: value)
  }
  public static func >= (property: Query, value: T._QueryValue) -> Query<Bool> {
    property.compare(.greaterOrEqual, to: value)
  }

  public static func < (value: T._QueryValue, property: Query) -> Query<Bool> {
    property.compare(.greater, to: value)
  }
  public static func <= (value: T._QueryValue, property: Query) -> Query<Bool> {
    property.compare(.greaterOrEqual, to: value)
  }
  public static func > (value: T._QueryValue, property: Query) -> Query<Bool> {
    property.compare(.less, to: value)
  }
  public static func >= (value: T._QueryValue, property: Query) -> Query<Bool> {
    property.compare(.lessOrEqual, to: value)
  }
}

// MARK: - With a property

/// `$0.age == $0.oldAge`, `$0.scores < $0.limit`. Either may be nil or a collection, but not both a
/// collection.
extension Query where T: _QueryOperand, T._QueryValue: _Persistable {
  // The compiler prefers those of one type, which decides between both forms of `avg`.
  /// True if both properties have the same value.
  public static func == (a: Query, b: Query) -> Query<Bool> { a.compare(.equal, sideOf: b) }
  /// True if the properties have different values.
  public static func != (a: Query, b: Query) -> Query<Bool> { a.compare(.notEqual, sideOf: b) }

  /// True if both properties have the same value.
  public static func == <U: _QueryOperand>(a: Query, b: Query<U>) -> Query<Bool>
  where T._Compared == U._Compared { a.compare(.equal, sideOf: b) }
  /// True if the properties have different values.
  public static func != <U: _QueryOperand>(a: Query, b: Query<U>) -> Query<Bool>
  where T._Compared == U._Compared { a.compare(.notEqual, sideOf: b) }
}

extension Query where T: _QueryOperand, T._QueryValue: _Persistable, T._Compared: _QueryComparable {
  public static func < (a: Query, b: Query) -> Query<Bool> { a.compare(.less, sideOf: b) }
  public static func <= (a: Query, b: Query) -> Query<Bool> { a.compare(.lessOrEqual, sideOf: b) }
  public static func > (a: Query, b: Query) -> Query<Bool> { a.compare(.greater, sideOf: b) }
  public static func >= (a: Query, b: Query) -> Query<Bool> {
    a.compare(.greaterOrEqual, sideOf: b)
  }

  public static func < <U: _QueryOperand>(a: Query, b: Query<U>) -> Query<Bool>
  where T._Compared == U._Compared { a.compare(.less, sideOf: b) }
  public static func <= <U: _QueryOperand>(a: Query, b: Query<U>) -> Query<Bool>
  where T._Compared == U._Compared { a.compare(.lessOrEqual, sideOf: b) }
  public static func > <U: _QueryOperand>(a: Query, b: Query<U>) -> Query<Bool>
  where T._Compared == U._Compared { a.compare(.greater, sideOf: b) }
  public static func >= <U: _QueryOperand>(a: Query, b: Query<U>) -> Query<Bool>
  where T._Compared == U._Compared { a.compare(.greaterOrEqual, sideOf: b) }
}

/// The objects of a collection and a link.
extension Query where T: RealmCollection, T.Element: ObjectBase {
  /// True if the link points to some object of the collection.
  public static func == (a: Query, b: Query<T.Element?>) -> Query<Bool> {
    a.some.compare(.equal, with: b)
  }
  /// True if the link points to some object of the collection.
  public static func == (a: Query<T.Element?>, b: Query) -> Query<Bool> {
    a.compare(.equal, with: b.some)
  }
  /// True if the link does not point to some object of the collection.
  public static func != (a: Query, b: Query<T.Element?>) -> Query<Bool> {
    a.some.compare(.notEqual, with: b)
  }
  /// True if the link does not point to some object of the collection.
  public static func != (a: Query<T.Element?>, b: Query) -> Query<Bool> {
    a.compare(.notEqual, with: b.some)
  }
}

// MARK: - With a property of another type

// The compiler chooses these only if no other comparison fits, so they change nothing elsewhere.

/// Numbers of different types compare by their exact value: `$0.age == $0.weight`.
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

/// An `AnyRealmValue` against a property of another type: `$0.data == $0.name`, `$0.values ==
/// $0.name`. Values of different kinds are unequal and have no order; numbers of all types are one
/// kind.
extension Query where T: _QueryOperand, T._Compared == AnyRealmValue {
  /// True if both properties have the same value.
  @_disfavoredOverload
  public static func == <V: _QueryOperand>(a: Query, b: Query<V>) -> Query<Bool> {
    a.compare(.equal, sideOf: b)
  }
  /// True if both properties have the same value.
  @_disfavoredOverload
  public static func == <V: _QueryOperand>(a: Query<V>, b: Query) -> Query<Bool> {
    a.compare(.equal, sideOf: b)
  }
  /// True if the properties have different values.
  @_disfavoredOverload
  public static func != <V: _QueryOperand>(a: Query, b: Query<V>) -> Query<Bool> {
    a.compare(.notEqual, sideOf: b)
  }
  /// True if the properties have different values.
  @_disfavoredOverload
  public static func != <V: _QueryOperand>(a: Query<V>, b: Query) -> Query<Bool> {
    a.compare(.notEqual, sideOf: b)
  }

  @_disfavoredOverload
  public static func < <V: _QueryOperand>(a: Query, b: Query<V>) -> Query<Bool>
  where V._QueryValue: _QueryComparable { a.compare(.less, sideOf: b) }
  @_disfavoredOverload
  public static func < <V: _QueryOperand>(a: Query<V>, b: Query) -> Query<Bool>
  where V._QueryValue: _QueryComparable { a.compare(.less, sideOf: b) }
  @_disfavoredOverload
  public static func <= <V: _QueryOperand>(a: Query, b: Query<V>) -> Query<Bool>
  where V._QueryValue: _QueryComparable { a.compare(.lessOrEqual, sideOf: b) }
  @_disfavoredOverload
  public static func <= <V: _QueryOperand>(a: Query<V>, b: Query) -> Query<Bool>
  where V._QueryValue: _QueryComparable { a.compare(.lessOrEqual, sideOf: b) }
  @_disfavoredOverload
  public static func > <V: _QueryOperand>(a: Query, b: Query<V>) -> Query<Bool>
  where V._QueryValue: _QueryComparable { a.compare(.greater, sideOf: b) }
  @_disfavoredOverload
  public static func > <V: _QueryOperand>(a: Query<V>, b: Query) -> Query<Bool>
  where V._QueryValue: _QueryComparable { a.compare(.greater, sideOf: b) }
  @_disfavoredOverload
  public static func >= <V: _QueryOperand>(a: Query, b: Query<V>) -> Query<Bool>
  where V._QueryValue: _QueryComparable { a.compare(.greaterOrEqual, sideOf: b) }
  @_disfavoredOverload
  public static func >= <V: _QueryOperand>(a: Query<V>, b: Query) -> Query<Bool>
  where V._QueryValue: _QueryComparable { a.compare(.greaterOrEqual, sideOf: b) }
}

// MARK: - With nil

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
