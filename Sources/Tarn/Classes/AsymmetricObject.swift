/// The base class of models whose objects only go to a server: measurements, say, or log entries.
///
///     class Reading: AsymmetricObject {
///       @Persisted(primaryKey: true) var _id: ObjectId
///       @Persisted var temperature = 0.0
///     }
///     try realm.write { realm.create(Reading.self, value: ["_id": id, "temperature": 21.5]) }
///
/// An object is made by `create(_:value:)` alone, and never read: no results have it. A
/// synchronized file keeps it until the server has it, then it is gone. The user's role needs the
/// right to insert only. A file without synchronization keeps such objects.
open class AsymmetricObject: ObjectBase {
  /// Creates an unmanaged object; properties have their defaults.
  public required init() { super.init() }

  /// The name of the primary key property, or nil: the one marked `@Persisted(primaryKey: true)`
  /// unless overridden.
  open class func primaryKey() -> String? {
    ClassReflection.declaredPrimaryKey(of: self)
  }

  override class var _primaryKeyName: String? { primaryKey() }
}
