/// Finds what has changed behind the elements of a collection between two states, by walking down
/// from one element at a time.
///
/// Reads on demand, and holds both states for that. The links are those of the newer state: if one
/// was removed, the object that had it was itself modified.
///
/// A walk only follows links that can lead to a change: a class is skipped if nothing that is
/// observed lies behind it, and whether something lies behind an object is determined once. Cyclic
/// links can have too many paths to list; the search ends after a fixed amount of work, but always
/// finds the shortest path.
///
/// Threading: confined to one thread at a time.
package final class NestedWalk {
  /// The most paths reported for one element.
  package static let waysMax = 1_000
  /// The search for more paths ends after that many visits of objects.
  private static let looksMax = 1_000_000

  /// A position of the walk.
  private struct Stand: Hashable {
    let object: LinkTarget
    let outlook: Sight.Outlook
  }

  private let pieces: NestedPieces
  private let sight: Sight
  /// The collection, if it is a list, set or map.
  private let sequence: SequenceModel?
  /// Whether something has changed there or behind it, on the observed paths.
  private var leading: [Stand: Bool] = [:]
  /// The same for objects some links away.
  private var nearest: NearestChange

  /// - Returns: nil if a migration lies between the states: its changes are unknown.
  package init?(
    from former: PastState, to state: PastState, _ reach: Reach, in sequence: SequenceModel?
  ) throws(StorageError) {
    let changes = try ChangeLog.changes(from: former, to: state)
    if changes.schemaChanged { return nil }
    let rows = try state.rows()
    let pieces = NestedPieces(LiveMove(changes, from: former, to: rows))
    let sight = Sight(reach, over: changes, rows.schema)
    nearest = NearestChange { object in
      !sight.touched(object, .links(left: 0)).isEmpty
    } links: { object, left, visit throws(StorageError) in
      for (link, _) in sight.links(from: object.classID, .links(left: left)) {
        for (target, _) in try pieces.targets(of: object, through: link) {
          if !visit(target) { return }
        }
      }
    }
    (self.pieces, self.sight, self.sequence) = (pieces, sight, sequence)
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
    var end: Stand
    var steps: [NestedWay.Step] = []
    var passed: [LinkTarget]
  }

  /// The paths from an object to changes, shorter ones first.
  package func ways(from object: LinkTarget) throws(StorageError) -> [NestedWay] {
    var found: [NestedWay] = []
    let start = Stand(object: object, outlook: sight.outlook)
    guard try leads(start) else { return [] }
    var level = [Way(end: start, passed: [object])]
    var looks = 0
    while !level.isEmpty, looks < Self.looksMax {
      for way in level {
        for spot in sight.touched(way.end.object, way.end.outlook) {
          found += try pieces.changes(of: spot, in: way.end.object, behind: way.steps)
        }
        if found.count >= Self.waysMax { return Array(found.prefix(Self.waysMax)) }
      }
      level = try goingOn(level, &looks)
    }
    return found.isEmpty ? try shortestWays(from: start) : found
  }

  /// The paths that are longer by one link: those whose end has changed, and as many of those that
  /// only lead on as can be reported.
  private func goingOn(_ level: [Way], _ looks: inout Int) throws(StorageError) -> [Way] {
    var next: [Way] = []
    var (changed, others) = (0, 0)
    for way in level {
      for (link, beyond) in sight.links(from: way.end.object.classID, way.end.outlook) {
        for (target, spots) in try pieces.targets(of: way.end.object, through: link) {
          looks += way.passed.count
          if sight.isFreeOfCircles, way.passed.contains(target) { continue }
          let stand = Stand(object: target, outlook: beyond)
          guard try leads(stand) else { continue }
          if sight.touched(target, beyond).isEmpty {
            others += 1
            if others > Self.waysMax { continue }
          } else {
            changed += 1
          }
          let step = NestedWay.Step(link: link, positions: try pieces.positions(spots))
          next.append(Way(end: stand, steps: way.steps + [step], passed: way.passed + [target]))
          if changed == Self.waysMax { return next }
        }
      }
    }
    return next
  }

  /// The changes at the end of one of the shortest paths.
  private func shortestWays(from start: Stand) throws(StorageError) -> [NestedWay] {
    var way = Way(end: start, passed: [start.object])
    while let distance = nearest.knownDistance(of: way.end.object), distance > 0 {
      guard try goOn(along: &way, nearerThan: distance) else { break }
    }
    var found: [NestedWay] = []
    for spot in sight.touched(way.end.object, way.end.outlook) {
      found += try pieces.changes(of: spot, in: way.end.object, behind: way.steps)
    }
    return found
  }

  private func goOn(
    along way: inout Way, nearerThan distance: Int
  ) throws(StorageError) -> Bool {
    let end = way.end
    for (link, beyond) in sight.links(from: end.object.classID, end.outlook) {
      for (target, spots) in try pieces.targets(of: end.object, through: link) {
        guard let rest = nearest.knownDistance(of: target), rest < distance else { continue }
        way.steps.append(NestedWay.Step(link: link, positions: try pieces.positions(spots)))
        way.end = Stand(object: target, outlook: beyond)
        return true
      }
    }
    return false
  }

  /// A position to search behind, and the links that remain to be searched from there.
  private struct Search {
    let stand: Stand
    var rest: [Stand]
  }

  /// True if an object, or something observed behind it, has changed. It goes as deep as the links
  /// do, so it uses an explicit stack.
  private func leads(_ stand: Stand) throws(StorageError) -> Bool {
    if case .links(let left) = stand.outlook {
      return try nearest.isNear(stand.object, within: left)
    }
    var stack: [Search] = []
    if leading[stand] == nil { stack.append(try search(stand)) }
    while !stack.isEmpty {
      let top = stack.count - 1
      let here = stack[top].stand
      guard let next = stack[top].rest.last else {
        leading[here] = leading[here] ?? false
        stack.removeLast()
        continue
      }
      switch leading[next] {
      case nil: stack.append(try search(next))
      case false?: stack[top].rest.removeLast()
      case true?:
        leading[here] = true
        stack.removeLast()
      }
    }
    return leading[stand] == true
  }

  private func search(_ stand: Stand) throws(StorageError) -> Search {
    var search = Search(stand: stand, rest: [])
    if !sight.touched(stand.object, stand.outlook).isEmpty {
      leading[stand] = true
      return search
    }
    for (link, beyond) in sight.links(from: stand.object.classID, stand.outlook) {
      for (target, _) in try pieces.targets(of: stand.object, through: link) {
        search.rest.append(Stand(object: target, outlook: beyond))
      }
    }
    return search
  }
}
