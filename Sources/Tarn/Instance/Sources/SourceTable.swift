import TarnStore

/// The sources of one instance that have observers, found by the parts of a change that can concern
/// them: their owner, and the classes of their content.
struct SourceTable {
  private(set) var all: [any ObservedSource] = []
  private var byOwner: [ClassID: [ObjectKey: [any ObservedSource]]] = [:]
  private var byClass: [ClassID: [any ObservedSource]] = [:]

  mutating func insert(_ source: any ObservedSource) {
    all.append(source)
    if let owner = source.owner {
      byOwner[owner.classID, default: [:]][owner.key, default: []].append(source)
    }
    register(source, under: source.concerningClasses)
  }

  mutating func remove(_ source: any ObservedSource) {
    all.removeAll { $0 === source }
    unregister(source, under: source.concerningClasses)
    guard let owner = source.owner, var there = byOwner[owner.classID]?[owner.key] else { return }
    there.removeAll { $0 === source }
    byOwner[owner.classID]?[owner.key] = there.isEmpty ? nil : there
    if byOwner[owner.classID]?.isEmpty == true { byOwner[owner.classID] = nil }
  }

  /// Registers one more reason why changes of these classes concern the source.
  mutating func register(_ source: any ObservedSource, under classes: Set<ClassID>) {
    for id in classes {
      let reasons = source.registrations[id] ?? 0
      if reasons == 0 { byClass[id, default: []].append(source) }
      source.registrations[id] = reasons + 1
    }
  }

  /// Removes one of these reasons.
  mutating func unregister(_ source: any ObservedSource, under classes: Set<ClassID>) {
    for id in classes {
      let reasons = source.registrations[id] ?? 0
      source.registrations[id] = reasons > 1 ? reasons - 1 : nil
      if reasons == 1 { byClass[id]?.removeAll { $0 === source } }
    }
  }

  /// The sources that `changes` can concern, each once.
  func concerned(by changes: ChangeSet) -> [any ObservedSource] {
    if all.isEmpty || changes.schemaChanged { return all }
    if byOwner.isEmpty, changes.classes.count == 1 { return byClass[changes.classes[0].id] ?? [] }
    var found: Set<ObjectIdentifier> = []
    var concerned: [any ObservedSource] = []
    func add(_ more: [any ObservedSource]) {
      for source in more where found.insert(ObjectIdentifier(source)).inserted {
        concerned.append(source)
      }
    }
    for change in changes.classes {
      if let known = byClass[change.id] { add(known) }
      guard let owners = byOwner[change.id] else { continue }
      for owner in owners.concerned(by: change) { add(owner.value) }
    }
    return concerned
  }
}

extension Dictionary where Key == ObjectKey {
  /// The values of the objects that `changes` touched or deleted, found from the smaller side.
  func concerned(by changes: ClassChanges) -> [(key: ObjectKey, value: Value)] {
    if let keys = changes.concernedKeys(ifFewerThan: count) {
      return keys.compactMap { key in self[key].map { (key, $0) } }
    }
    var found: [(key: ObjectKey, value: Value)] = []
    for entry in self where changes.concerns(entry.key) { found.append(entry) }
    return found
  }
}
