/// Everything up to some number of links away from objects of some classes. Links of all kinds are
/// followed, except from an object to those that link to it; a way in a circle ends where it began.
struct DepthWalk: Sendable {
  private let depth: Int
  private let roots: Set<ClassID>
  /// How many links the nearest objects of each class can be away.
  private let distances: [ClassID: Int]
  /// The links that may be followed, by the class that they lead to, and by the one that has them.
  private var incoming: [ClassID: [LinkStep]] = [:]
  private var outgoing: [ClassID: [LinkStep]] = [:]

  var classes: Set<ClassID> { Set(distances.keys) }

  init(_ depth: Int, from roots: Set<ClassID>, _ schema: SchemaView) {
    self.depth = depth
    self.roots = roots
    var distances = Dictionary(uniqueKeysWithValues: roots.map { ($0, 0) })
    var frontier = roots
    var distance = 0
    while !frontier.isEmpty, distance < depth {
      distance += 1
      var next: Set<ClassID> = []
      for id in frontier {
        for link in schema.links(of: id) {
          incoming[link.target, default: []].append(link)
          outgoing[id, default: []].append(link)
          if distances[link.target] == nil {
            distances[link.target] = distance
            next.insert(link.target)
          }
        }
      }
      frontier = next
    }
    self.distances = distances
  }

  /// Objects of that class are reached over a link, not only looked at.
  func hasLinks(to id: ClassID) -> Bool { incoming[id] != nil }

  func concerned(
    by changes: ChangeSet, _ rows: StoreRows, among lookedAt: LookedAt
  ) throws(StorageError) -> [ClassID: KeySet] {
    var touched: [ClassID: KeySet] = [:]
    for own in changes.classes where distances[own.id] != nil {
      let keys = own.touchedKeys(in: .all)
      if !keys.isEmpty { touched[own.id] = keys }
    }
    if touched.isEmpty { return [:] }
    var (found, level) = (touched, touched)
    var passed = 0
    var away = 0
    while !level.isEmpty, away < depth {
      away += 1
      var next: [ClassID: KeySet] = [:]
      for (id, keys) in level {
        for link in incoming[id] ?? [] where away + distances[link.classID]! <= depth {
          let most = lookedAt.budget - passed
          guard let origins = try rows.before(keys, through: link, atMost: most) else {
            return try forwards(to: touched, rows, lookedAt)
          }
          passed += origins.count
          let fresh = origins.subtracting(found[link.classID] ?? KeySet())
          if fresh.isEmpty { continue }
          next[link.classID, default: KeySet()].formUnion(fresh)
          found[link.classID, default: KeySet()].formUnion(fresh)
        }
      }
      level = next
    }
    return found.filter { roots.contains($0.key) }
  }

  // MARK: - From the side of those who look

  private func forwards(
    to touched: [ClassID: KeySet], _ rows: StoreRows, _ lookedAt: LookedAt
  ) throws(StorageError) -> [ClassID: KeySet] {
    var changes = NearestChange { object in
      touched[object.classID]?.contains(object.key) == true
    } links: { [outgoing] object, left, visit throws(StorageError) in
      for link in outgoing[object.classID] ?? [] where left > 1 || touched[link.target] != nil {
        for key in try rows.after(KeySet(object.key), through: link) {
          if !visit(LinkTarget(classID: link.target, key: key)) { return }
        }
      }
    }
    var found: [ClassID: KeySet] = [:]
    for (id, keys) in try lookedAt.keys() where roots.contains(id) {
      var hits: [ObjectKey] = []
      for key in keys {
        let object = LinkTarget(classID: id, key: key)
        if try changes.isNear(object, within: depth) { hits.append(key) }
      }
      if !hits.isEmpty { found[id] = KeySet(hits) }
    }
    return found
  }
}

extension SchemaView {
  /// Every way from an object of a class to others: mixed values may link to any class.
  func links(of id: ClassID) -> [LinkStep] {
    self[id].columns.flatMap { column -> [LinkStep] in
      if column.isRemoved { return [] }
      let targets =
        column.type == .any ? schema.classes.map(\.id) : [column.target].compactMap { $0 }
      return targets.map { LinkStep(classID: id, column: column.id, target: $0) }
    }
  }
}
