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

  override class var _primaryKeyName: String? { primaryKey() }
}
