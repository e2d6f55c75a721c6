internal import TarnStore

/// A type of yours that properties can have, stored as another one that properties can have, which
/// may not fit every stored value.
///
///     struct Percentage: FailableCustomPersistable {
///       init?(persistedValue: Int) { … }
///       var persistableValue: Int { value }
///     }
///
/// Where the initializer gives nil, an optional property reads as nil and another one traps.
/// `PersistedType` is any type with one value (a number, `String`, `Data`, `Date`, an id, an enum)
/// or an embedded object's class; of that, a fresh unmanaged object is asked for at each write.
///
/// A property of the type can have an index, or be the primary key, if one of `PersistedType` can.
/// Numbers can be aggregated as what they are stored as.
///
/// Both members run at every read and write of the property, on the Realm's thread. They must not
/// use the Realm.
public protocol FailableCustomPersistable: _Persistable, _OptionalPersistable,
  _SortableElement, _StoredAs, _QueryComparable, _QueryStored
where _StoredType == PersistedType {
  /// The type that is stored.
  associatedtype PersistedType: _OptionalPersistable
  /// Makes a value of what is stored; nil if that stands for none.
  init?(persistedValue: PersistedType)
  /// What to store for this value.
  var persistableValue: PersistedType { get }
}

/// A type of yours that properties can have, stored as another one that properties can have.
///
///     extension URL: CustomPersistable {
///       init(persistedValue: String) { … }
///       var persistableValue: String { absoluteString }
///     }
///
/// A property without a value of its own has what the zero of `PersistedType` stands for. See
/// `FailableCustomPersistable` for stored values that stand for nothing.
public protocol CustomPersistable: FailableCustomPersistable {
  /// Makes a value of what is stored.
  init(persistedValue: PersistedType)
}

extension FailableCustomPersistable {
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
        "\(Self.self) has no value for \(zero): give its properties a default of their own.")
    }
    return value
  }
  public static func _insideDefault() -> Self { _default() }

  public static func _load(_ object: ObjectBase, _ column: UInt16) -> Self {
    // Null: the column is younger than the row.
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
