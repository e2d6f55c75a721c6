/// Finds the live sources of one class that a move may concern, without visiting the others. The
/// sources are numbers here.
///
/// Filing and taking away take O(log n). Confined to one thread at a time.
package final class Router {
  /// The parts under which a source is filed, and what else was noted for it.
  private struct Filing {
    let parts: [RoutePart]
    let linked: [QueryDependency]
    let scopes: [BoundScope]
  }

  /// What scopes have in common that look equally far.
  private struct Reach: Hashable {
    let scope: Scope
    let classes: Set<ClassID>

    init(_ bound: BoundScope) {
      scope = bound.scope
      classes = bound.concerningClasses
    }
  }

  private let classID: ClassID
  private var columns: [RoutePlace: RouteColumn] = [:]
  private var filings: [Int: Filing] = [:]
  /// Columns behind links on which sources depend, and how many do.
  private var linked: [QueryDependency: Int] = [:]
  /// How far sources and their observers look, and how many do.
  private var scopes: [Reach: (bound: BoundScope, users: Int)] = [:]

  /// Up to this number, sources are asked one by one.
  private static let few = 8
  /// Asking a source costs about as much as reading that many columns of the affected rows.
  private static let columnsPerSource = 4
  /// If more collections than this have a row, all sources are asked.
  private static let mostOwners = 1_000

  package init(_ classID: ClassID) { self.classID = classID }

  package var isEmpty: Bool { filings.isEmpty }
  /// True if nothing is left of sources that were taken away. For tests.
  var isClear: Bool { columns.isEmpty && linked.isEmpty && scopes.isEmpty }
  /// The numbers of all sources, in any order.
  package var numbers: some Sequence<Int> { filings.keys }

  // MARK: - Filing

  /// Files a source. Of parts that would do, the one that leads to the fewest other sources is
  /// taken.
  package func insert(_ route: Route, _ number: Int) {
    var parts = route.choices[0]
    if route.choices.count > 1 {
      var least = crowd(at: parts)
      for choice in route.choices.dropFirst() where least > 0 {
        let crowd = crowd(at: choice)
        if crowd < least { (parts, least) = (choice, crowd) }
      }
    }
    for part in parts {
      let column = columns[part.place] ?? RouteColumn(part.place)
      columns[part.place] = column
      for value in part.values { column.insert(value, number) }
    }
    for dependency in route.linked { linked[dependency, default: 0] += 1 }
    for scope in route.scopes { insert(scope) }
    filings[number] = Filing(parts: parts, linked: route.linked, scopes: route.scopes)
  }

  private func crowd(at parts: [RoutePart]) -> Int {
    parts.reduce(0) { sum, part in
      guard let column = columns[part.place] else { return sum }
      return part.values.reduce(sum) { $0 + column.crowd(at: $1) }
    }
  }

  package func remove(_ number: Int) {
    guard let filing = filings.removeValue(forKey: number) else {
      trap("internal error: a source that was not filed")
    }
    for part in filing.parts {
      guard let column = columns[part.place] else { continue }
      for value in part.values { column.remove(value, number) }
      if column.isEmpty { columns[part.place] = nil }
    }
    for dependency in filing.linked {
      let users = (linked[dependency] ?? 0) - 1
      linked[dependency] = users > 0 ? users : nil
    }
    for scope in filing.scopes { remove(scope) }
  }

  /// An observer of a source looks that far.
  package func insert(_ scope: BoundScope) {
    let reach = Reach(scope)
    // The newest one knows the newest links.
    scopes[reach] = (scope, (scopes[reach]?.users ?? 0) + 1)
  }

  package func remove(_ scope: BoundScope) {
    let reach = Reach(scope)
    let users = (scopes[reach]?.users ?? 0) - 1
    if users > 0 { scopes[reach]?.users = users } else { scopes[reach] = nil }
  }

  // MARK: - Finding

  /// False if asking the sources is faster than looking at rows.
  package var isWorthwhile: Bool {
    filings.count > max(Self.few, Self.columnsPerSource * columns.count)
  }

  /// Calls `body` with the numbers of sources that a move may concern; a number may come more than
  /// once.
  ///
  /// - Parameter most: the maximum number of rows that are looked at.
  /// - Returns: false if all sources have to be asked.
  package func findConcerned(
    by move: LiveMove, atMost most: Int, _ body: ([Int]) -> Void
  ) throws(StorageError) -> Bool {
    guard let affected = try affectedRows(move, atMost: most) else { return false }
    if affected.count > 16 { move.rows.expect(lookups: affected.count, in: classID) }
    for column in columns.values {
      switch column.place {
      case .value(let path): try find(affected, at: path, column, move, body)
      case .owner(let id, let collection):
        let link = LinkStep(classID: id, column: collection, target: classID)
        // A collection from which a row was removed has changed itself.
        for key in affected {
          guard
            let owners = try move.rows.before(
              KeySet([key]), through: link, atMost: Self.mostOwners)
          else { return false }
          for owner in owners { column.forEach(at: OrderKey(owner), body) }
        }
      }
    }
    return true
  }

  /// Looks the values of rows at the end of a path up, and the old ones where they may differ.
  private func find(
    _ affected: KeySet, at path: ColumnPath, _ column: RouteColumn, _ move: LiveMove,
    _ body: ([Int]) -> Void
  ) throws(StorageError) {
    let own = move.changes[classID]
    let mayDiffer = rowsThatMayDiffer(at: path, move.changes)
    for key in affected {
      if let value = try move.rows.orderKey(at: path, of: key, in: classID) {
        column.forEach(at: value, body)
      }
      let isOld = own?.inserted.contains(key) != true || own?.deleted.contains(key) == true
      guard isOld, mayDiffer?.contains(key) != false else { continue }
      if let value = try move.pastRows().orderKey(at: path, of: key, in: classID) {
        column.forEach(at: value, body)
      }
    }
  }

  /// The rows of the class that changed, or that a link leads from to something that changed, as
  /// far as a source depends on it or an observer looks; nil if there are too many.
  private func affectedRows(
    _ move: LiveMove, atMost most: Int
  ) throws(StorageError) -> KeySet? {
    let changes = move.changes
    if changes.schemaChanged || move.past == nil { return nil }
    var affected = KeySet()
    if let own = changes[classID] {
      if own.isCleared || own.keyCount > most { return nil }
      affected = own.touchedKeys(in: .all).union(own.inserted).union(own.deleted)
    }
    for dependency in linked.keys {
      guard let keys = try dependency.rowsBefore(changes, move.rows, atMost: most) else {
        return nil
      }
      affected.formUnion(keys)
    }
    for (bound, _) in scopes.values where bound.mayBeConcerned(by: changes) {
      if bound.concernedAlone(classID, by: changes) != nil { continue }
      var isMuch = false
      let observed = ObservedObjects(count: filings.count) {
        isMuch = true
        return [:]
      }
      let found = try bound.concerned(by: changes, move.rows, among: observed)
      if isMuch { return nil }
      if let keys = found[classID] { affected.formUnion(keys) }
    }
    return affected.count > most ? nil : affected
  }

  /// The rows whose value at the end of a path may be another one than before, besides inserted
  /// ones; nil if any may be.
  private func rowsThatMayDiffer(at path: ColumnPath, _ changes: ChangeSet) -> KeySet? {
    guard path.links.isEmpty else {
      let isSame = path.dependencies.allSatisfy { dependency in
        guard let there = changes[dependency.classID] else { return true }
        return there.deleted.isEmpty && !there.isCleared && there.inserted.isEmpty
          && there.touchedKeys(in: dependency.column).isEmpty
      }
      return isSame ? KeySet() : nil
    }
    guard let own = changes[classID] else { return KeySet() }
    return own.touchedKeys(in: path.column).union(own.deleted)
  }
}

extension Rows {
  /// The order key of the value at the end of a path from an object; that of null behind a nil
  /// link. Nil if the object does not exist, and for a list or map, which no condition accepts.
  fileprivate func orderKey(
    at path: ColumnPath, of key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> OrderKey? {
    var key = key
    for link in path.links {
      guard case .link(let next) = try value(of: link.column, at: key, in: link.classID) else {
        return .null
      }
      key = next
    }
    guard let value = try value(of: path.column, at: key, in: path.classID) else {
      return path.links.isEmpty ? nil : .null
    }
    return OrderKey(value, type: path.type)
  }
}
