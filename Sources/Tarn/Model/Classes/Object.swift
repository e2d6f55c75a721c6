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

/// The base class of models whose objects belong to one other object.
///
///     class Address: EmbeddedObject {
///       @Persisted var street = ""
///     }
///     class Person: Object {
///       @Persisted var home: Address?
///     }
///
/// An embedded object has one parent and no primary key. It is added to a Realm by assigning it to
/// a property of its parent or inserting it into a collection of it. It is deleted with its parent,
/// or when another object replaces it. Assigning it to another parent moves it there, and so does
/// inserting it elsewhere in its own parent, a list included: it is never held twice. The parent
/// may itself be embedded.
open class EmbeddedObject: ObjectBase {
  /// Creates an unmanaged object; properties have their defaults.
  public required init() { super.init() }

  override class var _isOfEmbedded: Bool { true }
}

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
