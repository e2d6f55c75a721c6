/// Whether objects are at most some number of links away from a changed object.
///
/// Goes breadth first and never to one object twice in a search, so that a search takes time for
/// the objects that it reaches, not for the number of links that it may follow, and does not
/// recurse. Later searches use the distances that earlier ones have found.
struct NearestChange {
  /// Calls `visit` with the objects that an object links to, until it returns false.
  ///
  /// - Parameter left: how many links may be followed from the object. With one left, links to
  ///   classes without changes can be skipped.
  typealias Links = (
    _ object: ObjectRef, _ left: Int, _ visit: (ObjectRef) -> Bool
  ) throws(StorageError) -> Void

  /// Bounds on the distance from an object to the nearest change.
  private struct Bounds {
    /// A change is at most this many links away; nil if none is known.
    var near: Int?
    /// No change is this many links away, or nearer.
    var clear = -1
  }

  private struct Visit {
    let object: ObjectRef
    /// The visit from which this one was reached.
    let origin: Int
  }

  private var bounds: [ObjectRef: Bounds] = [:]

  /// - Parameters:
  ///   - most: how many links may be followed; `Int.max` for any number.
  ///   - isChanged: the same for each search, as are the links.
  mutating func isNear(
    _ object: ObjectRef, within most: Int, isChanged: @escaping (ObjectRef) -> Bool, links: Links
  ) throws(StorageError) -> Bool {
    if isChanged(object) { return true }
    let known = bounds[object] ?? Bounds()
    if let near = known.near, near <= most { return true }
    if known.clear >= most { return false }
    return try search(from: object, within: most, isChanged, links)
  }

  /// For an object that has not changed itself: a change is at most this many links away; nil if no
  /// search has found one.
  func knownDistance(of object: ObjectRef) -> Int? { bounds[object]?.near }

  private mutating func search(
    from object: ObjectRef, within most: Int, _ isChanged: @escaping (ObjectRef) -> Bool,
    _ links: Links
  ) throws(StorageError) -> Bool {
    var visits = [Visit(object: object, origin: -1)]
    var seen: Set<ObjectRef> = [object]
    /// The start of each level among the visits.
    var levels = [0]
    /// No link's target was left out.
    var isWhole = true
    while levels.count <= most, levels[levels.count - 1] < visits.count {
      let level = levels.count - 1
      let left = most - level
      let end = visits.count
      for index in levels[level]..<end {
        if let known = bounds[visits[index].object], known.clear >= left {
          isWhole = isWhole && known.clear == .max
          continue
        }
        // Links to classes without changes may be missing, which a longer search has to follow.
        if left == 1 { isWhole = false }
        var distance: Int?
        try links(visits[index].object, left) { next in
          if isChanged(next) {
            distance = 1
          } else if let near = bounds[next]?.near, near < left {
            distance = near + 1
          } else if seen.insert(next).inserted {
            visits.append(Visit(object: next, origin: index))
          }
          return distance == nil
        }
        if let distance {
          note(distance, from: index, visits)
          return true
        }
      }
      levels.append(end)
    }
    isWhole = isWhole && levels[levels.count - 1] == visits.count
    noteClear(visits, levels, within: isWhole ? nil : most)
    return false
  }

  /// Every object on the path to a visit is at most that distance plus the path away.
  private mutating func note(_ distance: Int, from index: Int, _ visits: [Visit]) {
    var (index, distance) = (index, distance)
    while index >= 0 {
      var known = bounds[visits[index].object] ?? Bounds()
      known.near = min(known.near ?? distance, distance)
      bounds[visits[index].object] = known
      index = visits[index].origin
      distance += 1
    }
  }

  /// - Parameter most: how many links were followed; nil for all.
  private mutating func noteClear(_ visits: [Visit], _ levels: [Int], within most: Int?) {
    for (level, start) in levels.enumerated() {
      let end = level + 1 < levels.count ? levels[level + 1] : visits.count
      let clear = most.map { $0 - level } ?? .max
      for visit in visits[start..<end] {
        var known = bounds[visit.object] ?? Bounds()
        known.clear = max(known.clear, clear)
        bounds[visit.object] = known
      }
    }
  }
}
