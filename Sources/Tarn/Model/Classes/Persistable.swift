public import CTarn
import TarnStore

/// A type that a `@Projected` property can have: that of a `@Persisted` property, or a
/// ``ProjectedCollection``.
///
/// The column passed to these functions is the one in the file; the object is managed and has just
/// been validated.
public protocol _Projectable {
  static func _load(_ object: ObjectBase, _ column: UInt16) -> Self
  /// Assigns in the open write transaction, through the core if that must be informed.
  static func _store(_ object: ObjectBase, _ column: UInt16, _ value: Self)
}

/// The type of a property as one side of a comparison in queries. A list or set stands for its
/// elements: the comparison is true if it is true of some element.
public protocol _QueryOperand {
  /// The type of the values to compare with: of a list or set, the type of its elements.
  associatedtype _QueryValue = Self
  /// Properties compare with each other if this is the same: of an optional, the type in it.
  associatedtype _Compared = Self
  /// True for a collection that stands for its elements.
  static var _isComparedByElement: Bool { get }
}

extension _QueryOperand {
  public static var _isComparedByElement: Bool { false }
}

extension Optional: _QueryOperand where Wrapped: _OptionalPersistable {
  public typealias _Compared = Wrapped
}

/// A type that a `@Persisted` property can have. The library provides the conformances; custom
/// enums conform to `PersistableEnum`.
public protocol _Persistable: _Projectable, _QueryOperand {
  /// The storage of values of this type.
  static var _description: _ColumnDescription { get }
  /// The value of a property without a default value.
  static func _default() -> Self
  /// Writes into the row under edit, without any checks.
  static func _put(_ value: Self, _ object: ObjectBase, _ column: UInt16)
  static var _mover: _Mover { get }
  /// True for collections, whose elements are replaced when one is assigned.
  static var _isCollection: Bool { get }
  /// Replaces the elements of `current`, the value of an unmanaged object's property, by those of
  /// `value`.
  static func _replaceElements(of current: Self, with value: Self)
  func _box() -> _BoxedValue
  /// Nil if the value is not of this type.
  static func _unbox(_ boxed: _BoxedValue) -> Self?
  /// True if a column of this type can hold the value (for a collection, the element), even one
  /// that the type refuses, such as an unknown raw value of an enum.
  static func _canHold(_ boxed: _BoxedValue) -> Bool
  /// True if the value is of this type (for a collection, the element).
  static func _fits(_ boxed: _BoxedValue) -> Bool
  /// The collection of this type with those elements; nil for other types.
  static func _collection(_ elements: _SequenceHandle) -> Self?
}

extension _Persistable {
  @inlinable public static var _isCollection: Bool { false }
  public static func _replaceElements(of current: Self, with value: Self) {}
  public static func _canHold(_ boxed: _BoxedValue) -> Bool { _fits(boxed) }
  public static func _fits(_ boxed: _BoxedValue) -> Bool { _unbox(boxed) != nil }
  public static func _collection(_ elements: _SequenceHandle) -> Self? { nil }
}

/// A type that is persistable if optional: the scalar types and objects.
public protocol _OptionalPersistable {
  static var _optionalDescription: _ColumnDescription { get }
  /// The storage of a value that is always present; for an object still an optional link.
  static var _insideDescription: _ColumnDescription { get }
  /// The zero of the type; for a class a new unmanaged object.
  static func _insideDefault() -> Self
  static func _loadOptional(_ object: ObjectBase, _ column: UInt16) -> Self?
  static func _storeOptional(_ object: ObjectBase, _ column: UInt16, _ value: Self?)
  static func _putOptional(_ value: Self?, _ object: ObjectBase, _ column: UInt16)
  static var _optionalMover: _Mover { get }
  static func _boxOptional(_ value: Self?) -> _BoxedValue
  /// Sets `fits` to false if the value is neither null nor of this type.
  static func _unboxOptional(_ boxed: _BoxedValue, _ fits: inout Bool) -> Self?
  /// True if an optional column of this type can hold the value, null included.
  static func _canHoldOptional(_ boxed: _BoxedValue) -> Bool
}

extension _OptionalPersistable {
  public static func _canHoldOptional(_ boxed: _BoxedValue) -> Bool {
    var fits = true
    _ = _unboxOptional(boxed, &fits)
    return fits
  }
}

extension _OptionalPersistable where Self: _Persistable {
  public static var _insideDescription: _ColumnDescription { _description }
  public static func _insideDefault() -> Self { _default() }

  @inlinable
  public static var _optionalMover: _Mover {
    { wrapper, object, column in
      let wrapper = unsafe wrapper.assumingMemoryBound(to: Persisted<Self?>.self)
      unsafe _putOptional(wrapper.pointee._value ?? nil, object, column)
      unsafe wrapper.pointee._value = .none
      unsafe wrapper.pointee._column = column
    }
  }
}

/// Moves an unmanaged value out of its wrapper into its object's new row under edit. It is a
/// function for one type, fetched once for each property: a call through a protocol would look up
/// the generic wrapper's metadata for every value.
public typealias _Mover = (
  _ wrapper: UnsafeMutableRawPointer, _ object: ObjectBase, _ column: UInt16
) -> Void

/// A type that can be indexed.
public protocol _Indexable {}
/// A type that can be a primary key.
public protocol _PrimaryKey {}

extension Optional: _Indexable where Wrapped: _Indexable {}
extension Optional: _PrimaryKey where Wrapped: _PrimaryKey {}

/// A value in transit between typed properties and the store.
public struct _BoxedValue {
  var value: Value
  /// The object of a link; `value` then is its key, or null while it is unmanaged.
  var object: ObjectBase?
  /// The list or map in an `AnyRealmValue`.
  var nested: (any SequenceBacking)?

  init(_ value: Value, object: ObjectBase? = nil, nested: (any SequenceBacking)? = nil) {
    self.value = value
    self.object = object
    self.nested = nested
  }
}

/// A type that has fewer values than a column of its type.
public protocol _ValueLimiting {
  static var _limits: _ValueLimits { get }
}

/// The values that a type has.
public struct _ValueLimits {
  /// Nil if it has all that a column can have.
  let domain: ValueDomain?
}

/// The storage of a property.
public struct _ColumnDescription {
  /// For a collection, this and the rest describe the elements.
  var type: ColumnType
  var collection = CollectionKind.none
  var isOptional = false
  /// The class that a link or LinkingObjects points to.
  var target: ObjectBase.Type?
  /// LinkingObjects: nothing is stored.
  var isComputed = false
  /// The value in objects that are older than the property, if the type's zero is not valid.
  var initial: Value?
  /// The type that limits its values, if it has fewer than the column.
  var limiting: (any _ValueLimiting.Type)?

  init(
    _ type: ColumnType, isOptional: Bool = false, target: ObjectBase.Type? = nil,
    isComputed: Bool = false, limiting: (any _ValueLimiting.Type)? = nil
  ) {
    self.limiting = limiting
    self.type = type
    self.isOptional = isOptional
    self.target = target
    self.isComputed = isComputed
  }

  var optional: _ColumnDescription {
    var description = self
    description.isOptional = true
    description.initial = nil
    return description
  }

  /// A collection of such elements.
  func collected(_ kind: CollectionKind) -> _ColumnDescription {
    var description = self
    description.collection = kind
    description.initial = nil
    return description
  }
}

/// The result of loads from a cluster: a value and whether it counts.
public protocol _LoadedValue {
  var state: tarn_state { get }
}
extension tarn_int: _LoadedValue {}
extension tarn_bool: _LoadedValue {}
extension tarn_float: _LoadedValue {}
extension tarn_double: _LoadedValue {}
extension tarn_date: _LoadedValue {}
extension tarn_bytes: _LoadedValue {}
extension tarn_bytes12: _LoadedValue {}
extension tarn_bytes16: _LoadedValue {}

/// A type with one value in a column: everything but links follows from its reads and writes.
public protocol _PersistableScalar: _Persistable, _OptionalPersistable
where _QueryValue == Self, _Compared == Self {
  associatedtype _Loaded: _LoadedValue
  /// The stored value; for null the type's zero.
  static func _raw(_ object: ObjectBase, _ column: UInt16) -> _Loaded
  static func _make(_ raw: _Loaded, _ object: ObjectBase, _ column: UInt16) -> Self
}

extension _PersistableScalar {
  @inlinable @inline(__always)
  public static func _load(_ object: ObjectBase, _ column: UInt16) -> Self {
    _make(_raw(object, column), object, column)
  }

  @inlinable @inline(__always)
  public static func _loadOptional(_ object: ObjectBase, _ column: UInt16) -> Self? {
    let raw = _raw(object, column)
    return raw.state == TARN_STATE_NULL ? nil : _make(raw, object, column)
  }

  @inlinable @inline(__always)
  public static func _store(_ object: ObjectBase, _ column: UInt16, _ value: Self) {
    if object._isWarm(column) {
      _put(value, object, column)
    } else {
      object._set(column, value._box())
    }
  }

  @inlinable @inline(__always)
  public static func _storeOptional(_ object: ObjectBase, _ column: UInt16, _ value: Self?) {
    if object._isWarm(column) {
      _putOptional(value, object, column)
    } else {
      object._set(column, _boxOptional(value))
    }
  }

  @inlinable
  public static func _putOptional(_ value: Self?, _ object: ObjectBase, _ column: UInt16) {
    if let value { _put(value, object, column) } else { object._putNull(column) }
  }

  public static var _optionalDescription: _ColumnDescription { _description.optional }

  @inlinable
  public static var _optionalMover: _Mover {
    { wrapper, object, column in
      let wrapper = unsafe wrapper.assumingMemoryBound(to: Persisted<Self?>.self)
      if case .some(.some(let value)) = unsafe wrapper.pointee._value {
        _put(value, object, column)
      } else {
        object._putNull(column)
      }
      unsafe wrapper.pointee._value = .none
      unsafe wrapper.pointee._column = column
    }
  }

  public static func _boxOptional(_ value: Self?) -> _BoxedValue {
    value?._box() ?? _BoxedValue(.null)
  }

  public static func _unboxOptional(_ boxed: _BoxedValue, _ fits: inout Bool) -> Self? {
    let value = _unbox(boxed)
    fits = value != nil || boxed.value == .null
    return value
  }
}

extension Optional: _Projectable where Wrapped: _OptionalPersistable {}

extension Optional: _Persistable where Wrapped: _OptionalPersistable {
  public static var _description: _ColumnDescription { Wrapped._optionalDescription }
  @inlinable public static func _default() -> Self { nil }

  @inlinable @inline(__always)
  public static func _load(_ object: ObjectBase, _ column: UInt16) -> Self {
    Wrapped._loadOptional(object, column)
  }
  @inlinable @inline(__always)
  public static func _store(_ object: ObjectBase, _ column: UInt16, _ value: Self) {
    Wrapped._storeOptional(object, column, value)
  }
  @inlinable
  public static func _put(_ value: Self, _ object: ObjectBase, _ column: UInt16) {
    Wrapped._putOptional(value, object, column)
  }
  public static var _mover: _Mover { unsafe Wrapped._optionalMover }
  public func _box() -> _BoxedValue { Wrapped._boxOptional(self) }
  public static func _unbox(_ boxed: _BoxedValue) -> Self? {
    var fits = true
    let value = Wrapped._unboxOptional(boxed, &fits)
    return fits ? .some(value) : nil
  }
  public static func _canHold(_ boxed: _BoxedValue) -> Bool { Wrapped._canHoldOptional(boxed) }
}

extension _Persistable {
  @inlinable
  public static var _mover: _Mover {
    { wrapper, object, column in
      let wrapper = unsafe wrapper.assumingMemoryBound(to: Persisted<Self>.self)
      unsafe _put(wrapper.pointee._value ?? _default(), object, column)
      unsafe wrapper.pointee._value = nil
      unsafe wrapper.pointee._column = column
    }
  }
}

/// A value that is stored as another one: an enum, a custom type, or an `AnyRealmValue`.
public protocol _StoredAsOther {
  /// The stored value; nil for nil.
  var _storedContent: Any? { get }
}

/// A value as it is read by name: with its stored type, so that the program's class makes no
/// difference.
///
/// - Returns: the value without optionals, the raw value of an enum, the stored value of a custom
///   type, the content of an `AnyRealmValue`; nil for nil.
func storedContent(of value: Any) -> Any? {
  guard let content = flattened(value) else { return nil }
  if let other = content as? any _StoredAsOther { return other._storedContent }
  return content
}
