import TarnStore

/// The sources of one instance that go over their elements and have observers, found by the object
/// that they belong to and by what they hold.
struct OwnedTable {
  private(set) var all: [any OwnedSource] = []
  private var byOwner: [ClassID: [ObjectKey: [any OwnedSource]]] = [:]
  /// Those of objects, by each class whose changes can concern these.
  private var byElements: [ClassID: [any OwnedSource]] = [:]

  mutating func insert(_ source: any OwnedSource) {
    all.append(source)
    if let owner = source.owner {
      byOwner[owner.classID, default: [:]][owner.key, default: []].append(source)
    }
    for id in source.elementClasses { byElements[id, default: []].append(source) }
  }

  mutating func remove(_ source: any OwnedSource) {
    all.removeAll { $0 === source }
    for id in source.elementClasses { byElements[id]?.removeAll { $0 === source } }
    guard let owner = source.owner, var there = byOwner[owner.classID]?[owner.key] else { return }
    there.removeAll { $0 === source }
    byOwner[owner.classID]?[owner.key] = there.isEmpty ? nil : there
    if byOwner[owner.classID]?.isEmpty == true { byOwner[owner.classID] = nil }
  }

  /// Those that `changes` can concern, each once.
  func concerned(by changes: ChangeSet) -> [any OwnedSource] {
    if all.isEmpty || changes.schemaChanged { return all }
    var found: Set<ObjectIdentifier> = []
    var concerned: [any OwnedSource] = []
    func add(_ more: [any OwnedSource]) {
      for source in more where found.insert(ObjectIdentifier(source)).inserted {
        concerned.append(source)
      }
    }
    for change in changes.classes {
      if let known = byElements[change.id] { add(known) }
      guard let owners = byOwner[change.id] else { continue }
      change.forEachConcerned(among: owners.count, owners.keys) { add(owners[$0] ?? []) }
    }
    return concerned
  }
}
