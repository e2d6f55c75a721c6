import CTarn
internal import TarnStore

/// Marks a property of an `Object` as stored.
///
///     @Persisted(primaryKey: true) var _id: ObjectId
///     @Persisted(indexed: true) var name = ""
///     @Persisted var born: Date?
///
/// On an unmanaged object the value is stored in the object. On a managed one each read comes from
/// the row at its Realm's version, and each assignment goes to the open write transaction. Reading
/// traps if the object is invalidated or on the wrong thread; assigning also traps outside of a
/// write.
@frozen @propertyWrapper
public struct Persisted<Value> {
  // The order saves space: the two numbers lie in the padding after most values.

  /// The unmanaged value; nil until it is first read or set, and once the object is managed. It is
  /// created lazily, so creating an object that only serves as a view costs nothing.
  public var _value: Value?
  /// The column of a managed object, written by ClassBinding; the largest number before that.
  public var _column: UInt16
  public var _flags: UInt8

  /// A property whose value is its type's default: zero, empty, nil, the first case of an enum; for
  /// an `ObjectId` or `UUID`, a new one for each object.
  @inlinable public init() where Value: _Persistable { self.init(nil, flags: 0) }
  /// A property with its own default.
  @inlinable public init(wrappedValue: Value) where Value: _Persistable {
    self.init(wrappedValue, flags: 0)
  }

  @inlinable init(_ value: Value?, flags: UInt8) {
    _value = value
    _column = .max
    _flags = flags
  }

  /// Never called: inside classes the subscript below is used instead.
  @available(*, unavailable, message: "@Persisted is for properties of Object classes")
  public var wrappedValue: Value {
    get { trap("@Persisted is for properties of Object classes") }
    set { trap("@Persisted is for properties of Object classes") }
  }

  // Both accessors must be always-inline: one out-of-line accessor keeps its key path literals
  // alive, and then every read of the property pays an exclusivity check, four times its cost.
  /// Called by the compiler for each read and write of a property.
  @inlinable
  public static subscript<O: ObjectBase>(
    _enclosingInstance object: O,
    wrapped wrapped: ReferenceWritableKeyPath<O, Value>,
    storage storage: ReferenceWritableKeyPath<O, Self>
  ) -> Value where Value: _Persistable {
    @inline(__always) get {
      if let context = unsafe object._context {
        unsafe object._validate(context)
        return Value._load(object, object[keyPath: storage]._column)
      }
      if let value = object[keyPath: storage]._value { return value }
      if object._state.contains(.tracing) {
        // In a closure, because otherwise the key path is created before the test: see above.
        return object._trace(object[keyPath: storage]._column) { wrapped }
      }
      let value = Value._default()
      object[keyPath: storage]._value = value
      return value
    }
    @inline(__always) set {
      if let context = unsafe object._context {
        unsafe object._validate(context)
        Value._store(object, object[keyPath: storage]._column, newValue)
      } else if Value._isCollection {
        let current = object[keyPath: storage]._value ?? Value._default()
        object[keyPath: storage]._value = current
        Value._replaceElements(of: current, with: newValue)
      } else if object._state.contains(.observed) {
        let telling = object._beginAssigning(object[keyPath: storage]._column)
        object[keyPath: storage]._value = newValue
        telling.finish()
      } else {
        object[keyPath: storage]._value = newValue
      }
    }
  }
}

// The compiler's messages for a property of an unsupported type. The struct itself has no
// constraint on its value, so that these are chosen.
extension Persisted {
  @available(
    *, unavailable,
    message: """
      this type cannot be stored. Use List<Element> for an array, MutableSet<Element> for a set, \
      Map<String, Value> for a dictionary, Int for an unsigned integer, an optional for an object, \
      PersistableEnum for an enum and CustomPersistable for a custom type
      """
  )
  /// Never called: for types that cannot be stored.
  public init() { trap("@Persisted needs a type that can be stored") }

  @available(
    *, unavailable,
    message: """
      this type cannot be stored. Use List<Element> for an array, MutableSet<Element> for a set, \
      Map<String, Value> for a dictionary, Int for an unsigned integer, an optional for an object, \
      PersistableEnum for an enum and CustomPersistable for a custom type
      """
  )
  /// Never called: for types that cannot be stored.
  public init(wrappedValue: Value) { trap("@Persisted needs a type that can be stored") }
}

extension Persisted where Value: _Persistable & _Indexable {
  /// A property with an index, which makes queries for equality, prefixes and ranges fast and each
  /// write slightly slower. Lists and maps within an `AnyRealmValue` are not indexed.
  @inlinable public init(indexed: Bool) {
    self.init(nil, flags: indexed ? _PropertyFlags.indexed : 0)
  }
  /// A property with an index and a default.
  @inlinable public init(wrappedValue: Value, indexed: Bool) {
    self.init(wrappedValue, flags: indexed ? _PropertyFlags.indexed : 0)
  }
}

extension Persisted where Value: _Persistable & _PrimaryKey {
  /// The primary key, which identifies an object within its class. At most one per class; it cannot
  /// change once the object is managed.
  @inlinable public init(primaryKey: Bool) {
    self.init(nil, flags: primaryKey ? _PropertyFlags.primaryKey : 0)
  }
  /// A primary key with a default.
  @inlinable public init(wrappedValue: Value, primaryKey: Bool) {
    self.init(wrappedValue, flags: primaryKey ? _PropertyFlags.primaryKey : 0)
  }
}

extension Persisted where Value: _Persistable & _Linking {
  /// A property that links to objects, with a rule for the linked objects when the object is
  /// deleted.
  @inlinable public init(onDelete rule: LinkDeleteRule) {
    self.init(nil, flags: rule == .cascade ? _PropertyFlags.cascade : 0)
  }
}

/// The treatment of the linked objects when the object with the property is deleted.
@frozen public enum LinkDeleteRule: Sendable {
  /// They stay.
  case nullify
  /// They are deleted too, even if others link to them. This happens only with the object: removing
  /// one from the property leaves it in the Realm.
  case cascade
}

/// A type that links to objects: an optional object, or a collection of objects.
public protocol _Linking {}

/// Bits of `Persisted._flags`.
public enum _PropertyFlags {
  /// The file keeps an index over the property.
  @inlinable public static var indexed: UInt8 { 1 }
  /// The property's value identifies the object within its class.
  @inlinable public static var primaryKey: UInt8 { 2 }
  /// Objects that the property links to are deleted with the object.
  @inlinable public static var cascade: UInt8 { 4 }
}

/// The interface of a wrapper in the storage of an object, for code that does not know its value's
/// type.
protocol AnyPersisted {
  static var description: _ColumnDescription { get }
  /// The place of the column number in the wrapper.
  static var columnOffset: Int { get }
  /// The type of the property.
  static var valueType: Any.Type { get }
  /// A value of that type in transit to the store, nil for one of another type.
  static func boxed(_ value: Any) -> _BoxedValue?
  /// Leaves an unmanaged object's property without a value.
  static func forget(at field: UnsafeMutableRawPointer)
  /// The wrapper's flags.
  static func flags(at field: UnsafeRawPointer) -> UInt8
  /// For LinkingObjects the property on the other side, else nil.
  static func originProperty(at field: UnsafeRawPointer) -> String?
  /// The property's value, of a managed or unmanaged object.
  static func read(_ object: ObjectBase, at field: UnsafeMutableRawPointer) -> Any
  static func readBoxed(_ object: ObjectBase, at field: UnsafeMutableRawPointer) -> _BoxedValue
  /// Sets the property; false if the value is not of its type.
  static func write(
    _ value: _BoxedValue, _ object: ObjectBase, at field: UnsafeMutableRawPointer
  ) -> Bool
  /// Gives a collection those elements.
  static func write(
    elements: any SequenceBacking, _ object: ObjectBase, at field: UnsafeMutableRawPointer)
  /// True if the column can hold the value (for a collection, the element), even if the property's
  /// type refuses it.
  static func canHold(_ boxed: _BoxedValue) -> Bool
  /// True if the value is valid in the property's type (for a collection, the element's type).
  static func fits(_ boxed: _BoxedValue) -> Bool
  /// True if the class gives a new object a value there.
  static func hasOwnDefault(at field: UnsafeRawPointer) -> Bool
  /// The value in the property's own type, nil for null and for a value of another type.
  static func unboxed(_ boxed: _BoxedValue) -> Any?
  /// Releases an unmanaged value that links to objects, and hands those over.
  static func giveUpLinks(at field: UnsafeMutableRawPointer, to pending: inout [ObjectBase])
  /// Moves the unmanaged value into the row under edit.
  static var mover: _Mover { get }
}

/// LinkingObjects of any element.
protocol AnyLinkingObjects {
  /// A collection with a traced object at every position.
  static func traced(_ element: ObjectBase) -> Self
  var originProperty: String { get }
}

extension Persisted: AnyPersisted where Value: _Persistable {
  static var description: _ColumnDescription { Value._description }
  static var mover: _Mover { unsafe Value._mover }

  static func unboxed(_ boxed: _BoxedValue) -> Any? {
    guard let value = Value._unbox(boxed) else { return nil }
    return Value._description.isOptional ? flattened(value) : value
  }
  static var columnOffset: Int { MemoryLayout<Self>.offset(of: \._column)! }
  static var valueType: Any.Type { Value.self }
  static func boxed(_ value: Any) -> _BoxedValue? { (value as? Value)?._box() }

  static func forget(at field: UnsafeMutableRawPointer) {
    unsafe field.assumingMemoryBound(to: Self.self).pointee._value = nil
  }

  static func flags(at field: UnsafeRawPointer) -> UInt8 {
    unsafe field.assumingMemoryBound(to: Self.self).pointee._flags
  }

  static func originProperty(at field: UnsafeRawPointer) -> String? {
    unsafe (field.assumingMemoryBound(to: Self.self).pointee._value as? any AnyLinkingObjects)?
      .originProperty
  }

  private static func value(
    _ object: ObjectBase, at field: UnsafeMutableRawPointer
  ) -> Value {
    let wrapper = unsafe field.assumingMemoryBound(to: Self.self)
    if let context = unsafe object._context {
      unsafe object._validate(context)
      return unsafe Value._load(object, wrapper.pointee._column)
    }
    if let value = unsafe wrapper.pointee._value { return value }
    let value = Value._default()
    unsafe wrapper.pointee._value = value
    return value
  }

  static func read(_ object: ObjectBase, at field: UnsafeMutableRawPointer) -> Any {
    unsafe value(object, at: field)
  }

  static func readBoxed(_ object: ObjectBase, at field: UnsafeMutableRawPointer) -> _BoxedValue {
    unsafe value(object, at: field)._box()
  }

  private static func assign(
    _ value: Value, _ object: ObjectBase, at field: UnsafeMutableRawPointer
  ) {
    let wrapper = unsafe field.assumingMemoryBound(to: Self.self)
    if let context = unsafe object._context {
      unsafe object._validate(context)
      unsafe Value._store(object, wrapper.pointee._column, value)
    } else if Value._isCollection {
      unsafe Value._replaceElements(of: Self.value(object, at: field), with: value)
    } else if object._state.contains(.observed) {
      let telling = unsafe object._beginAssigning(wrapper.pointee._column)
      unsafe wrapper.pointee._value = value
      telling.finish()
    } else {
      unsafe wrapper.pointee._value = value
    }
  }

  static func write(
    _ value: _BoxedValue, _ object: ObjectBase, at field: UnsafeMutableRawPointer
  ) -> Bool {
    if let value = Value._unbox(value) {
      unsafe assign(value, object, at: field)
    } else if value.value == .null, value.object == nil, !Value._isCollection,
      Value._description.type == .link
    {
      // A custom type that is stored as an embedded object, which may be missing.
      unsafe assign(Value._default(), object, at: field)
    } else {
      return false
    }
    return true
  }

  static func write(
    elements: any SequenceBacking, _ object: ObjectBase, at field: UnsafeMutableRawPointer
  ) {
    guard let value = Value._collection(_SequenceHandle(elements)) else {
      trap("internal error: '\(Value.self)' is not a collection")
    }
    unsafe assign(value, object, at: field)
  }

  static func canHold(_ boxed: _BoxedValue) -> Bool { Value._canHold(boxed) }
  static func fits(_ boxed: _BoxedValue) -> Bool { Value._fits(boxed) }
  static func hasOwnDefault(at field: UnsafeRawPointer) -> Bool {
    unsafe field.assumingMemoryBound(to: Self.self).pointee._value != nil
  }
}

@available(*, unavailable, message: "it is part of its object: pass a ThreadSafeReference to that")
extension Persisted: Sendable {}
