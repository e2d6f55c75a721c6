public import CTarn
import TarnStore

/// The common base of all persistent objects: whether an object belongs to a Realm, and its row.
///
/// An object is **unmanaged** from its creation until it is added to a Realm: an ordinary Swift
/// object that holds its own properties. A **managed** object is a live view of a row: each read
/// is at its Realm's version, and it must only be used where its Realm may be used. Both kinds are
/// the same class, and adding turns one into the other.
///
/// Derive models from `Object` or `EmbeddedObject`, not from this class.
@safe open class ObjectBase: CustomStringConvertible, CustomReflectable {
  // The path of a read: `_validate` compares `_generation` and the running thread with the
  // Realm's context; if both agree, `_image` and `_slot` locate the row and a property is one load
  // from there. Otherwise `_locate` updates these fields or traps.
  // While a transaction edits the row, `_image` is an image without columns: every load from it
  // reports "slow", and the slow path reads from `_working`.
  //
  // All of them are final and unchecked, and used only by inlinable code of this module: that is
  // what keeps a read at a few nanoseconds in the client. The fields that are not pointers are
  // marked as safe: exclusivity cannot be violated, because no access to them runs other code.

  /// The Realm instance's generation and thread; nil while unmanaged. Lives as long as `_instance`.
  @exclusivity(unchecked) @usableFromInline
  final var _context: UnsafeMutablePointer<tarn_context>?
  /// The generation for which `_image`, `_slot` and `_working` are valid.
  @safe @exclusivity(unchecked) @usableFromInline final var _generation: UInt64 = 0
  @exclusivity(unchecked) @usableFromInline final var _image: UnsafeRawPointer?
  /// The object key, since the object became managed.
  @safe @exclusivity(unchecked) @usableFromInline final var _key: Int64 = 0
  /// The row's slot, in `_image` or in `_working`.
  @safe @exclusivity(unchecked) @usableFromInline final var _slot: UInt32 = 0
  @safe @exclusivity(unchecked) @usableFromInline final var _state = _ObjectState()
  /// Columns (the first 64) that may be set directly, for `_generation`: the instance has noted
  /// them as touched and they need no update of indexes or links.
  @safe @exclusivity(unchecked) @usableFromInline final var _warmColumns: UInt64 = 0
  @safe @exclusivity(unchecked) @usableFromInline final var _instance: Instance?
  /// The cluster under edit that holds the row, for `_generation`. The open write retains it.
  ///
  /// It does not dangle: it is used only after `_validate`, and every release of such a cluster
  /// calls `rowsMoved`, which ends that generation, before any code can use an accessor again.
  /// These releases are `ClassEdit.seal` for one cluster; `WriteSession.clear` for those of a
  /// class; and for all of them the ends of a write, `RealmCore.endSession` and `Migration.end`. A
  /// write that outlives its instance has no accessors, because they retain the instance. Debug
  /// builds check it at each use.
  @exclusivity(unchecked) final var _working: Unmanaged<WorkingCluster>?
  @safe @exclusivity(unchecked) final var _binding: ClassBinding?
  /// The number of invalidations of the Realm when the object became managed.
  @safe @exclusivity(unchecked) final var _life: UInt32 = 0
  /// The write that made the row, while it was open: cancelling it invalidates the object.
  @safe @exclusivity(unchecked) final var _createdInWrite: WriteMark?

  /// Creates an unmanaged object; properties have their defaults.
  public required init() {}

  deinit {
    if !_state.isDisjoint(with: [.unlinksWhenItGoes, .observed]) { letGo() }
  }

  private func letGo() {
    if _state.contains(.observed) { _endObservers() }
    if _state.contains(.unlinksWhenItGoes) { unlink() }
  }

  /// The name of the class in files: without module and enclosing types, unless overridden.
  open class func className() -> String { ClassReflection.unqualifiedName(of: self) }

  /// The primary key that the class itself names.
  class var _primaryKeyName: String? { nil }
  /// True for classes whose objects belong to one other object.
  class var _isOfEmbedded: Bool { false }

  /// Names of `@Persisted` properties that are not stored.
  open class func ignoredProperties() -> [String] { [] }

  /// Names of properties to index besides those marked `@Persisted(indexed: true)`.
  open class func indexedProperties() -> [String] { [] }

  /// Combinations of properties that must be unique within the class, such as
  /// `[["city", "street", "number"]]`; one with a single property makes that property unique.
  ///
  /// The file enforces the rule for every process and program: a commit after which two objects had
  /// the same combination throws ``Realm/Error/Code/notUnique``, and the write is rolled back. The
  /// rule is not checked within a write, so objects may swap their values. Objects with nil in one
  /// of the properties are exempt, as in SQL. Any property can be used except collections and
  /// `AnyRealmValue`; strings are compared bytewise.
  ///
  /// A rule that a program adds to a file stays there until a migration removes it. It is added
  /// when the file is opened, which fails if objects violate it.
  open class func uniqueProperties() -> [[String]] { [] }

  /// Column names in files for properties that have another name in the program.
  open class func propertiesMapping() -> [String: String] { [:] }

  /// False keeps the class out of Realms that do not list their `objectTypes`.
  open class func shouldIncludeInDefaultSchema() -> Bool { true }

  /// The class and the values of its stored properties, one per line; linked objects are indented,
  /// up to a depth of five. For logs and debuggers, not for parsing. A deleted or invalidated
  /// object has no values and says so.
  open var description: String { TextDump.text { $0.append(self) } }

  /// The content for `dump` and debuggers: the values of the stored properties, or nothing for a
  /// deleted or invalidated object.
  open var customMirror: Mirror { mirrorOfProperties }
}

/// The state of an object, apart from its row.
@frozen public struct _ObjectState: OptionSet, Sendable {
  /// The set as bits.
  public let rawValue: UInt32
  /// A set of those bits.
  @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The row was permanently deleted or the Realm was invalidated.
  static let invalidated = _ObjectState(rawValue: 1)
  /// Belongs to a frozen Realm: the object never changes, because any thread may read it.
  static let frozen = _ObjectState(rawValue: 2)
  /// An unmanaged object that reports which of its properties are read.
  @inlinable static var tracing: _ObjectState { _ObjectState(rawValue: 4) }
  /// An unmanaged object with observed properties.
  @inlinable static var observed: _ObjectState { _ObjectState(rawValue: 8) }
  /// A copy that links to further ones, possibly a long chain.
  static let unlinksWhenItGoes = _ObjectState(rawValue: 32)
}

extension ObjectBase {
  /// Thread and generation in one branch, before every read and write of a managed object.
  @inlinable @inline(__always)
  final func _validate(_ context: UnsafeMutablePointer<tarn_context>) {
    let moved = unsafe context.pointee.generation ^ _generation
    let elsewhere = unsafe UInt64(context.pointee.thread ^ tarn_thread_id())
    if moved | elsewhere != 0 { _locate() }
  }

  /// True if the column may be set without asking the instance; only right after `_validate`.
  @inlinable @inline(__always)
  final func _isWarm(_ column: UInt16) -> Bool {
    column < 64 && _warmColumns & (1 &<< UInt64(truncatingIfNeeded: column)) != 0
  }

  /// The slow path of an assignment to a managed object: calls the instance, then writes.
  @inline(never) @usableFromInline
  final func _set(_ column: UInt16, _ boxed: _BoxedValue) {
    let instance = _instance!
    if let properties = instance.properties {
      _assigning(ColumnID(column), in: instance, properties) {
        set(column, boxed, in: instance, warms: $0)
      }
    } else {
      set(column, boxed, in: instance, warms: instance.tracking == nil)
    }
  }

  /// - Parameter warms: whether later assignments need not call the instance.
  @inline(__always)
  private final func set(
    _ column: UInt16, _ boxed: _BoxedValue, in instance: Instance, warms: Bool
  ) {
    let id = ColumnID(column)
    let binding = _binding!
    if binding.needsUpkeep(id) {
      binding.checkAssignable(id, on: self)
      _setIndexed(id, boxed.value, in: instance)
      return
    }
    let (cluster, slot) = _edit(id, in: instance)
    cluster.set(id, slot, boxed.value)
    if column < 64, warms, unsafe _working != nil { _warmColumns |= 1 << UInt64(column) }
  }

  /// The name of the object's class in files.
  final var _className: String {
    if let binding = _binding { return binding.reflection.name }
    return ClassReflection.name(of: type(of: self))
  }

  /// "Dog.age", for messages.
  final func _propertyName(_ column: UInt16) -> String {
    let property = _binding?.property(ColumnID(column))?.name ?? "column \(column)"
    return "\(_className).\(property)"
  }

  /// The description of the object's class: the file's, if the program does not declare it.
  final var _reflection: ClassReflection {
    if let binding = _binding, binding.reflection.isDynamic {
      return binding.reflection
    }
    return ClassReflection.of(type(of: self))
  }
}

extension ObjectBase {
  /// True if the object was deleted or its Realm invalidated. Any other use of it then traps.
  /// Always false for an unmanaged object. Traps on a thread other than the Realm's.
  public var isInvalidated: Bool {
    guard let instance = _instance else { return false }
    if let tracking = instance.tracking, let row = _row { tracking.note(.object(row)) }
    return _isInvalidated(in: instance)
  }
}

@available(*, unavailable, message: "it belongs to one thread or actor: pass a ThreadSafeReference")
// because: it is unavailable, and the message explains why.
extension ObjectBase: @unchecked Sendable {}

extension ObjectBase: Hashable {
  /// True for the same Swift object, and for two objects of one Realm instance with the same row,
  /// if their class has a primary key or the Realm is frozen. Invalidated objects equal only
  /// themselves.
  public static func == (a: ObjectBase, b: ObjectBase) -> Bool {
    if a === b { return true }
    guard a.comparesByRow, b.comparesByRow else { return false }
    return a._isSameRow(as: b)
  }

  /// Rows hash by their key, which does not change while they exist. So do not keep an unmanaged
  /// object of a class with a primary key in a set while you add it to a Realm.
  public func hash(into hasher: inout Hasher) {
    if hashesByRow {
      hasher.combine(_key)
    } else {
      hasher.combine(ObjectIdentifier(self))
    }
  }

  private var hashesByRow: Bool {
    guard let binding = _binding else { return false }
    return binding.reflection.primaryKey != nil || _state.contains(.frozen)
  }
  private var comparesByRow: Bool { hashesByRow && !_state.contains(.invalidated) }

  final func _isSameRow(as other: ObjectBase) -> Bool {
    _instance != nil && _instance === other._instance && _key == other._key
      && _binding?.classID == other._binding?.classID
  }
}

extension ObjectBase {
  /// True if both have the same row of the same Realm instance, even if one of them is a
  /// ``DynamicObject``, or are the same unmanaged object.
  public func isSameObject(as other: ObjectBase?) -> Bool {
    guard let other else { return false }
    return self === other || _isSameRow(as: other)
  }
}

extension ObjectBase {
  /// The Realm that the object belongs to, nil while it is unmanaged.
  public var realm: Realm? { _instance.map { Realm($0) } }
}
