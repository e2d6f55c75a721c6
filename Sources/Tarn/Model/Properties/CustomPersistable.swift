internal import TarnStore

/// A custom type for properties, stored as another persistable type, some of whose values it may
/// refuse.
///
///     struct Percentage: FailableCustomPersistable {
///       init?(persistedValue: Int) { … }
///       var persistableValue: Int { value }
///     }
///
/// If the initializer returns nil, an optional property reads as nil and any other traps.
/// `PersistedType` is any type with one value (a number, `String`, `Data`, `Date`, an id, an enum)
/// or the class of an embedded object; in that case each write needs a fresh unmanaged object.
///
/// A property of the type can be indexed, or be the primary key, if one of `PersistedType` can.
/// Numbers are aggregated as their stored values.
///
/// Both members run at every read and write of the property, on the Realm's thread. They must not
/// use the Realm.
public protocol FailableCustomPersistable: _Persistable, _OptionalPersistable,
  _SortableElement, _Aggregatable, _QueryComparable, _QueryStored, _StoredAsOther
where _StoredType == PersistedType {
  /// The type that is stored.
  associatedtype PersistedType: _OptionalPersistable
  /// Makes a value from the stored one; nil to refuse it.
  init?(persistedValue: PersistedType)
  /// The stored value of this one.
  var persistableValue: PersistedType { get }
}

/// A custom type for properties, stored as another persistable type.
///
///     extension URL: CustomPersistable {
///       init(persistedValue: String) { … }
///       var persistableValue: String { absoluteString }
///     }
///
/// A property without a default value has the value made from the zero of `PersistedType`. Use
/// `FailableCustomPersistable` if some stored values must be refused.
public protocol CustomPersistable: FailableCustomPersistable {
  /// Makes a value from the stored one.
  init(persistedValue: PersistedType)
}

extension FailableCustomPersistable {
  /// The stored value, or the content of it.
  public var _storedContent: Any? { storedContent(of: persistableValue) }

  public static var _description: _ColumnDescription { PersistedType._insideDescription }
  public static var _insideDescription: _ColumnDescription { PersistedType._insideDescription }
  public static var _optionalDescription: _ColumnDescription {
    PersistedType._optionalDescription
  }

  /// Elements of lists and sets are never nil, embedded objects included.
  public static var _elementDescription: _ColumnDescription {
    var description = PersistedType._insideDescription
    description.isOptional = false
    return description
  }

  public static func _default() -> Self {
    let zero = PersistedType._insideDefault()
    guard let value = Self(persistedValue: zero) else {
      trap(
        "\(Self.self) has no value for \(zero): give its properties their own default.")
    }
    return value
  }
  public static func _insideDefault() -> Self { _default() }

  public static func _load(_ object: ObjectBase, _ column: UInt16) -> Self {
    // Null: the column is newer than the row.
    guard let stored = PersistedType._loadOptional(object, column) else { return _default() }
    guard let value = Self(persistedValue: stored) else {
      object._noSuchValue(column, "\(stored)", "\(Self.self)")
    }
    return value
  }
  public static func _loadOptional(_ object: ObjectBase, _ column: UInt16) -> Self? {
    PersistedType._loadOptional(object, column).flatMap { Self(persistedValue: $0) }
  }

  public static func _store(_ object: ObjectBase, _ column: UInt16, _ value: Self) {
    PersistedType._storeOptional(object, column, value.persistableValue)
  }
  public static func _storeOptional(_ object: ObjectBase, _ column: UInt16, _ value: Self?) {
    PersistedType._storeOptional(object, column, value?.persistableValue)
  }
  public static func _put(_ value: Self, _ object: ObjectBase, _ column: UInt16) {
    PersistedType._putOptional(value.persistableValue, object, column)
  }
  public static func _putOptional(_ value: Self?, _ object: ObjectBase, _ column: UInt16) {
    PersistedType._putOptional(value?.persistableValue, object, column)
  }

  public func _box() -> _BoxedValue { PersistedType._boxOptional(persistableValue) }
  public static func _unbox(_ boxed: _BoxedValue) -> Self? {
    var fits = true
    return PersistedType._unboxOptional(boxed, &fits).flatMap { Self(persistedValue: $0) }
  }

  public static func _boxOptional(_ value: Self?) -> _BoxedValue {
    PersistedType._boxOptional(value?.persistableValue)
  }
  public static func _unboxOptional(_ boxed: _BoxedValue, _ fits: inout Bool) -> Self? {
    let stored = PersistedType._unboxOptional(boxed, &fits)
    let value = stored.flatMap { Self(persistedValue: $0) }
    if stored != nil, value == nil { fits = false }
    return value
  }
  public static func _canHold(_ boxed: _BoxedValue) -> Bool {
    (boxed.object != nil || boxed.value != .null) && PersistedType._canHoldOptional(boxed)
  }
  public static func _canHoldOptional(_ boxed: _BoxedValue) -> Bool {
    PersistedType._canHoldOptional(boxed)
  }
}

extension ObjectBase {
  @inline(never)
  final func _noSuchValue(_ column: UInt16, _ value: String, _ type: String) -> Never {
    trap(
      """
      \(_propertyName(column)) holds \(value), of which no \(type) can be made. Make the property \
      optional, which then reads as nil.
      """)
  }
}
