import TarnStore

/// The net difference between two versions, by class: `changes[Dog.self].inserted`.
///
/// Objects are frozen at ``realm``, the newest version when this was made. The pages of that
/// version cannot be reused as long as this, its Realm or an object from it is referenced.
///
/// Threading: any.
public final class VersionChanges: @unchecked Sendable {
  // because: it never changes, and its instance is frozen.

  /// The version before the first change.
  public let from: UInt64
  /// The version after the last change.
  public let to: UInt64
  let difference: FeedDifference
  let core: RealmCore
  let selection: BoundSelection

  init(
    from: Version, to: Version, _ difference: FeedDifference, _ core: RealmCore,
    _ selection: BoundSelection
  ) {
    self.from = from.rawValue
    self.to = to.rawValue
    self.difference = difference
    self.core = core
    self.selection = selection
  }

  /// The frozen Realm that objects are read from.
  public var realm: Realm { Realm(core) }

  /// True if nothing that is selected changed.
  public var isEmpty: Bool { difference.isEmpty }

  /// True if ``realm`` is at the version ``to``. Otherwise objects have values of a newer version,
  /// and a later difference has the changes since.
  public var reachesNewest: Bool { core.frozen?.snapshot.version.rawValue == to }

  /// The names of the classes with changes.
  public var classNames: [String] {
    let schema = core.schemaToBind()
    return difference.classes.map { schema[$0.id].name }
  }

  /// The changes to objects of a class. Traps if the class is not in the Realm's schema.
  public subscript<Element: Object>(type: Element.Type) -> ObjectChanges<Element> {
    let binding = core.binding(of: type)
    return ObjectChanges(difference, core, binding)
  }

  /// The changes to objects of a class as the file describes it. Traps if the file has no such
  /// class.
  public func changes(ofClass className: String) -> ObjectChanges<DynamicObject> {
    let binding = core.dynamicBinding(className)
    return ObjectChanges(difference, core, binding)
  }
}
