import TarnStore

/// An aggregate of many objects: their number, or the sum, minimum, maximum or average of a
/// property. For ``RealmCollection/grouped(by:_:)`` and ``RealmCollection/aggregate(_:)``.
///
/// ```swift
/// realm.objects(Dog.self).grouped(by: \.breed, .count, .max(of: \.age), .average(of: \.weight))
/// ```
///
/// Nil and NaN are ignored. The sum of floats and doubles is exact, regardless of the values
/// added and removed before, and is rounded once, when it is read.
///
/// Threading: any.
public struct Aggregate<Root: KeypathSortable, Result>: @unchecked Sendable {
  // because: it consists of a name and of code that reads a value and has no state.

  let kind: AggregateTerm.Kind
  /// The property's name; empty for `count`.
  let property: String
  /// Converts the stored result.
  let read: (Value) -> Result
  /// False for a value that cannot be read.
  let isReadable: (Value) -> Bool

  init(
    _ kind: AggregateTerm.Kind, _ property: String, _ read: @escaping (Value) -> Result,
    isReadable: @escaping (Value) -> Bool = { _ in true }
  ) {
    self.kind = kind
    self.property = property
    self.isReadable = isReadable
    self.read = read
  }

  private init(
    _ kind: AggregateTerm.Kind, _ keyPath: PartialKeyPath<Root>, _ read: @escaping (Value) -> Result
  ) {
    self.init(kind, _name(for: keyPath, .aggregate), read)
  }
}

extension Aggregate where Result == Int {
  /// The number of objects.
  public static var count: Self {
    Self(.count, "") { ValueFold.typed($0, "count") ?? 0 }
  }
}

extension Aggregate {
  /// The sum of a property's values, 0 without values. For enums and custom types it is the sum of
  /// their stored values, returned for a custom type as a value of it. Traps when it is read if the
  /// type cannot hold or refuses it.
  public static func sum<T: _Aggregatable>(of keyPath: KeyPath<Root, T>) -> Self
  where Result == T._Sum, T._Stored: AddableType {
    let name = _name(for: keyPath, .aggregate)
    return Self(.sum, name) {
      T.sum($0, "property '\(name)'")
    } isReadable: {
      ValueFold.isHeld($0, by: T._Stored.self)
    }
  }
  /// The sum of a property given by name, as the requested type. Grouping by it traps if the class
  /// has no such property or it is not a number.
  public static func sum(ofProperty name: String) -> Self where Result: AddableType {
    Self(.sum, name) {
      ValueFold.typed($0, "property '\(name)'") ?? Result(_nearest: 0)
    } isReadable: {
      ValueFold.isHeld($0, by: Result.self)
    }
  }

  /// The minimum of a property, nil without values. Enums and custom types compare by their stored
  /// values.
  public static func min<T: _Aggregatable>(of keyPath: KeyPath<Root, T>) -> Self
  where Result == T._Extreme?, T._Stored: MinMaxType { extreme(.min, keyPath) }
  /// The minimum of a property given by name, as the requested type. Grouping by it traps if the
  /// class has no such property or it is neither a number nor a date.
  public static func min<T: MinMaxType>(ofProperty name: String) -> Self
  where Result == T? { optional(.min, name) }

  /// The maximum of a property; see `min(of:)`.
  public static func max<T: _Aggregatable>(of keyPath: KeyPath<Root, T>) -> Self
  where Result == T._Extreme?, T._Stored: MinMaxType { extreme(.max, keyPath) }
  /// The maximum of a property given by name; see `min(ofProperty:)`.
  public static func max<T: MinMaxType>(ofProperty name: String) -> Self
  where Result == T? { optional(.max, name) }

  /// The average of a property's stored values, nil without values.
  public static func average<T: _Aggregatable>(of keyPath: KeyPath<Root, T>) -> Self
  where Result == Double?, T._Stored: AddableType {
    optional(.average, _name(for: keyPath, .aggregate))
  }
  /// The average of a property's values as a decimal, nil without values.
  public static func average(of keyPath: KeyPath<Root, Decimal128>) -> Self
  where Result == Decimal128? { optional(.average, _name(for: keyPath, .aggregate)) }
  /// The average of an optional property as a decimal, nil without values.
  public static func average(of keyPath: KeyPath<Root, Decimal128?>) -> Self
  where Result == Decimal128? { optional(.average, _name(for: keyPath, .aggregate)) }
  /// The average of a property given by name, nil without values; see `sum(ofProperty:)`.
  public static func average<T: AddableType>(ofProperty name: String) -> Self
  where Result == T? { optional(.average, name) }

  private static func optional<T: _Persistable>(
    _ kind: AggregateTerm.Kind, _ name: String
  ) -> Self where Result == T? {
    Self(kind, name) { ValueFold.typed($0, "property '\(name)'") }
  }

  private static func extreme<T: _Aggregatable>(
    _ kind: AggregateTerm.Kind, _ keyPath: KeyPath<Root, T>
  ) -> Self where Result == T._Extreme? {
    let name = _name(for: keyPath, .aggregate)
    return Self(kind, name) { T._extreme(_BoxedValue($0), "property '\(name)'") }
  }
}
