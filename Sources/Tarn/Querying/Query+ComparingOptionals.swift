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
