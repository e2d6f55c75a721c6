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
  /// Results with observers.
  private(set) var results: [LiveResult] = []
  /// The same, by each class whose changes can concern them.
  private var resultsByClass: [ClassID: [LiveResult]] = [:]
  /// Lists, sets, maps and backlinks with observers.
  private var owned = OwnedTable()
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
      let ended = source.observations.filter(isIt)
      count -= source.observations.removeAll(countingWhere: isIt)
      for observation in ended { observation.wasRemoved() }
      if source.observations.isEmpty {
        unfile(source)
        source.stopTracking()
      }
    }
    queue.removeAll(where: isIt)
  }

  private func file(_ source: any ObservedSource) {
    if let source = source as? any OwnedSource { return owned.insert(source) }
    guard let result = source as? LiveResult else { return }
    results.append(result)
    for id in result.query.concerningClasses { resultsByClass[id, default: []].append(result) }
  }

  private func unfile(_ source: any ObservedSource) {
    if let source = source as? any OwnedSource { return owned.remove(source) }
    guard let result = source as? LiveResult else { return }
    results.removeAll { $0 === result }
    for id in result.query.concerningClasses {
      resultsByClass[id]?.removeAll { $0 === result }
    }
  }

  /// The results that `changes` can concern, each once.
  func results(concernedBy changes: ChangeSet) -> [LiveResult] {
    if changes.schemaChanged { return results }
    if changes.classes.count == 1 { return resultsByClass[changes.classes[0].id] ?? [] }
    var found: Set<ObjectIdentifier> = []
    return changes.classes.flatMap { resultsByClass[$0.id] ?? [] }
      .filter { found.insert(ObjectIdentifier($0)).inserted }
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
  ///
  /// - Parameters:
  ///   - prepared: what a worker has made of the step for these results.
  ///   - former: the state before the step.
  func log(
    _ changes: ChangeSet, _ news: [ObjectNews], _ prepared: PreparedSteps,
    from former: Snapshot, _ core: RealmCore
  ) {
    for item in news {
      for observation in item.observations {
        observation.log(item, step: core.step)
        enqueue(observation)
      }
    }
    var concerned: [CollectionObservation] = []
    for result in results(concernedBy: changes) {
      guard result.logStep(changes, prepared[ObjectIdentifier(result)], core) else { continue }
      concerned += result.observations
    }
    let state = FormerState(former)
    for source in owned.concerned(by: changes) where source.logStep(changes, state) {
      concerned += source.observations
    }
    for observation in concerned { enqueue(observation) }
    // These may run the program's code, which sees the state after the step everywhere.
    for observation in concerned { observation.stepWasLogged() }
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

  /// True if somebody can be called.
  var hasNews: Bool { queue.contains { $0.hasNews(upTo: .max) } }

  /// Results with observers of whom none has been called yet.
  var resultsBeforeFirstCall: [LiveResult] {
    var found: Set<ObjectIdentifier> = []
    return queue.compactMap { observation in
      guard let observation = observation as? CollectionObservation, observation.needsInitial,
        observation.state.isActive, let result = observation.source as? LiveResult,
        !result.isTracked, found.insert(ObjectIdentifier(result)).inserted
      else { return nil }
      return result
    }
  }

  /// Lets first calls come in the next round, whatever they cost there.
  func awaitNobody() {
    for result in results { result.isAwaited = false }
  }

  /// Evaluates what first calls will show.
  func prepareInitials() {
    for case let observation as CollectionObservation in queue where observation.needsInitial {
      observation.prepare()
    }
  }

  /// Takes those out of the queue that have nothing left to be told.
  func settle() {
    queue.removeAll { observation in
      if observation.state.isActive {
        if observation.hasNews(upTo: .max) || observation.waitsForWorker { return false }
      }
      observation.isQueued = false
      return true
    }
  }

  /// The observations of the tokens with these identities.
  func observations(_ identities: Set<ObjectIdentifier>) -> [Observation] {
    guard !identities.isEmpty else { return [] }
    var found: [Observation] = realmObservations
    for result in results { found += result.observations }
    for source in owned.all { found += source.observations }
    for byKey in objects.values { for there in byKey.values { found += there } }
    return found.filter { identities.contains(ObjectIdentifier($0.state)) }
  }

  /// Ends everybody but realm-level observers.
  func end(with error: Realm.Error) {
    var ended: [Observation] = []
    for result in results { ended += result.observations }
    for source in owned.all { ended += source.observations }
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
