/// What has changed behind the elements of a collection between two states, found by walking down
/// from one element at a time.
///
/// Reads what it needs when it is asked, and holds both states for that. The links are those of
/// the newer one: where one was taken away, the object that had it was set itself.
///
/// A walk goes only where something changed: a class is passed by if nothing that is looked at lies
/// behind it, and whether anything lies behind an object is found out once. Where objects link to
/// each other in circles there can be too many ways to list; the search ends after a fixed amount
/// of work, but never without the shortest way.
///
/// Threading: confined to one thread at a time.
package final class NestedWalk {
  /// No more ways than that are told of one element.
  package static let waysMax = 1_000
  /// The search for more ways ends after so many looks at an object on a way.
  private static let looksMax = 1_000_000

  /// Where a walk has come to.
  private struct Stand: Hashable {
    let object: LinkTarget
    let outlook: Sight.Outlook
  }

  private let pieces: NestedPieces
  private let sight: Sight
  /// The collection, if it is a list, set or map.
  private let sequence: SequenceModel?
  /// Whether something has changed there or behind it, on the ways that are looked along.
  private var leading: [Stand: Bool] = [:]
  /// The same for objects that are some links away.
  private var nearest: NearestChange

  /// - Returns: nil if a migration lies between the states: nobody knows what it changed.
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

  /// True if an element that is at a position of a list now was put there, whatever there was.
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

  /// A way as far as it has been walked.
  private struct Way {
    var end: Stand
    var steps: [NestedWay.Step] = []
    var passed: [LinkTarget]
  }

  /// The ways from an object to what has changed, the shorter ones first.
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

  /// The ways that are longer by one link: of those whose end has changed, and of those that only
  /// lead on, not more than anybody is told.
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

  /// The changes at the end of one of the shortest ways.
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

  /// A position that is looked behind, and what is left to look at from there.
  private struct Search {
    let stand: Stand
    var rest: [Stand]
  }

  /// True if an object has changed, or something behind it that is looked at. Goes as deep as the
  /// links do, and so keeps a stack of its own.
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
