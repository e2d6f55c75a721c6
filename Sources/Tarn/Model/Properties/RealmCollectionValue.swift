public import Foundation
import TarnStore

/// A type that a `List`, a `MutableSet` or a `Map` can hold: any property type, with objects as
/// they are, and optionals of scalar types. The library provides the conformances; enums conform
/// through `PersistableEnum`.
public protocol RealmCollectionValue: Hashable, SendableMetatype {
  /// Of an optional, the type in it: where key paths of a map with such values begin.
  associatedtype _Unwrapped = Self
  /// How elements of this type are stored.
  static var _elementDescription: _ColumnDescription { get }
  func _boxElement() -> _BoxedValue
  /// Nil if the value is not of this type.
  static func _unboxElement(_ boxed: _BoxedValue) -> Self?
  /// True if a collection of such elements can hold the value, even if this type refuses it.
  static func _canHoldElement(_ boxed: _BoxedValue) -> Bool
  /// The fast path for whole numbers; nil for other types, and for a number that does not fit.
  static func _element(ofNumber number: Int64) -> Self?
  /// True for classes of objects.
  static var _isObject: Bool { get }
  /// The object in its own type. Traps for types that are not classes.
  static func _element(of object: ObjectBase) -> Self
}

/// A type of elements that have an order and are compared by value: everything but objects.
public protocol _SortableElement: RealmCollectionValue {}

extension RealmCollectionValue {
  @inlinable public static func _element(ofNumber number: Int64) -> Self? { nil }
  @inlinable public static var _isObject: Bool { false }
  public static func _canHoldElement(_ boxed: _BoxedValue) -> Bool { _unboxElement(boxed) != nil }
  public static func _element(of object: ObjectBase) -> Self {
    trap("internal error: an object is not a '\(Self.self)'")
  }
  /// Traps for a value that no such type has.
  @usableFromInline static func _element(ofBoxed boxed: _BoxedValue) -> Self {
    typedElement(boxed)
  }
}

extension RealmCollectionValue where Self: _Persistable {
  public static var _elementDescription: _ColumnDescription { _description }
  public func _boxElement() -> _BoxedValue { _box() }
  public static func _unboxElement(_ boxed: _BoxedValue) -> Self? { _unbox(boxed) }
  public static func _canHoldElement(_ boxed: _BoxedValue) -> Bool { _canHold(boxed) }
}

extension RealmCollectionValue where Self: _PersistableInteger {
  @inlinable @inline(__always)
  public static func _element(ofNumber number: Int64) -> Self? { Self(exactly: number) }
}

extension Int: _SortableElement {}
extension Int8: _SortableElement {}
extension Int16: _SortableElement {}
extension Int32: _SortableElement {}
extension Int64: _SortableElement {}
extension Bool: _SortableElement {}
extension Float: _SortableElement {}
extension Double: _SortableElement {}
extension String: _SortableElement {}
extension Data: _SortableElement {}
extension Date: _SortableElement {}
extension ObjectId: _SortableElement {}
extension Decimal128: _SortableElement {}
extension UUID: _SortableElement {}
extension Optional: RealmCollectionValue where Wrapped: _OptionalPersistable & Hashable {
  public typealias _Unwrapped = Wrapped
}
extension Optional: _SortableElement where Wrapped: _OptionalPersistable & _SortableElement {}

extension ObjectBase: RealmCollectionValue {
  public static var _elementDescription: _ColumnDescription {
    _ColumnDescription(.link, target: self)
  }

  public func _boxElement() -> _BoxedValue {
    let isManaged = unsafe _context != nil
    return _BoxedValue(isManaged ? .link(ObjectKey(_key)) : .null, object: self)
  }

  public static func _unboxElement(_ boxed: _BoxedValue) -> Self? { boxed.object as? Self }

  @inlinable public static var _isObject: Bool { true }
  @inlinable public static func _element(of object: ObjectBase) -> Self {
    unsafe unsafeDowncast(object, to: Self.self)
  }
}

/// An element in the type that its collection declares. An optional one is nil for a value that its
/// type refuses, like a property. Traps for a value that no such type has.
///
/// - Parameter title: the collection, for the message.
/// - Parameter title: whose element it is, for the message.
func typedElement<Element: RealmCollectionValue>(
  _ boxed: _BoxedValue, _ title: @autoclosure () -> String = "a collection"
) -> Element {
  guard let element = Element._unboxElement(boxed) else {
    if Element._elementDescription.isOptional, Element._canHoldElement(boxed),
      let none = Element._unboxElement(_BoxedValue(.null))
    {
      return none
    }
    // A map's value whose object was deleted.
    if boxed.value == .null, let type = Element.self as? any FailableCustomPersistable.Type,
      type._description.type == .link, let element = type._default() as? Element
    {
      return element
    }
    trap(
      """
      \(boxed.value) in \(title()) is no '\(Element.self)': a program whose model \
      declares another type wrote it, or an enum has lost a case. Give the enum its case back, or \
      declare the elements as what is stored.
      """)
  }
  return element
}

extension RealmCollectionValue {
  /// The type of elements in the text of a collection: the name of a class, or of a stored type.
  static var textOfType: String {
    guard self is ObjectBase.Type || self is any _Persistable.Type else { return "\(Self.self)" }
    let description = _elementDescription
    if let target = description.target { return ClassReflection.name(of: target) }
    return PropertyType(rawValue: Int(description.type.rawValue))?.description ?? "\(Self.self)"
  }
}
