/// The base class of models whose objects only go to a server: measurements, say, or log entries.
///
///     class Reading: AsymmetricObject {
///       @Persisted(primaryKey: true) var _id: ObjectId
///       @Persisted var temperature = 0.0
///     }
///     try realm.write { realm.create(Reading.self, value: ["_id": id, "temperature": 21.5]) }
///
/// Objects are created only by `create(_:value:)`, and never read: no results contain them. A
/// synchronized file deletes an object once the server has it. The user's role needs only the right
/// to insert. A file without synchronization keeps such objects.
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
