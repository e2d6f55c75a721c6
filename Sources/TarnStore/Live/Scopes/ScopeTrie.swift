/// The paths of many observers, searched by the properties that a change set has set: paths with a
/// common end share the backwards search along it.
package struct ScopeTrie: Sendable {
  /// The common end of some paths.
  private struct Node: Sendable {
    var numbers: [Int] = []
    var before: [LinkStep: Node] = [:]

    mutating func insert(_ links: ArraySlice<LinkStep>, _ number: Int) {
      guard let last = links.last else { return numbers.append(number) }
      before[last, default: Node()].insert(links.dropLast(), number)
    }

    func forEachNumber(_ body: (Int) -> Void) {
      numbers.forEach(body)
      for next in before.values { next.forEachNumber(body) }
    }
  }

  /// By the property at the end, without the links to it.
  private var ends: [QueryDependency: Node] = [:]
  /// Scopes without paths.
  private var others: [Int] = []

  package init() {}

  package mutating func insert(_ scope: BoundScope, _ number: Int) {
    guard let dependencies = scope.dependencies else { return others.append(number) }
    for dependency in dependencies { insert(dependency, number) }
  }

  mutating func insert(_ path: QueryDependency, _ number: Int) {
    var end = path
    end.links = []
    ends[end, default: Node()].insert(path.links[...], number)
  }

  /// The numbers of scopes that `changes`, which lead to the state in `rows`, may concern. The
  /// scope itself decides whether it is concerned.
  ///
  /// - Parameter most: if more objects than this link to one, the search is abandoned.
  package func concerned(
    by changes: ChangeSet, _ rows: Rows, atMost most: Int
  ) throws(StorageError) -> Set<Int> {
    var found = Set(others)
    try forEachPath(concernedBy: changes, rows, atMost: most) { number, _ in found.insert(number) }
    return found
  }

  /// Calls `body` with the number of each path on which something was set, and with the objects at
  /// which a path to it begins; nil for these if the search was abandoned.
  func forEachPath(
    concernedBy changes: ChangeSet, _ rows: Rows, atMost most: Int,
    _ body: (Int, KeySet?) -> Void
  ) throws(StorageError) {
    for (end, node) in ends {
      try goBack(from: end.touchedKeys(in: changes), node, rows, most, body)
    }
  }

  private func goBack(
    from keys: KeySet, _ node: Node, _ rows: Rows, _ most: Int, _ body: (Int, KeySet?) -> Void
  ) throws(StorageError) {
    if keys.isEmpty { return }
    for number in node.numbers { body(number, keys) }
    for (link, next) in node.before {
      if let origins = try rows.before(keys, through: link, atMost: most) {
        try goBack(from: origins, next, rows, most, body)
      } else {
        next.forEachNumber { body($0, nil) }
      }
    }
  }
}
