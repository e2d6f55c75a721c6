/// The remaining scope of a search at a position.
enum ScopeState: Hashable {
  /// Every changed property, at most this many links away.
  case links(left: Int)
  /// Changed properties on some paths, by the search's number for these.
  case paths(Int)
}

/// A position of a search.
struct ScopePosition: Hashable {
  let object: ObjectRef
  let state: ScopeState
}

/// A property that was set.
struct ChangedProperty {
  let column: ColumnID
  /// For backlinks, the class of the linking objects, which then has the column.
  let origin: ClassID?
}

/// A search forwards from objects for changed properties within a scope.
///
/// It follows only links to classes from which changed properties can be reached, and keeps the
/// result for each object.
///
/// Threading: confined to one thread at a time.
final class ScopeSearch {
  /// The objects that an object links to.
  typealias Targets = (
    _ object: ObjectRef, _ link: LinkStep
  ) throws(StorageError) -> [ObjectRef]

  /// The rests of some paths, and the state behind each link.
  private struct PathState {
    let rests: [QueryDependency]
    var beyond: [LinkStep: Int] = [:]
  }

  /// The state at the first object.
  let start: ScopeState
  /// True if a path must not visit an object twice. Key paths may: the program has named them.
  let avoidsCircles: Bool

  private let changes: ChangeSet
  private let schema: SchemaView
  private let targets: Targets
  private var pathStates: [PathState] = []
  private lazy var touchedKeys = changes.touchedKeys()
  private lazy var leadingLinks = findLeadingLinks()
  /// Whether a changed property is at or behind a position on paths.
  private var leading: [ScopePosition: Bool] = [:]
  /// The same for a depth.
  private var nearest = NearestChange()

  init(
    _ scope: Scope, over changes: ChangeSet, _ schema: SchemaView, targets: @escaping Targets
  ) {
    self.changes = changes
    self.schema = schema
    self.targets = targets
    switch scope {
    case .depth(let depth):
      start = .links(left: depth)
      avoidsCircles = true
    case .paths(let paths):
      pathStates = [PathState(rests: paths.flatMap(\.dependencies))]
      start = .paths(0)
      avoidsCircles = false
    }
  }

  /// - Parameter rows: the rows after the changes.
  convenience init(_ scope: Scope, over changes: ChangeSet, _ rows: Rows) {
    self.init(scope, over: changes, rows.schema) { object, link throws(StorageError) in
      try rows.after(KeySet(object.key), through: link).map {
        ObjectRef(classID: link.end, key: $0)
      }
    }
  }

  // MARK: - Steps

  /// The links to follow from a position, and the states behind them.
  func steps(from position: ScopePosition) -> [(link: LinkStep, beyond: ScopeState)] {
    let id = position.object.classID
    switch position.state {
    case .links(let left):
      return links(from: id, left).map { ($0, .links(left: left - 1)) }
    case .paths(let number):
      var found: [(link: LinkStep, beyond: ScopeState)] = []
      for rest in pathStates[number].rests {
        guard let link = rest.links.first, link.start == id, changes.contains(rest.classID),
          !found.contains(where: { $0.link == link })
        else { continue }
        found.append((link, .paths(state(beyond: link, number))))
      }
      return found
    }
  }

  private func state(beyond link: LinkStep, _ number: Int) -> Int {
    if let known = pathStates[number].beyond[link] { return known }
    let rests = pathStates[number].rests.filter { $0.links.first == link }.map { path in
      var rest = path
      rest.links.removeFirst()
      return rest
    }
    pathStates.append(PathState(rests: rests))
    pathStates[number].beyond[link] = pathStates.count - 1
    return pathStates.count - 1
  }

  /// The changed properties of an object within the scope, in the order of the columns.
  func changedProperties(at position: ScopePosition) -> [ChangedProperty] {
    guard let own = changes[position.object.classID] else { return [] }
    switch position.state {
    case .links:
      return own.touched.filter { $0.keys.contains(position.object.key) }.map {
        ChangedProperty(column: $0.column, origin: nil)
      }
    case .paths(let number):
      var found: Set<QueryDependency> = []
      for end in pathStates[number].rests where end.links.isEmpty && end.classID == own.id {
        if end.touchedKeys(in: changes).contains(position.object.key) { found.insert(end) }
      }
      return found.map { ChangedProperty(column: $0.column, origin: $0.origin) }.sorted {
        ($0.column, $0.origin ?? ClassID(0)) < ($1.column, $1.origin ?? ClassID(0))
      }
    }
  }

  func isChanged(_ position: ScopePosition) -> Bool {
    if case .links = position.state { return wasSet(position.object) }
    return !changedProperties(at: position).isEmpty
  }

  private func wasSet(_ object: ObjectRef) -> Bool {
    touchedKeys[object.classID]?.contains(object.key) == true
  }

  // MARK: - Searching

  /// The objects among these from which the scope leads to a changed property.
  func concerned(among keys: KeySet, of id: ClassID) throws(StorageError) -> KeySet {
    var found: [ObjectKey] = []
    for key in keys {
      let object = ObjectRef(classID: id, key: key)
      if try leads(from: ScopePosition(object: object, state: start)) { found.append(key) }
    }
    return KeySet(found)
  }

  /// True if the object, or one behind it within the scope, was changed.
  func leads(from position: ScopePosition) throws(StorageError) -> Bool {
    guard case .links(let left) = position.state else { return try pathsLead(from: position) }
    return try nearest.isNear(position.object, within: left, isChanged: wasSet) {
      object, left, visit throws(StorageError) in
      for link in links(from: object.classID, left) {
        for target in try targets(object, link) where !visit(target) { return }
      }
    }
  }

  /// For a depth: the distance to a changed object, as far as searches have found one. An object
  /// with a distance has a link to one with a smaller distance.
  func knownDistance(of object: ObjectRef) -> Int? {
    wasSet(object) ? 0 : nearest.knownDistance(of: object)
  }

  /// Recurses once for each link of a path; the number of links is limited.
  private func pathsLead(from position: ScopePosition) throws(StorageError) -> Bool {
    if let known = leading[position] { return known }
    var isLeading = isChanged(position)
    for (link, beyond) in isLeading ? [] : steps(from: position) {
      for target in try targets(position.object, link) where !isLeading {
        isLeading = try pathsLead(from: ScopePosition(object: target, state: beyond))
      }
    }
    leading[position] = isLeading
    return isLeading
  }

  // MARK: - Classes

  /// The links to follow from objects of a class if that many links are left.
  private func links(from id: ClassID, _ left: Int) -> [LinkStep] {
    guard left > 0, let all = leadingLinks[id] else { return [] }
    return left > 1 ? all : all.filter { touchedKeys[$0.target] != nil }
  }

  /// The links that lead to changed classes, at any distance, by the class that has them.
  private func findLeadingLinks() -> [ClassID: [LinkStep]] {
    let all = schema.schema.classes.flatMap { schema.links(of: $0.id) }
    var leading = Set(touchedKeys.keys)
    var count = 0
    while count < leading.count {
      count = leading.count
      for link in all where leading.contains(link.target) { leading.insert(link.classID) }
    }
    return Dictionary(grouping: all.filter { leading.contains($0.target) }, by: \.classID)
  }
}

extension LinkStep {
  /// The class of the objects at its start.
  fileprivate var start: ClassID { isBackwards ? target : classID }
  /// The class of the objects at its end.
  fileprivate var end: ClassID { isBackwards ? classID : target }
}
