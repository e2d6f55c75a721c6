/// Finds the changes behind the elements of a collection between two states, by following links
/// from one element at a time.
///
/// Reads on demand, and holds both states for that. The links are those of the newer state: if one
/// was removed, the object that had it was itself modified.
///
/// A walk only follows links that can lead to a change: a class is skipped if nothing observed is
/// behind it, and whether something is behind an object is determined once. Cyclic links can have
/// too many paths to list; the search ends after a fixed amount of work, but always finds the
/// shortest path.
///
/// Threading: confined to one thread at a time.
package final class NestedWalk {
  /// The maximum number of paths reported for one element.
  package static let waysMax = 1_000
  /// The search for more paths ends after that many visits of objects.
  private static let looksMax = 1_000_000

  private let pieces: ChangePathReader
  private let search: ScopeSearch
  /// The collection, if it is a list, set or map.
  private let sequence: SequenceModel?

  /// - Returns: nil if a migration lies between the states: its changes are unknown.
  package init?(
    from past: PastState, to state: PastState, _ scope: Scope, in sequence: SequenceModel?
  ) throws(StorageError) {
    let changes = try ChangeLog.changes(from: past, to: state)
    if changes.schemaChanged { return nil }
    let rows = try state.rows()
    let pieces = ChangePathReader(LiveMove(changes, from: past, to: rows))
    self.pieces = pieces
    self.sequence = sequence
    search = ScopeSearch(scope, over: changes, rows.schema) { object, link throws(StorageError) in
      try pieces.targets(of: object, through: link).map { target, _ in target }
    }
  }

  /// True if the element at a position of a list was set, whatever was there before.
  package func wasSet(at position: Int) throws(StorageError) -> Bool {
    guard let sequence else { return false }
    return try pieces.step(of: sequence.place, sequence.kind).wasSet(at: position)
  }

  /// The same for a key of a map.
  package func wasSet(_ key: String) throws(StorageError) -> Bool {
    guard let sequence, let now = try pieces.move.rows.stored(at: sequence.place) else {
      return false
    }
    let found = try now.find(key: key)
    return found.isFound ? try wasSet(at: found.index) : false
  }

  // MARK: - Walking

  /// A path as far as it has been walked.
  private struct Way {
    var end: ScopePosition
    var steps: [ChangePath.Step] = []
    var passed: [ObjectRef]
  }

  /// The paths from an object to changes, shorter ones first.
  package func ways(from object: ObjectRef) throws(StorageError) -> [ChangePath] {
    var found: [ChangePath] = []
    let start = ScopePosition(object: object, state: search.start)
    guard try search.leads(from: start) else { return [] }
    var level = [Way(end: start, passed: [object])]
    var looks = 0
    while !level.isEmpty, looks < Self.looksMax {
      for way in level {
        found += try changes(at: way)
        if found.count >= Self.waysMax { return Array(found.prefix(Self.waysMax)) }
      }
      level = try goingOn(level, &looks)
    }
    return found.isEmpty ? try shortestWays(from: start) : found
  }

  /// The paths extended by one link: those whose end has changed, and as many of the others as can
  /// be reported.
  private func goingOn(_ level: [Way], _ looks: inout Int) throws(StorageError) -> [Way] {
    var next: [Way] = []
    var (changed, others) = (0, 0)
    for way in level {
      for (link, beyond) in search.steps(from: way.end) {
        for (target, spots) in try pieces.targets(of: way.end.object, through: link) {
          looks += way.passed.count
          if search.avoidsCircles, way.passed.contains(target) { continue }
          let end = ScopePosition(object: target, state: beyond)
          guard try search.leads(from: end) else { continue }
          if search.isChanged(end) {
            changed += 1
          } else {
            others += 1
            if others > Self.waysMax { continue }
          }
          let step = ChangePath.Step(link: link, positions: try pieces.positions(spots))
          next.append(Way(end: end, steps: way.steps + [step], passed: way.passed + [target]))
          if changed == Self.waysMax { return next }
        }
      }
    }
    return next
  }

  /// The changes at the end of one of the shortest paths.
  private func shortestWays(from start: ScopePosition) throws(StorageError) -> [ChangePath] {
    var way = Way(end: start, passed: [start.object])
    while let distance = search.knownDistance(of: way.end.object), distance > 0 {
      guard try goOn(along: &way, nearerThan: distance) else { break }
    }
    return try changes(at: way)
  }

  /// The changes at the end of a path.
  private func changes(at way: Way) throws(StorageError) -> [ChangePath] {
    var found: [ChangePath] = []
    for property in search.changedProperties(at: way.end) {
      found += try pieces.changes(of: property, in: way.end.object, behind: way.steps)
    }
    return found
  }

  private func goOn(
    along way: inout Way, nearerThan distance: Int
  ) throws(StorageError) -> Bool {
    let end = way.end
    for (link, beyond) in search.steps(from: end) {
      for (target, spots) in try pieces.targets(of: end.object, through: link) {
        guard let rest = search.knownDistance(of: target), rest < distance else { continue }
        way.steps.append(ChangePath.Step(link: link, positions: try pieces.positions(spots)))
        way.end = ScopePosition(object: target, state: beyond)
        return true
      }
    }
    return false
  }
}
