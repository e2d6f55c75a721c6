/// Everything up to some number of links away from objects of some classes. Links of all kinds are
/// followed except backlinks; a cyclic path ends where it began.
struct DepthScope: Sendable {
  private let depth: Int
  private let roots: Set<ClassID>
  /// How many links the nearest objects of each class can be away.
  private let distances: [ClassID: Int]
  /// The links that may be followed, by the class that they lead to.
  private let incoming: [ClassID: [LinkStep]]

  var classes: Set<ClassID> { Set(distances.keys) }

  init(_ depth: Int, from roots: Set<ClassID>, _ schema: SchemaView) {
    self.depth = depth
    self.roots = roots
    var distances = Dictionary(uniqueKeysWithValues: roots.map { ($0, 0) })
    var incoming: [ClassID: [LinkStep]] = [:]
    var frontier = roots
    var distance = 0
    while !frontier.isEmpty, distance < depth {
      distance += 1
      var next: Set<ClassID> = []
      for link in frontier.flatMap(schema.links) {
        incoming[link.target, default: []].append(link)
        if distances[link.target] == nil {
          distances[link.target] = distance
          next.insert(link.target)
        }
      }
      frontier = next
    }
    self.distances = distances
    self.incoming = incoming
  }

  /// True if objects of that class are reached by a link, not only observed themselves.
  func hasLinks(to id: ClassID) -> Bool { incoming[id] != nil }

  func concerned(
    by changes: ChangeSet, _ rows: Rows, among observed: ObservedObjects
  ) throws(StorageError) -> [ClassID: KeySet] {
    var found = changes.touchedKeys { distances[$0] != nil }
    if found.isEmpty { return [:] }
    var level = found
    var passed = 0
    var away = 0
    while !level.isEmpty, away < depth {
      away += 1
      var next: [ClassID: KeySet] = [:]
      for (id, keys) in level {
        for link in incoming[id] ?? [] where away + distances[link.classID]! <= depth {
          let most = observed.budget - passed
          guard let origins = try rows.before(keys, through: link, atMost: most) else {
            return try searchFromObserved(changes, rows, observed)
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

  private func searchFromObserved(
    _ changes: ChangeSet, _ rows: Rows, _ observed: ObservedObjects
  ) throws(StorageError) -> [ClassID: KeySet] {
    let search = ScopeSearch(.depth(depth), over: changes, rows)
    var found: [ClassID: KeySet] = [:]
    for (id, keys) in try observed.keys() where roots.contains(id) {
      let concerned = try search.concerned(among: keys, of: id)
      if !concerned.isEmpty { found[id] = concerned }
    }
    return found
  }
}

extension ChangeSet {
  /// The objects with a property that was set, of the classes that `isIncluded` accepts.
  func touchedKeys(where isIncluded: (ClassID) -> Bool = { _ in true }) -> [ClassID: KeySet] {
    var found: [ClassID: KeySet] = [:]
    for own in classes where !own.touched.isEmpty && isIncluded(own.id) {
      found[own.id] = own.touchedKeys(in: .all)
    }
    return found
  }
}

extension SchemaView {
  /// Every link from an object of a class to others: mixed values may link to any class.
  func links(of id: ClassID) -> [LinkStep] {
    self[id].columns.flatMap { column -> [LinkStep] in
      if column.isRemoved { return [] }
      let targets =
        column.type == .any ? schema.classes.map(\.id) : [column.target].compactMap { $0 }
      return targets.map { LinkStep(classID: id, column: column.id, target: $0) }
    }
  }
}
