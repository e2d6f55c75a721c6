import TarnStore

/// An object that has just become managed: it has its row, but not what may lead to other objects,
/// or it has that of the object that it is merged into, and its values are all still its own.
struct ArrivingObject {
  let object: ObjectBase
  let binding: ClassBinding
  /// What becomes of those that it links to and that exist.
  let policy: Realm.UpdatePolicy
  /// True if its values are written over those of a row.
  let isMerged: Bool
}

/// The names of the properties that objects were given, of those that values were made into.
typealias GivenProperties = [ObjectIdentifier: Set<String>]

/// Unmanaged objects on their way into a Realm.
///
/// An object gets its row where the first link to it is found, so that there is something to link
/// to, and its own links move there later, in the order of a list. So circles end, a chain of links
/// may be as long as it likes, and nothing is set in the middle of another change.
final class ObjectIntake {
  /// Those that have their rows and whose values are still to come there, the next one last.
  private var arriving: [ArrivingObject] = []
  /// The embedded ones among those that came with the change that is being made.
  private var embedded: Set<LinkTarget> = []
  /// What becomes of objects that are linked to and that exist.
  private(set) var policy = Realm.UpdatePolicy.error
  /// Of objects that are made of values: which properties those name.
  private var given: GivenProperties = [:]

  /// The change that brought objects has been made.
  func close() { embedded.removeAll(keepingCapacity: true) }

  // MARK: - The order of arriving

  func append(_ object: ArrivingObject) { arriving.append(object) }

  func append(embedded row: LinkTarget) { embedded.insert(row) }

  func holds(embedded row: LinkTarget) -> Bool { !embedded.isEmpty && embedded.contains(row) }

  /// Those that came first are first in line.
  func lineUp() { arriving.reverse() }

  /// The next one, with how many are behind it.
  func next() -> (object: ArrivingObject, behind: Int)? {
    arriving.popLast().map { ($0, arriving.count) }
  }

  /// Those that an object brought come next, in their order.
  func lineUp(broughtBefore count: Int) {
    if arriving.count > count + 1 { arriving[count...].reverse() }
  }

  // MARK: - How they arrive

  /// - Returns: the policy before.
  func use(_ policy: Realm.UpdatePolicy) -> Realm.UpdatePolicy {
    defer { self.policy = policy }
    return self.policy
  }

  /// Notes the properties that values name, beside those of objects around.
  ///
  /// - Returns: what was noted before.
  func use(_ properties: GivenProperties) -> GivenProperties {
    defer { given.merge(properties) { $1 } }
    return given
  }

  func restore(_ properties: GivenProperties) { given = properties }

  /// The properties that an object was given by name; nil if it has all of its values.
  func given(_ object: ObjectBase) -> Set<String>? { given[ObjectIdentifier(object)] }
}
