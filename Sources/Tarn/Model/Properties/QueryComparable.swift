public import Foundation
import TarnStore

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
