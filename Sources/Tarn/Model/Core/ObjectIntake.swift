import TarnStore

/// An object that has just become managed: it has its row, but its links are not stored yet; or it
/// is merged into another object's row, and all its values are still its own.
struct ArrivingObject {
  let object: ObjectBase
  let binding: ClassBinding
  /// The treatment of linked objects that exist already.
  let policy: Realm.UpdatePolicy
  /// True if its values are written into an existing row.
  let isMerged: Bool
}

/// The names of the properties that were given, for objects made from values.
typealias GivenProperties = [ObjectIdentifier: Set<String>]

/// Unmanaged objects on their way into a Realm.
///
/// An object gets its row where the first link to it is found, so that there is something to link
/// to. Its own links are stored later, in the order of a list. So cycles end, a chain of links may
/// have any length, and nothing is set in the middle of another change.
final class ObjectIntake {
  // Each added object uses these two fields. They are not checked for exclusive access: no access
  // to one of them runs code that uses the intake.

  /// Objects with rows whose values are not stored yet, the next one last.
  @safe @exclusivity(unchecked) private var arriving: [ArrivingObject] = []
  /// The embedded ones among the objects added by the change that is being made.
  @safe @exclusivity(unchecked) private var embedded: Set<ObjectRef> = []
  /// The treatment of linked objects that exist already.
  private(set) var policy = Realm.UpdatePolicy.error
  /// For objects made from values: the properties that the values name.
  private var given: GivenProperties = [:]

  /// The change that added objects has been made.
  func close() {
    if !embedded.isEmpty { embedded.removeAll(keepingCapacity: true) }
  }

  // MARK: - The order of arriving

  func append(_ object: ArrivingObject) { arriving.append(object) }

  func append(embedded row: ObjectRef) { embedded.insert(row) }

  func holds(embedded row: ObjectRef) -> Bool { !embedded.isEmpty && embedded.contains(row) }

  /// Moves the objects that were added first to the front.
  func lineUp() { arriving.reverse() }

  /// The next one, with the number of those after it.
  func next() -> (object: ArrivingObject, behind: Int)? {
    arriving.popLast().map { ($0, arriving.count) }
  }

  /// Objects added by this one follow next, in their order.
  func lineUp(broughtBefore count: Int) {
    if arriving.count > count + 1 { arriving[count...].reverse() }
  }

  // MARK: - How they arrive

  /// - Returns: the policy before.
  func use(_ policy: Realm.UpdatePolicy) -> Realm.UpdatePolicy {
    defer { self.policy = policy }
    return self.policy
  }

  /// Notes the properties that values name, in addition to those of enclosing objects.
  ///
  /// - Returns: the properties noted before.
  func use(_ properties: GivenProperties) -> GivenProperties {
    defer { given.merge(properties) { $1 } }
    return given
  }

  func restore(_ properties: GivenProperties) { given = properties }

  /// The properties that an object was given by name; nil if it has all of its values.
  func given(_ object: ObjectBase) -> Set<String>? { given[ObjectIdentifier(object)] }
}
