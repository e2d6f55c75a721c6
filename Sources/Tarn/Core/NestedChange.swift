import TarnStore

/// What has changed behind an element of a collection, and over which way: a reason why the element
/// is told to be modified. ``CollectionDelta/nested(at:)`` and ``MapDelta/nested(for:)`` give them.
///
/// For a person whose list of dogs has one whose second toy was renamed, `keyPath` is
/// `"dogs.toys.name"`, `path` is `[dogs, at index 0], [toys, at index 1]`, `object` is the toy,
/// `property` is `"name"` and `change` is `.value`.
///
/// It keeps no version in the file. Threading: `object` belongs to where the collection does; its
/// parts are sendable.
public struct NestedChange {
  /// Where something is in a list, set, map or `LinkingObjects`.
  public enum Position: Hashable, Sendable {
    /// A position before the change, nil if what is there now was not in the collection then, and
    /// the position after it.
    case index(old: Int?, new: Int)
    /// A key of a map.
    case key(String)
  }

  /// From one object on the way to the next.
  public struct Step: Hashable, Sendable {
    /// The name of the property that leads on.
    public let property: String
    /// Where in the property: empty for a link to one object, one position for a collection, more
    /// for collections within an `AnyRealmValue`.
    public let positions: [Position]
  }

  /// What became of the property. Positions are as those of a ``CollectionDelta``.
  public enum Change: Hashable, Sendable {
    /// It was assigned.
    case value
    /// Elements of a list went, came, moved or were set.
    case list(
      deletions: [Int], insertions: [Int], modifications: [Int], modificationsNew: [Int])
    /// Elements of a set went or came.
    case set(deletions: [Int], insertions: [Int])
    /// Keys of a map went, came, or have a value that was set, each array in bytewise order.
    case map(deletions: [String], insertions: [String], modifications: [String])
    /// Objects began or ceased to link here.
    case linkingObjects(deletions: [Int], insertions: [Int])
  }

  /// From the element down to the object that has changed; empty for the element itself.
  public let path: [Step]
  /// The property of that object which has changed. Nil for the element as a whole: it was set in
  /// its list or map, is a value, or nothing more is known of it.
  public let property: String?
  /// Where in the property's value the list or map is that has changed, if it lies within a value
  /// of any type; else empty.
  public let positions: [Position]
  /// What became of it.
  public let change: Change

  private let target: LinkTarget?
  private let core: RealmCore
  private let isDynamic: Bool

  /// The object at the end of the path, which has the property; of an element as a whole, the
  /// element. Nil for a value. It is live: invalidated if it was deleted since.
  public var object: ObjectBase? {
    target.map { core.object($0.key, core.binding(of: $0.classID, isDynamic: isDynamic)) }
  }

  /// The names on the way and that of the property, with dots in between, and those that have dots
  /// in back quotes; `"self"` for an element as a whole.
  public var keyPath: String {
    property.map { PathText.text(of: path.map(\.property) + [$0]) } ?? "self"
  }

  /// An element as a whole.
  fileprivate init(whole target: LinkTarget?, on core: RealmCore, isDynamic: Bool) {
    (path, property, positions, change) = ([], nil, [], .value)
    self.target = target
    self.core = core
    self.isDynamic = isDynamic
  }

  fileprivate init(_ way: NestedWay, on core: RealmCore, isDynamic: Bool) {
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
  fileprivate init(_ position: NestedWay.Position) {
    switch position {
    case .index(let old, let new): self = .index(old: old, new: new)
    case .key(let key): self = .key(key)
    }
  }
}

extension NestedChange.Change {
  fileprivate init(_ change: NestedWay.Change) {
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
  /// Why the element at a new position is told to be modified: each property that was set, and each
  /// list, set, map or link that changed, in the element or behind it, as far as the observer
  /// looks. With key paths these are the properties on them; else those of the element and of what
  /// it links to, to the depth of the observation.
  ///
  /// There is one for every way there, the shorter ones first: an object that is reached over two
  /// ways, or is in a list twice, has its changes told for both. Without key paths no way passes an
  /// object twice. The ways are those after the change, and each has its positions before and
  /// after. Of more than 1,000 ways of one element longer ones are left out.
  ///
  /// Never empty for a modified element: if nothing more is known, it has changed as a whole. That
  /// is so of values, after a migration, and for a loop that took so long that the version before
  /// was given up; see ``ChangeSequence``. An element that moved may have changed as well; others
  /// that came are told with what changed in them meanwhile.
  ///
  /// It is worked out here and now, from the versions that the delta keeps. That takes time for
  /// the objects behind the element, as far as something has changed in their classes.
  ///
  /// Traps if the position is out of bounds. Threading: as the collection.
  public func nested(at position: Int) -> [NestedChange] {
    let index = modificationsNew.partitioningIndex { $0 >= position }
    let isModified = index < modificationsNew.count && modificationsNew[index] == position
    return nestedChanges(
      of: value(at: position), in: elements, isModified: isModified, on: host,
      isDynamic: isDynamic
    ) { walk throws(StorageError) in try walk.wasSet(at: position) }
  }
}

/// What has changed behind an element.
///
/// - Parameters:
///   - isModified: it is told to be modified.
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
  /// A class as the program has it, or else as the file does.
  fileprivate func binding(of id: ClassID, isDynamic: Bool) -> ClassBinding {
    let name = schemaToBind()[id].name
    guard !isDynamic, let type = classes.model[name]?.reflection.type else {
      return dynamicBinding(name)
    }
    return binding(of: type)
  }

  /// The name of a property.
  ///
  /// - Parameter origin: for what links to the object the class of the origins, which then has the
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
