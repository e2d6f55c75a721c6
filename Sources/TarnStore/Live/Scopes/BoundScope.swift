/// A scope bound to a schema: finds the observed objects that a change set affects. Immutable; any
/// thread may use it.
///
/// The search goes backwards from changed properties, over the indexes of links, so its time
/// depends on the changes and not on the observed objects. The links after the changes are enough:
/// if a link on an older path was removed, the object that had it was changed itself.
package final class BoundScope: Sendable {
  package let scope: Scope
  /// The classes whose changes can concern the objects.
  package let concerningClasses: Set<ClassID>
  /// The classes of the observed objects.
  private let classes: Set<ClassID>
  private let form: Form

  private enum Form: Sendable {
    case depth(DepthScope)
    /// Paths with one dependency each, by their numbers in the trie.
    case paths([ScopePath], ScopeTrie)
  }

  /// - Parameter classes: the classes of the observed objects.
  package init(_ scope: Scope, from classes: Set<ClassID>, _ schema: SchemaView) {
    self.scope = scope
    self.classes = classes
    switch scope {
    case .depth(let depth):
      let made = DepthScope(depth, from: classes, schema)
      form = .depth(made)
      concerningClasses = made.classes
    case .paths(let paths):
      let all = Array(Set(paths.flatMap(\.single)))
      var trie = ScopeTrie()
      for (number, path) in all.enumerated() { trie.insert(path.dependencies[0], number) }
      form = .paths(all, trie)
      concerningClasses = Set(all.map { $0.dependencies[0].classID })
    }
  }

  /// Its paths; nil for a depth.
  var dependencies: [QueryDependency]? {
    if case .paths(let paths, _) = form { paths.flatMap(\.dependencies) } else { nil }
  }

  // MARK: - Objects

  /// The objects that `changes` affects, including ones that are not observed.
  ///
  /// - Parameters:
  ///   - rows: the rows after the changes.
  ///   - observed: the observed objects. Others may be missing in the result.
  package func concerned(
    by changes: ChangeSet, _ rows: Rows, among observed: ObservedObjects
  ) throws(StorageError) -> [ClassID: KeySet] {
    if case .depth(let depth) = form {
      return try depth.concerned(by: changes, rows, among: observed)
    }
    var found: [ClassID: KeySet] = [:]
    try forEachPath(concernedBy: changes, rows, among: observed) { path, keys in
      found[path.classID, default: KeySet()].formUnion(keys)
    }
    return found
  }

  /// The same for each path of the scope that leads to a changed property; nothing for a depth.
  package func forEachPath(
    concernedBy changes: ChangeSet, _ rows: Rows, among observed: ObservedObjects,
    _ body: (ScopePath, KeySet) -> Void
  ) throws(StorageError) {
    guard case .paths(let paths, let trie) = form else { return }
    var givenUp: [ScopePath] = []
    try trie.forEachPath(concernedBy: changes, rows, atMost: observed.budget) { number, keys in
      if let keys { body(paths[number], keys) } else { givenUp.append(paths[number]) }
    }
    if givenUp.isEmpty { return }
    let shown = try observed.keys()
    for path in givenUp {
      let search = ScopeSearch(.paths([path]), over: changes, rows)
      body(path, try search.concerned(among: shown[path.classID] ?? KeySet(), of: path.classID))
    }
  }

  /// The same for all objects, observed or not, however many link to one. Nothing for a depth.
  func forEachPath(
    concernedBy changes: ChangeSet, _ rows: Rows, _ body: (ScopePath, KeySet) -> Void
  ) throws(StorageError) {
    guard case .paths(let paths, let trie) = form else { return }
    try trie.forEachPath(concernedBy: changes, rows, atMost: .max) { number, keys in
      if let keys { body(paths[number], keys) }
    }
  }

  /// The objects of one class that `changes` affects, if nothing else changed and no link leads to
  /// the class, so that nothing has to be read. Otherwise nil.
  func concernedAlone(_ id: ClassID, by changes: ChangeSet) -> KeySet? {
    guard case .depth(let depth) = form, !depth.hasLinks(to: id), changes.classes.count == 1,
      let own = changes.classes.first, own.id == id
    else { return nil }
    return own.touchedKeys(in: .all)
  }

  // MARK: - Without reading

  /// False if `changes` cannot affect an observed object.
  package func mayBeConcerned(by changes: ChangeSet) -> Bool {
    changes.classes.contains { concerningClasses.contains($0.id) }
  }

  /// About how many objects `concerned` looks up, besides the observed ones. Reads nothing, so it
  /// does not know how many objects link to one.
  package func lookups(for changes: ChangeSet) -> Int {
    changes.classes.reduce(0) {
      concerningClasses.contains($1.id) && !classes.contains($1.id)
        ? saturatingSum($0, $1.keyCount) : $0
    }
  }
}

extension ScopePath {
  /// A path for each dependency.
  fileprivate var single: [ScopePath] {
    dependencies.map { ScopePath(classID: classID, property: property, dependencies: [$0]) }
  }
}

/// The scope of an observer: which changes count as changes of an observed object.
package enum Scope: Hashable, Sendable {
  /// Properties set in the object, or in one at most that many links away.
  case depth(Int)
  /// Properties set on one of these paths.
  case paths([ScopePath])

  /// The scope of observers of collections that do not choose another one.
  package static let standard = Scope.depth(3)
}

/// A key path, resolved to columns.
package struct ScopePath: Hashable, Sendable {
  /// The class of the objects at which it begins.
  package var classID: ClassID
  /// The program's number for the first property.
  package var property: Int
  /// Each property on the path and the last one: setting one of them changes the value at its end.
  package var dependencies: [QueryDependency]

  package init(classID: ClassID, property: Int, dependencies: [QueryDependency]) {
    self.classID = classID
    self.property = property
    self.dependencies = dependencies
  }
}

/// The objects of an observer, for a search that begins at them.
package struct ObservedObjects {
  package var keys: () throws(StorageError) -> [ClassID: KeySet]
  /// The maximum number of objects for a backwards search from changes: a change in an object that
  /// very many objects link to is found faster by a search from the observed ones.
  var budget: Int

  /// - Parameter count: the approximate number of objects.
  package init(count: Int, keys: @escaping () throws(StorageError) -> [ClassID: KeySet]) {
    self.keys = keys
    budget = 1_000 + 4 * count
  }
}
