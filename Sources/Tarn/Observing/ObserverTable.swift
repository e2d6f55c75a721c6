import TarnStore

/// Who observes what on one instance, found by what changed and not by walking through everybody.
///
/// Confined to the instance's scheduler. Tokens that end elsewhere are only marked dead; their
/// places here are cleared in the next turn.
final class ObserverTable {
  private var nextSerial = 0
  private(set) var realmObservations: [RealmObservation] = []
  /// By class, by key: object observations are found from the smaller side, touched keys or these.
  private var objects: [ClassID: [ObjectKey: [ObjectObservation]]] = [:]
  /// Results, lists, sets and maps with observers.
  private(set) var sources: [any ObservedSource] = []
  /// The same, by each class whose changes can concern them.
  private var sourcesByClass: [ClassID: [any ObservedSource]] = [:]
  /// Those that belong to an object, by that.
  private var sourcesByOwner: [ClassID: [ObjectKey: [any ObservedSource]]] = [:]
  /// Observations with news, in the order in which they will be called once sorted.
  private var queue: [Observation] = []
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }
  var hasObjects: Bool { !objects.isEmpty }
  /// Later turns have somebody to tell.
  var wantsTurns: Bool { count > 0 }

  func claimSerial() -> Int {
    defer { nextSerial += 1 }
    return nextSerial
  }

  // MARK: - Coming and going

  func add(_ observation: RealmObservation) {
    realmObservations.append(observation)
    count += 1
  }

  func add(_ observation: ObjectObservation) {
    objects[observation.classID, default: [:]][observation.key, default: []].append(observation)
    count += 1
  }

  func add(_ observation: CollectionObservation, to source: any ObservedSource) {
    if source.observations.isEmpty { file(source) }
    source.observations.append(observation)
    count += 1
    enqueue(observation)
  }

  func remove(_ state: ObservationState) {
    func isIt(_ observation: Observation) -> Bool { observation.state === state }
    switch state.place {
    case .realm:
      count -= realmObservations.removeAll(countingWhere: isIt)
    case .object(let id, let key):
      guard var there = objects[id]?[key] else { return }
      count -= there.removeAll(countingWhere: isIt)
      objects[id]?[key] = there.isEmpty ? nil : there
      if objects[id]?.isEmpty == true { objects[id] = nil }
    case .collection(let box):
      guard let source = box.source else { return }
      count -= source.observations.removeAll(countingWhere: isIt)
      if source.observations.isEmpty {
        unfile(source)
        source.stopTracking()
      }
    }
    queue.removeAll(where: isIt)
  }

  private func file(_ source: any ObservedSource) {
    sources.append(source)
    for id in source.concerningClasses { sourcesByClass[id, default: []].append(source) }
    if let owner = source.owner {
      sourcesByOwner[owner.classID, default: [:]][owner.key, default: []].append(source)
    }
  }

  private func unfile(_ source: any ObservedSource) {
    sources.removeAll { $0 === source }
    for id in source.concerningClasses { sourcesByClass[id]?.removeAll { $0 === source } }
    guard let owner = source.owner, var there = sourcesByOwner[owner.classID]?[owner.key] else {
      return
    }
    there.removeAll { $0 === source }
    sourcesByOwner[owner.classID]?[owner.key] = there.isEmpty ? nil : there
    if sourcesByOwner[owner.classID]?.isEmpty == true { sourcesByOwner[owner.classID] = nil }
  }

  /// The sources that `changes` can concern, each once.
  private func sources(concernedBy changes: ChangeSet) -> [any ObservedSource] {
    if changes.schemaChanged { return sources }
    if sourcesByOwner.isEmpty, changes.classes.count == 1 {
      return sourcesByClass[changes.classes[0].id] ?? []
    }
    var found: Set<ObjectIdentifier> = []
    var concerned: [any ObservedSource] = []
    func add(_ more: [any ObservedSource]) {
      for source in more where found.insert(ObjectIdentifier(source)).inserted {
        concerned.append(source)
      }
    }
    for change in changes.classes {
      if let known = sourcesByClass[change.id] { add(known) }
      guard let owners = sourcesByOwner[change.id] else { continue }
      change.forEachConcerned(among: owners.count, owners.keys) { add(owners[$0] ?? []) }
    }
    return concerned
  }

  // MARK: - Logging a step

  /// Old values of the observed objects that `changes` touches. To be called before the shown
  /// version moves.
  func readOldValues(_ changes: ChangeSet, _ core: RealmCore) -> [ObjectNews] {
    guard !objects.isEmpty else { return [] }
    var news: [ObjectNews] = []
    for change in changes.classes {
      guard let observed = objects[change.id] else { continue }
      change.forEachConcerned(among: observed.count, observed.keys) { key in
        guard let observations = observed[key] else { return }
        news.append(ObjectNews(change, key, observations, core))
      }
    }
    return news
  }

  /// Logs what the step that was just made means for each observation that it concerns.
  func log(
    _ changes: ChangeSet, _ news: [ObjectNews], from former: Snapshot, _ core: RealmCore
  ) {
    for item in news {
      for observation in item.observations {
        observation.log(item, step: core.step)
        enqueue(observation)
      }
    }
    let former = FormerState(former)
    for source in sources(concernedBy: changes) where source.logStep(changes, former) {
      for observation in source.observations { enqueue(observation) }
    }
  }

  private func enqueue(_ observation: Observation) {
    guard !observation.isQueued else { return }
    observation.isQueued = true
    queue.append(observation)
  }

  // MARK: - Rounds

  /// Those that are to be called in a round which begins now, in their order.
  func newsworthy(upTo target: Int) -> [Observation] {
    queue.sort { $0.serial < $1.serial }
    return queue.filter { $0.hasNews(upTo: target) }
  }

  /// True if some observation has not had its first call.
  var hasInitialOutstanding: Bool {
    queue.contains { ($0 as? CollectionObservation)?.needsInitial == true }
  }

  var hasNews: Bool { !queue.isEmpty }

  /// Evaluates what first calls will show.
  func prepareInitials() {
    for case let observation as CollectionObservation in queue where observation.needsInitial {
      observation.source.prepareForObserving()
    }
  }

  /// Takes those out of the queue that have nothing left to be told.
  func settle() {
    queue.removeAll { observation in
      if observation.state.isActive, observation.hasNews(upTo: .max) { return false }
      observation.isQueued = false
      return true
    }
  }

  /// The observations of the tokens with these identities.
  func observations(_ identities: Set<ObjectIdentifier>) -> [Observation] {
    guard !identities.isEmpty else { return [] }
    var found: [Observation] = realmObservations
    for source in sources { found += source.observations }
    for byKey in objects.values { for there in byKey.values { found += there } }
    return found.filter { identities.contains(ObjectIdentifier($0.state)) }
  }

  /// Ends everybody but realm-level observers.
  func end(with error: Realm.Error) {
    var ended: [Observation] = []
    for source in sources { ended += source.observations }
    for byKey in objects.values { for there in byKey.values { ended += there } }
    ended.sort { $0.serial < $1.serial }
    for observation in ended {
      observation.end(with: error)
      remove(observation.state)
    }
  }
}

extension Array {
  /// Removes the elements that match and tells how many there were.
  @discardableResult
  fileprivate mutating func removeAll(countingWhere matches: (Element) -> Bool) -> Int {
    let before = count
    removeAll(where: matches)
    return before - count
  }
}
