/// A reach in a schema: which objects of some classes a change set concerns. Immutable; any thread
/// may use it.
///
/// Goes backwards from what was set, over the indexes of links, so that it takes time for the
/// changes and not for those who look. The links of the state after the changes are enough: where
/// one on an older way was taken away, the object that had it was set itself.
package final class ReachPlan: Sendable {
  package let reach: Reach
  /// The classes whose changes can concern the objects.
  package let concerningClasses: Set<ClassID>
  /// Those of the objects that are looked at.
  private let classes: Set<ClassID>
  private let walk: Walk

  private enum Walk: Sendable {
    case depth(DepthWalk)
    case paths([PathWalk])
  }

  /// - Parameter classes: those of the objects that are looked at.
  package init(_ reach: Reach, from classes: Set<ClassID>, _ schema: SchemaView) {
    self.reach = reach
    self.classes = classes
    switch reach {
    case .links(let depth):
      let made = DepthWalk(depth, from: classes, schema)
      walk = .depth(made)
      concerningClasses = made.classes
    case .paths(let paths):
      let walks = Set(
        paths.flatMap { path in path.dependencies.map { PathWalk(path.classID, $0) } })
      walk = .paths(Array(walks))
      concerningClasses = Set(walks.map(\.dependency.classID))
    }
  }

  /// The ways to what it looks at; nil for all that is some links away.
  var ways: [QueryDependency]? {
    if case .paths(let walks) = walk { walks.map(\.dependency) } else { nil }
  }

  /// The objects that `changes` concerns, those that nobody looks at included.
  ///
  /// - Parameters:
  ///   - rows: what is there after the changes.
  ///   - lookedAt: where others may be missing, if that is sooner found.
  package func concerned(
    by changes: ChangeSet, _ rows: StoreRows, among lookedAt: LookedAt
  ) throws(StorageError) -> [ClassID: KeySet] {
    switch walk {
    case .depth(let walk): return try walk.concerned(by: changes, rows, among: lookedAt)
    case .paths(let walks):
      var found: [ClassID: KeySet] = [:]
      for walk in walks {
        let keys = try walk.concerned(by: changes, rows, among: lookedAt)
        if !keys.isEmpty { found[walk.classID, default: KeySet()].formUnion(keys) }
      }
      return found
    }
  }

  /// The objects of one class that `changes` concerns, if that can be said without reading: nothing
  /// else changed, and no link leads to it. Nil else.
  func concernedAlone(_ id: ClassID, by changes: ChangeSet) -> KeySet? {
    guard case .depth(let walk) = walk, !walk.hasLinks(to: id), changes.classes.count == 1,
      let own = changes.classes.first, own.id == id
    else { return nil }
    return own.touchedKeys(in: .all)
  }

  /// False if `changes` concerns no object that anybody could look at.
  package func mayBeConcerned(by changes: ChangeSet) -> Bool {
    changes.classes.contains { concerningClasses.contains($0.id) }
  }

  /// About how many objects that looks up, without those that are looked at. Reads nothing, so it
  /// does not see how many link to one.
  package func lookups(for changes: ChangeSet) -> Int {
    changes.classes.reduce(0) {
      concerningClasses.contains($1.id) && !classes.contains($1.id)
        ? saturatingSum($0, $1.keyCount) : $0
    }
  }
}
