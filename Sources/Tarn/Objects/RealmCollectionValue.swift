public import Foundation
import TarnStore

/// A type whose values a `List`, a `MutableSet` or a `Map` can hold: what a property can be, with
/// objects as they are, and optionals of scalar types. Conformances come with the library; enums
/// conform through `PersistableEnum`.
public protocol RealmCollectionValue: Hashable {
  /// How elements of this type are stored.
  static var _elementDescription: _ColumnDescription { get }
  func _boxElement() -> _BoxedValue
  /// Nil if the value is not of this type.
  static func _unboxElement(_ boxed: _BoxedValue) -> Self?
  /// The quick way for whole numbers; nil for other types, and for a number that does not fit.
  static func _element(ofNumber number: Int64) -> Self?
}

extension RealmCollectionValue {
  @inlinable public static func _element(ofNumber number: Int64) -> Self? { nil }
}

extension RealmCollectionValue where Self: _Persistable {
  public static var _elementDescription: _ColumnDescription { _description }
  public func _boxElement() -> _BoxedValue { _box() }
  public static func _unboxElement(_ boxed: _BoxedValue) -> Self? { _unbox(boxed) }
}

extension RealmCollectionValue where Self: _PersistableInteger {
  @inlinable @inline(__always)
  public static func _element(ofNumber number: Int64) -> Self? { Self(exactly: number) }
}

extension Int: RealmCollectionValue {}
extension Int8: RealmCollectionValue {}
extension Int16: RealmCollectionValue {}
extension Int32: RealmCollectionValue {}
extension Int64: RealmCollectionValue {}
extension Bool: RealmCollectionValue {}
extension Float: RealmCollectionValue {}
extension Double: RealmCollectionValue {}
extension String: RealmCollectionValue {}
extension Data: RealmCollectionValue {}
extension Date: RealmCollectionValue {}
extension ObjectId: RealmCollectionValue {}
extension Decimal128: RealmCollectionValue {}
extension UUID: RealmCollectionValue {}
extension Optional: RealmCollectionValue where Wrapped: _OptionalPersistable & Hashable {}

extension ObjectBase: RealmCollectionValue {
  public static var _elementDescription: _ColumnDescription {
    _ColumnDescription(.link, target: self)
  }

  public func _boxElement() -> _BoxedValue {
    let isManaged = _context != nil
    return _BoxedValue(isManaged ? .link(ObjectKey(_key)) : .null, object: self)
  }

  public static func _unboxElement(_ boxed: _BoxedValue) -> Self? { boxed.object as? Self }
}
