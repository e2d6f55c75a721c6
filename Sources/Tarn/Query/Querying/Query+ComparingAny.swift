import TarnStore

// An `AnyRealmValue` property against one of another type: `$0.data == $0.name`,
// `$0.data["size"] > $0.n`. Values of different kinds are unequal and have no order; numbers of all
// types are one kind.

extension Query where T == AnyRealmValue {
  // Without these the compiler could not choose between the others.
  /// True if both properties have the same value.
  public static func == (a: Query, b: Query) -> Query<Bool> { a.compare(.equal, with: b) }
  /// True if the properties have different values.
  public static func != (a: Query, b: Query) -> Query<Bool> { a.compare(.notEqual, with: b) }
  public static func < (a: Query, b: Query) -> Query<Bool> { a.compare(.less, with: b) }
  public static func <= (a: Query, b: Query) -> Query<Bool> { a.compare(.lessOrEqual, with: b) }
  public static func > (a: Query, b: Query) -> Query<Bool> { a.compare(.greater, with: b) }
  public static func >= (a: Query, b: Query) -> Query<Bool> { a.compare(.greaterOrEqual, with: b) }

  /// True if both properties have the same value.
  @_disfavoredOverload
  public static func == <V: _Persistable>(a: Query, b: Query<V>) -> Query<Bool> {
    a.compare(.equal, with: b)
  }
  /// True if both properties have the same value.
  @_disfavoredOverload
  public static func == <V: _Persistable>(a: Query<V>, b: Query) -> Query<Bool> {
    a.compare(.equal, with: b)
  }
  /// True if the properties have different values.
  @_disfavoredOverload
  public static func != <V: _Persistable>(a: Query, b: Query<V>) -> Query<Bool> {
    a.compare(.notEqual, with: b)
  }
  /// True if the properties have different values.
  @_disfavoredOverload
  public static func != <V: _Persistable>(a: Query<V>, b: Query) -> Query<Bool> {
    a.compare(.notEqual, with: b)
  }

  @_disfavoredOverload
  public static func < <V: _Persistable & _QueryComparable>(a: Query, b: Query<V>) -> Query<Bool> {
    a.compare(.less, with: b)
  }
  @_disfavoredOverload
  public static func < <V: _Persistable & _QueryComparable>(a: Query<V>, b: Query) -> Query<Bool> {
    a.compare(.less, with: b)
  }
  @_disfavoredOverload
  public static func <= <V: _Persistable & _QueryComparable>(a: Query, b: Query<V>) -> Query<Bool> {
    a.compare(.lessOrEqual, with: b)
  }
  @_disfavoredOverload
  public static func <= <V: _Persistable & _QueryComparable>(a: Query<V>, b: Query) -> Query<Bool> {
    a.compare(.lessOrEqual, with: b)
  }
  @_disfavoredOverload
  public static func > <V: _Persistable & _QueryComparable>(a: Query, b: Query<V>) -> Query<Bool> {
    a.compare(.greater, with: b)
  }
  @_disfavoredOverload
  public static func > <V: _Persistable & _QueryComparable>(a: Query<V>, b: Query) -> Query<Bool> {
    a.compare(.greater, with: b)
  }
  @_disfavoredOverload
  public static func >= <V: _Persistable & _QueryComparable>(a: Query, b: Query<V>) -> Query<Bool> {
    a.compare(.greaterOrEqual, with: b)
  }
  @_disfavoredOverload
  public static func >= <V: _Persistable & _QueryComparable>(a: Query<V>, b: Query) -> Query<Bool> {
    a.compare(.greaterOrEqual, with: b)
  }
}
