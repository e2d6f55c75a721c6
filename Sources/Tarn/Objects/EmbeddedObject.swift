/// The base class of models whose objects belong to one other object.
///
///     class Address: EmbeddedObject {
///       @Persisted var street = ""
///     }
///     class Person: Object {
///       @Persisted var home: Address?
///     }
///
/// An embedded object has one parent and no primary key. It comes into a Realm by being assigned to
/// a property or put into a collection of its parent, and is deleted with it, or when another takes
/// its place. Assigning it to another parent moves it there, and so does putting it into another
/// place of its own parent, a list included: it is never in two places. The parent may itself be
/// embedded.
open class EmbeddedObject: ObjectBase {
  /// Makes an unmanaged object; properties take their defaults.
  public required init() { super.init() }
}
