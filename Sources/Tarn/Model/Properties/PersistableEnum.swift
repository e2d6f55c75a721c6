import CTarn
import TarnStore

/// A custom enum for properties, stored as its raw value (an integer type, `String`, `Float` or
/// `Double`). A property without a declared default has the first case.
///
///     enum Mood: String, PersistableEnum { case calm, wild }
///
/// If no case has the stored value, reading gives nil for an optional property and traps for
/// others. So never remove a case that files may contain.
///
/// A synchronized Realm leaves out the server's values that are not in `allCases`, unless the
/// property is optional.
public protocol PersistableEnum: RawRepresentable, CaseIterable, Comparable, _Persistable,
  _OptionalPersistable, _Indexable, _SortableElement, _Aggregatable, _QueryComparable, _QueryStored,
  _StoredAsOther, _ValueLimiting
where
  RawValue: _PersistableScalar & Comparable, _StoredType == RawValue, _QueryValue == Self,
  _Compared == Self
{}

extension PersistableEnum {
  /// The raw value.
  public var _storedContent: Any? { rawValue }

  @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

  public static var _description: _ColumnDescription {
    var description = RawValue._description
    description.limiting = Self.self
    if Self(rawValue: RawValue._default()) == nil {
      description.initial = _default()._box().value
    }
    return description
  }
  public static var _optionalDescription: _ColumnDescription { RawValue._optionalDescription }
  public static var _limits: _ValueLimits {
    let cases = Set(allCases.map { $0._box().value })
    let none = RawValue._default()
    // A custom initializer may make a case of any raw value.
    let isOpen = !cases.contains(none._box().value) && Self(rawValue: none) != nil
    return isOpen ? raw : _ValueLimits(domain: .values(cases))
  }
  private static var raw: _ValueLimits {
    (RawValue.self as? any _ValueLimiting.Type)?._limits ?? _ValueLimits(domain: nil)
  }
  @inlinable public static func _default() -> Self { allCases[allCases.startIndex] }

  @inlinable
  public static func _load(_ object: ObjectBase, _ column: UInt16) -> Self {
    // Null: the column is newer than the row.
    guard let raw = RawValue._loadOptional(object, column) else { return _default() }
    guard let value = Self(rawValue: raw) else {
      // The same, after a neighbouring row got a value: older rows then have the raw type's zero.
      if raw == RawValue._default() { return _default() }
      object._noSuchCase(column, "\(raw)", "\(Self.self)")
    }
    return value
  }
  @inlinable
  public static func _loadOptional(_ object: ObjectBase, _ column: UInt16) -> Self? {
    RawValue._loadOptional(object, column).flatMap(Self.init(rawValue:))
  }
  @inlinable
  public static func _store(_ object: ObjectBase, _ column: UInt16, _ value: Self) {
    RawValue._store(object, column, value.rawValue)
  }
  @inlinable
  public static func _storeOptional(_ object: ObjectBase, _ column: UInt16, _ value: Self?) {
    RawValue._storeOptional(object, column, value?.rawValue)
  }
  @inlinable
  public static func _put(_ value: Self, _ object: ObjectBase, _ column: UInt16) {
    RawValue._put(value.rawValue, object, column)
  }
  @inlinable
  public static func _putOptional(_ value: Self?, _ object: ObjectBase, _ column: UInt16) {
    RawValue._putOptional(value?.rawValue, object, column)
  }
  public func _box() -> _BoxedValue { rawValue._box() }
  public static func _unbox(_ boxed: _BoxedValue) -> Self? {
    RawValue._unbox(boxed).flatMap(Self.init(rawValue:))
  }
  public static func _boxOptional(_ value: Self?) -> _BoxedValue {
    RawValue._boxOptional(value?.rawValue)
  }
  public static func _unboxOptional(_ boxed: _BoxedValue, _ fits: inout Bool) -> Self? {
    let value = _unbox(boxed)
    fits = value != nil || boxed.value == .null
    return value
  }
  public static func _canHold(_ boxed: _BoxedValue) -> Bool { RawValue._canHold(boxed) }
  public static func _canHoldOptional(_ boxed: _BoxedValue) -> Bool {
    RawValue._canHoldOptional(boxed)
  }
}

extension ObjectBase {
  @inline(never) @usableFromInline
  final func _noSuchCase(_ column: UInt16, _ value: String, _ type: String) -> Never {
    trap(
      """
      \(_propertyName(column)) holds \(value), which is no case of \(type). Add the case, or make \
      the property optional, which then reads as nil.
      """)
  }
}
