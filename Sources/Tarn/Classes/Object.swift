/// The base class of models.
///
///     class Dog: Object {
///       @Persisted(primaryKey: true) var _id: ObjectId
///       @Persisted var name = ""
///       @Persisted var mother: Dog?
///     }
///
/// Only properties marked `@Persisted` are stored. In files a class is named without module and
/// enclosing types. Managed objects belong to the thread, queue or actor of their Realm and are not
/// `Sendable`; pass a frozen one to other threads; see ``ThreadConfined/freeze()``.
open class Object: ObjectBase {
  /// Creates an unmanaged object; properties have their defaults.
  public required init() { super.init() }

  /// The name of the primary key property, or nil: the one marked `@Persisted(primaryKey: true)`
  /// unless overridden.
  open class func primaryKey() -> String? {
    ClassReflection.declaredPrimaryKey(of: self)
  }
}

@available(*, unavailable, message: "it belongs to one thread or actor: pass a ThreadSafeReference")
// because: it is not there, and says why where somebody needs it to be.
extension ObjectBase: @unchecked Sendable {}

extension ObjectBase: Hashable {
  /// True for the same Swift object, and for two objects of one Realm instance that show the same
  /// row, if their class has a primary key or the Realm is frozen. Invalidated objects equal only
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
  /// True if both show the same row of the same Realm instance, even if one of them is a
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
