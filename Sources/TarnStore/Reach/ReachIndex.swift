/// Key paths that many observers look along, found by what a change set has set: paths that end
/// alike share the way backwards as far as they do.
///
/// It tells who may be concerned; whether one is, its reach tells.
package final class ReachIndex {
  /// What a reach is known by here.
  package typealias Name = Int

  /// A stretch of ways that end in one property, from its end.
  private final class Node {
    var names: [Name] = []
    var before: [LinkStep: Node] = [:]
  }

  /// By the property at the end, without links to it.
  private var ends: [QueryDependency: Node] = [:]
  /// Those that look along no paths.
  private var others: [Name] = []

  package init() {}

  package func insert(_ reach: ReachPlan, _ name: Name) {
    guard let ways = reach.ways else { return others.append(name) }
    for way in ways {
      var end = way
      end.links = []
      var node = ends[end] ?? Node()
      ends[end] = node
      for link in way.links.reversed() {
        let next = node.before[link] ?? Node()
        node.before[link] = next
        node = next
      }
      node.names.append(name)
    }
  }

  /// The reaches that `changes`, which lead to what `rows` show, may concern.
  ///
  /// - Parameter most: where more objects than that link to one, the way back is given up.
  package func concerned(
    by changes: ChangeSet, _ rows: StoreRows, atMost most: Int
  ) throws(StorageError) -> Set<Name> {
    var found = Set(others)
    for (end, node) in ends {
      try collect(end.touchedKeys(in: changes), node, rows, most, &found)
    }
    return found
  }

  private func collect(
    _ keys: KeySet, _ node: Node, _ rows: StoreRows, _ most: Int, _ found: inout Set<Name>
  ) throws(StorageError) {
    if keys.isEmpty { return }
    found.formUnion(node.names)
    for (link, next) in node.before {
      if let origins = try rows.before(keys, through: link, atMost: most) {
        try collect(origins, next, rows, most, &found)
      } else {
        Self.collectAll(next, &found)
      }
    }
  }

  private static func collectAll(_ node: Node, _ found: inout Set<Name>) {
    found.formUnion(node.names)
    for next in node.before.values { collectAll(next, &found) }
  }
}
