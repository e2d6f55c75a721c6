public import Foundation
import TarnStore

/// A type whose values have a minimum and a maximum, or a sum and an average: a number, a date,
/// an enum or a custom type that is stored as one, or an optional of these.
public protocol _Aggregatable {
  /// The type that is stored.
  associatedtype _Stored
  /// The type of a sum: of enums the stored type, because a sum is not a case.
  associatedtype _Sum
  /// The type of a minimum or a maximum: never optional by itself.
  associatedtype _Extreme

  /// Makes a sum of the sum of the stored values. Traps if the type refuses it.
  static func _sum(of stored: _Stored) -> _Sum
  /// Makes a minimum or a maximum of the stored value; nil for null. Traps if it is not a value of
  /// the type.
  static func _extreme(_ stored: _BoxedValue, _ name: String) -> _Extreme?
}

extension PersistableEnum {
  public static func _sum(of stored: RawValue) -> RawValue { stored }
  public static func _extreme(_ stored: _BoxedValue, _ name: String) -> Self? {
    validExtreme(stored)
  }
}

extension FailableCustomPersistable {
  public static func _sum(of stored: PersistedType) -> Self {
    guard let value = Self(persistedValue: stored) else {
      trap(
        "The sum \(stored) is not a valid \(Self.self). Make its initializer take sums, or sum up "
          + "in Swift.")
    }
    return value
  }
  public static func _extreme(_ stored: _BoxedValue, _ name: String) -> Self? {
    validExtreme(stored)
  }
}

extension Optional: _Aggregatable where Wrapped: _Aggregatable {
  public typealias _Stored = Wrapped._Stored
  public typealias _Sum = Wrapped._Sum
  public typealias _Extreme = Wrapped._Extreme
  public static func _sum(of stored: Wrapped._Stored) -> Wrapped._Sum { Wrapped._sum(of: stored) }
  public static func _extreme(_ stored: _BoxedValue, _ name: String) -> Wrapped._Extreme? {
    Wrapped._extreme(stored, name)
  }
}

extension _Persistable {
  fileprivate static func validExtreme(_ stored: _BoxedValue) -> Self? {
    if stored.value == .null { return nil }
    guard let value = _unbox(stored) else {
      trap("The result, stored as \(stored.value), is not a valid \(Self.self).")
    }
    return value
  }
}

/// A type whose values have an order in queries, or an optional of one.
public protocol _QueryComparable {}
extension Int: _QueryComparable {}
extension Int8: _QueryComparable {}
extension Int16: _QueryComparable {}
extension Int32: _QueryComparable {}
extension Int64: _QueryComparable {}
extension Float: _QueryComparable {}
extension Double: _QueryComparable {}
extension Decimal128: _QueryComparable {}
extension String: _QueryComparable {}
extension Date: _QueryComparable {}
extension ObjectId: _QueryComparable {}
extension UUID: _QueryComparable {}
extension Optional: _QueryComparable where Wrapped: _QueryComparable {}

/// A custom type that is stored as another one: an enum, or another custom type.
public protocol _QueryStored {
  /// The stored type.
  associatedtype _StoredType
}

extension Optional: _QueryStored where Wrapped: _QueryStored {
  public typealias _StoredType = Wrapped._StoredType?
}

/// A type with a minimum and a maximum in queries: numbers and dates, or an optional of one.
public protocol _QueryMinMax {}
extension Date: _QueryMinMax {}
extension Optional: _QueryMinMax where Wrapped: _QueryMinMax {}

/// A type of numbers, or an optional of one.
public protocol _QueryNumber: _QueryMinMax {}
extension Int: _QueryNumber {}
extension Int8: _QueryNumber {}
extension Int16: _QueryNumber {}
extension Int32: _QueryNumber {}
extension Int64: _QueryNumber {}
extension Float: _QueryNumber {}
extension Double: _QueryNumber {}
extension Optional: _QueryNumber where Wrapped: _QueryNumber {}

/// A type of decimals, or an optional of one.
public protocol _QueryDecimal: _QueryNumber {}
extension Decimal128: _QueryDecimal {}
extension Optional: _QueryDecimal where Wrapped: _QueryDecimal {}
