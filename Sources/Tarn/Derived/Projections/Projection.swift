import TarnStore

/// The base class of views of objects with some of their properties, under other names.
///
///     class PersonCard: Projection<Person> {
///       @Projected(\Person.firstName) var name
///       @Projected(\Person.address?.city) var city
///       @Projected(\Person.friends.projectTo.firstName) var friendNames
///     }
///     let cards = realm.objects(PersonCard.self).where { $0.age > 20 }
///
/// A projection holds only its object: its properties read and assign those of the object. Belongs
/// to the thread, queue or actor of the object; see <doc:ClassProjections>.
open class Projection<Root: ObjectBase>: ProjectionObservable {
  /// The object that this is a view of.
  public final let rootObject: Root

  /// A view of an object, managed or not.
  ///
  /// The first projection of a class finds out which of its properties project stored ones. For
  /// that it runs the getters of computed ones that have the type of a stored property, for an
  /// object that is in no Realm.
  public required init(projecting object: Root) {
    rootObject = object
    layout.bind(self)
  }

  /// The class and the values of its projected properties, one per line, in the form of objects.
  open var description: String { TextDump.text { append(to: &$0) } }

  /// True if both are views of the same object: of one row of one Realm instance, or of the same
  /// unmanaged object. Their classes are not compared.
  public static func == (a: Projection, b: Projection) -> Bool {
    a.rootObject === b.rootObject
      || !a.rootObject._state.contains(.invalidated) && !b.rootObject._state.contains(.invalidated)
        && a.rootObject.isSameObject(as: b.rootObject)
  }

  /// Hashes the object. So do not keep a projection of an unmanaged object in a set while you add
  /// that object to a Realm.
  public func hash(into hasher: inout Hasher) {
    if rootObject._core == nil {
      hasher.combine(ObjectIdentifier(rootObject))
    } else {
      hasher.combine(rootObject._key)
    }
  }
}

/// The common interface of all projection classes; use it to write code for any of them. Only
/// ``Projection`` conforms.
public protocol ProjectionObservable: _PropertyObservable, CustomStringConvertible,
  CustomReflectable
{
  /// The class of the objects.
  associatedtype Root: ObjectBase
  /// The object that this is a view of.
  var rootObject: Root { get }
  /// A view of an object, managed or not.
  init(projecting object: Root)
}

extension Projection: ThreadConfined {
  /// The Realm that the object belongs to, nil while it is unmanaged.
  public var realm: Realm? { rootObject.realm }

  /// True if the object was deleted or its Realm invalidated. Reading a property then traps.
  public var isInvalidated: Bool { rootObject.isInvalidated }

  public func _counterpart(in realm: Realm) -> Self? {
    rootObject._counterpart(in: realm).map { Self(projecting: $0) }
  }
}

@available(*, unavailable, message: "it belongs to one thread or actor: pass a ThreadSafeReference")
extension Projection: Sendable {}

extension Projection: Dumped {
  final var layout: ProjectionLayout { ProjectionLayout.of(self) }

  final func append(to dump: inout TextDump) {
    let name = "\(type(of: self))"
    if rootObject.isGone { return dump.append("\(name) [invalidated]") }
    dump.append(name) { layout.values(of: self) }
  }

  /// The content for `dump` and debuggers: the values of the projected properties, or nothing if
  /// the object is deleted or invalidated.
  public var customMirror: Mirror {
    let values = rootObject.isGone ? [] : layout.values(of: self)
    return Mirror(self, ofProperties: values)
  }
}

/// Identifies a projection in every Realm of its file, by its object.
private struct ProjectionThreadReference<Root: ObjectBase>: ThreadReference {
  let root: ObjectThreadReference
  let type: Projection<Root>.Type

  var anchor: ThreadReferenceAnchor { root.anchor }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? {
    root.object(in: core).map { type.init(projecting: unsafe unsafeDowncast($0, to: Root.self)) }
  }
}

extension Projection {
  public func _threadReference() -> _ThreadReference {
    _ThreadReference(
      ProjectionThreadReference(root: rootObject.objectReference, type: Swift.type(of: self)),
      createdInWrite: rootObject._createdInWrite)
  }
}

extension ObjectKeyIdentifiable where Self: ProjectionObservable {
  /// Identifies the row of the object.
  public var id: UInt64 { rootObject._rowIdentity }
}
