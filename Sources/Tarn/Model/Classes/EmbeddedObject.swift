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
