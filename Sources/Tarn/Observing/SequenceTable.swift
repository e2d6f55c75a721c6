import TarnStore

/// The lists, sets and maps of one instance that have observers, found by the object that they
/// belong to and by what they hold.
struct SequenceTable {
  private(set) var all: [LiveSequence] = []
  private var byOwner: [ClassID: [ObjectKey: [LiveSequence]]] = [:]
  /// Those of objects, by each class whose changes can concern these.
  private var byElements: [ClassID: [LiveSequence]] = [:]

  mutating func insert(_ sequence: LiveSequence) {
    all.append(sequence)
    let place = sequence.place
    byOwner[place.classID, default: [:]][place.key, default: []].append(sequence)
    for id in sequence.elementClasses { byElements[id, default: []].append(sequence) }
  }

  mutating func remove(_ sequence: LiveSequence) {
    all.removeAll { $0 === sequence }
    for id in sequence.elementClasses { byElements[id]?.removeAll { $0 === sequence } }
    let place = sequence.place
    guard var there = byOwner[place.classID]?[place.key] else { return }
    there.removeAll { $0 === sequence }
    byOwner[place.classID]?[place.key] = there.isEmpty ? nil : there
    if byOwner[place.classID]?.isEmpty == true { byOwner[place.classID] = nil }
  }

  /// Those that `changes` can concern, each once.
  func concerned(by changes: ChangeSet) -> [LiveSequence] {
    if all.isEmpty || changes.schemaChanged { return all }
    var found: Set<ObjectIdentifier> = []
    var concerned: [LiveSequence] = []
    func add(_ more: [LiveSequence]) {
      for sequence in more where found.insert(ObjectIdentifier(sequence)).inserted {
        concerned.append(sequence)
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
