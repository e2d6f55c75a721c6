import TarnStore

/// A change in or behind an element of a collection, with its path: a reason why the element is
/// reported as modified. ``CollectionDelta/nested(at:)`` and ``MapDelta/nested(for:)`` return them.
///
/// For a person whose list of dogs has one whose second toy was renamed, `keyPath` is
/// `"dogs.toys.name"`, `path` is `[dogs, at index 0], [toys, at index 1]`, `object` is the toy,
/// `property` is `"name"` and `change` is `.value`.
///
/// It keeps no version in the file. Threading: `object` belongs to where the collection does; its
/// other parts are sendable.
public struct NestedChange {
  /// A place in a list, set, map or `LinkingObjects`.
  public enum Position: Hashable, Sendable {
    /// The position before the change, nil if the element was not in the collection then, and the
    /// position after it.
    case index(old: Int?, new: Int)
    /// A key of a map.
    case key(String)
  }

  /// One link on the path, from an object to the next.
  public struct Step: Hashable, Sendable {
    /// The name of the linking property.
    public let property: String
    /// Positions within the property: none for a link to one object, one for a collection, more for
    /// collections within an `AnyRealmValue`.
    public let positions: [Position]
  }

  /// The change of the property. Positions are like those of a ``CollectionDelta``.
  public enum Change: Hashable, Sendable {
    /// It was assigned.
    case value
    /// Elements of a list were deleted, inserted, moved or set.
    case list(
      deletions: [Int], insertions: [Int], modifications: [Int], modificationsNew: [Int])
    /// Elements of a set were deleted or inserted.
    case set(deletions: [Int], insertions: [Int])
    /// Keys of a map were deleted, inserted, or had their value set, each array in bytewise order.
    case map(deletions: [String], insertions: [String], modifications: [String])
    /// Objects began or ceased to link here.
    case linkingObjects(deletions: [Int], insertions: [Int])
  }

  /// The links from the element to the changed object; empty for the element itself.
  public let path: [Step]
  /// The property of that object which has changed. Nil for the element as a whole: it was replaced
  /// in its list or map, it is a value, or nothing more is known.
  public let property: String?
  /// The place of the changed list or map in the property's value, if it lies within an
  /// `AnyRealmValue`; else empty.
  public let positions: [Position]
  /// The change of the property or element.
  public let change: Change

  private let target: ObjectRef?
  private let core: RealmCore
  private let isDynamic: Bool

  /// The object at the end of the path, which has the property; for an element as a whole, the
  /// element. Nil for a value. It is live: invalidated if it was deleted since.
  public var object: ObjectBase? {
    target.map { core.object($0.key, core.binding(of: $0.classID, isDynamic: isDynamic)) }
  }

  /// The names on the path and the property's name, separated by dots, names with dots in back
  /// quotes; `"self"` for an element as a whole.
  public var keyPath: String {
    property.map { PathText.text(of: path.map(\.property) + [$0]) } ?? "self"
  }

  /// An element as a whole.
  fileprivate init(whole target: ObjectRef?, on core: RealmCore, isDynamic: Bool) {
    (path, property, positions, change) = ([], nil, [], .value)
    self.target = target
    self.core = core
    self.isDynamic = isDynamic
  }

  fileprivate init(_ way: ChangePath, on core: RealmCore, isDynamic: Bool) {
    path = way.steps.map { step in
      let link = step.link
      let name =
        link.isBackwards
        ? core.name(of: link.column, from: link.classID, in: link.target, isDynamic: isDynamic)
        : core.name(of: link.column, from: nil, in: link.classID, isDynamic: isDynamic)
      return Step(property: name, positions: step.positions.map { Position($0) })
    }
    property = core.name(
      of: way.column, from: way.origin, in: way.object.classID, isDynamic: isDynamic)
    positions = way.positions.map { Position($0) }
    change = Change(way.change)
    target = way.object
    self.core = core
    self.isDynamic = isDynamic
  }
}

extension NestedChange.Position {
  fileprivate init(_ position: ChangePath.Position) {
    switch position {
    case .index(let old, let new): self = .index(old: old, new: new)
    case .key(let key): self = .key(key)
    }
  }
}

extension NestedChange.Change {
  fileprivate init(_ change: ChangePath.Change) {
    switch change {
    case .value: self = .value
    case .list(let changes):
      self = .list(
        deletions: changes.deletions, insertions: changes.insertions,
        modifications: changes.modifications, modificationsNew: changes.modificationsNew)
    case .set(let changes):
      self = .set(deletions: changes.deletions, insertions: changes.insertions)
    case .map(let keys):
      let lists = keys.lists
      self = .map(
        deletions: lists.deletions, insertions: lists.insertions,
        modifications: lists.modifications)
    case .origins(let changes):
      self = .linkingObjects(deletions: changes.deletions, insertions: changes.insertions)
    }
  }
}

extension CollectionDelta {
  /// The reasons why the element at a new position is reported as modified: each property that was
  /// set, and each list, set, map or link that changed, in the element or in an object that it
  /// links to, within the observer's scope. With key paths these are the properties on them; else
  /// those of the element and of objects that it links to, to the depth of the observation.
  ///
  /// There is one for every path, shorter paths first: an object reachable by two paths, or twice
  /// in a list, is listed for each. Without key paths, no path visits an object twice. Paths are
  /// those after the change, and each has its positions before and after. An element lists at most
  /// 1,000 paths; longer ones are left out.
  ///
  /// Never empty for a modified element: if nothing more is known, it has changed as a whole. That
  /// is the case for values, after a migration, and for a loop so slow that the version before was
  /// released; see ``ChangeSequence``. An element that moved may have changed as well; inserted
  /// elements list their changes meanwhile.
  ///
  /// Computed by this call, from the versions that the delta keeps. That takes time for the objects
  /// reachable from the element, if their classes have changes.
  ///
  /// Traps if the position is out of bounds. Threading: like the collection.
  public func nested(at position: Int) -> [NestedChange] {
    let index = modificationsNew.partitioningIndex { $0 >= position }
    let isModified = index < modificationsNew.count && modificationsNew[index] == position
    return nestedChanges(
      of: value(at: position), in: elements, isModified: isModified, on: host,
      isDynamic: isDynamic
    ) { walk throws(StorageError) in try walk.wasSet(at: position) }
  }
}

/// The changes in and behind an element.
///
/// - Parameters:
///   - isModified: it is reported as modified.
///   - wasSet: it was set in its collection.
func nestedChanges(
  of value: Value, in elements: PastElements, isModified: Bool, on host: any DeliveryHost,
  isDynamic: Bool, wasSet: (NestedWalk) throws(StorageError) -> Bool
) -> [NestedChange] {
  guard let core = host as? RealmCore else {
    trap("internal error: a change of something outside a Realm")
  }
  core.checkThread()
  let (walk, object) = (elements.walk, elements.object(value))
  var changes: [NestedChange] = []
  trapping { () throws(StorageError) in
    if let walk, let object {
      changes = try walk.ways(from: object).map {
        NestedChange($0, on: core, isDynamic: isDynamic)
      }
    }
    guard isModified else { return }
    let isWhole = try walk.map { walk throws(StorageError) in try wasSet(walk) } ?? true
    if isWhole || changes.isEmpty {
      changes.insert(NestedChange(whole: object, on: core, isDynamic: isDynamic), at: 0)
    }
  }
  return changes
}

extension RealmCore {
  /// A class as the program declares it, or else as the file describes it.
  fileprivate func binding(of id: ClassID, isDynamic: Bool) -> ClassBinding {
    let name = schemaToBind()[id].name
    guard !isDynamic, let type = classes.model[name]?.type else {
      return dynamicBinding(name)
    }
    return binding(of: type)
  }

  /// The name of a property.
  ///
  /// - Parameter origin: for backlinks, the class of the linking objects, which then has the
  ///   column.
  fileprivate func name(
    of column: ColumnID, from origin: ClassID?, in id: ClassID, isDynamic: Bool
  ) -> String {
    let own = binding(of: id, isDynamic: isDynamic)
    guard let origin else {
      return own.property(column)?.name ?? schemaToBind()[id][column].name
    }
    let others = binding(of: origin, isDynamic: isDynamic)
    let property = own.reflection.properties.first {
      $0.isComputed && $0.target == others.reflection.type
        && $0.originProperty.flatMap { others.column($0) } == column
    }
    guard let property else { trap("internal error: a path that does not begin with a property") }
    return property.name
  }
}

@available(*, unavailable, message: "it belongs to one thread or actor: pass its parts")
extension NestedChange: Sendable {}
