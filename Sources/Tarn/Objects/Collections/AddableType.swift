public import Foundation
import TarnStore

/// A type with a minimum and a maximum: numbers and dates.
public protocol MinMaxType: _Persistable, _Aggregatable {}
/// A type whose values can be added: numbers.
public protocol AddableType: _Persistable {
  /// The nearest value; whole numbers are truncated.
  init(_nearest value: Double)
}

extension Int: MinMaxType, AddableType {}
extension Int8: MinMaxType, AddableType {}
extension Int16: MinMaxType, AddableType {}
extension Int32: MinMaxType, AddableType {}
extension Int64: MinMaxType, AddableType {}
extension Float: MinMaxType, AddableType {
  /// The nearest value; whole numbers are truncated.
  public init(_nearest value: Double) { self.init(value) }
}
extension Double: MinMaxType, AddableType {
  /// The nearest value; whole numbers are truncated.
  public init(_nearest value: Double) { self = value }
}
extension Decimal128: MinMaxType, AddableType {
  /// The decimal that the number prints as.
  public init(_nearest value: Double) { self.init(value) }
}
extension Date: MinMaxType {}
extension AnyRealmValue: MinMaxType, AddableType {
  /// The number.
  public init(_nearest value: Double) { self = .double(value) }
}

extension AddableType where Self: FixedWidthInteger {
  /// The nearest value; whole numbers are truncated.
  public init(_nearest value: Double) { self.init(value) }
}

extension MinMaxType {
  public static func _sum(of stored: Self) -> Self { stored }
  public static func _extreme(_ stored: _BoxedValue, _ name: String) -> Self? {
    ValueFold.typed(stored.value, name)
  }
}

extension _Aggregatable where _Stored: AddableType {
  /// Makes a sum of the stored sum; null if there were no values.
  static func sum(_ stored: Value, _ name: String) -> _Sum {
    _sum(of: ValueFold.typed(stored, name) ?? _Stored(_nearest: 0))
  }
}
