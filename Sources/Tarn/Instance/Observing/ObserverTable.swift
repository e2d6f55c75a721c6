import TarnStore

/// The observers of one instance, found by the changed objects, without visiting all of them.
///
/// Confined to the instance's scheduler. Tokens that end elsewhere are only marked dead; their
/// entries here are cleared in the next turn.
final class ObserverTable {
  private var nextSerial = 0
  private(set) var realmObservations: [RealmObservation] = []
  /// By class and key: object observations are found from the smaller side, touched keys or these.
  private var objects: [ClassID: [ObjectKey: [ObjectObservation]]] = [:]
  /// The scopes of object observers with key paths.
  private var keyPathScopes = KeyPathScopeTable()
  /// Sources with observers.
  let sources = SourceTable()
  private var byLog: [ObjectIdentifier: [CollectionObservation]] = [:]
  /// How many logs of each source have observers.
  private var logCounts: [ObjectIdentifier: Int] = [:]
  /// Observations with news, in the order in which they will be called once sorted.
  private var queue: [Observation] = []
  private(set) var count = 0
  /// Loops that have not read a step yet, and hold the state before it.
  private var keepers: [CollectionObservation] = []
  /// The number of steps for which they may hold it.
  static let stepsKept = 32

  var isEmpty: Bool { count == 0 }
  /// True if no observation has news or waits for any.
  var isIdle: Bool { queue.isEmpty }
  /// True if later turns may have observers to call.
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

  /// The scope of observers of a class along these paths.
  ///
  /// - Parameter ends: by number, the paths whose end is reported.
  func watch(
    _ classID: ClassID, _ paths: [ScopePath], ends: [Int: ScopePath], _ schema: SchemaView
  ) -> KeyPathScope {
    keyPathScopes.watch(classID, paths, ends: ends, schema)
  }

  func add(_ observation: ObjectObservation) {
    keyPathScopes.add(observation)
    objects[observation.classID, default: [:]][observation.key, default: []].append(observation)
    count += 1
  }

  func add(_ observation: CollectionObservation) {
    let (source, log) = (observation.source, observation.log)
    if byLog[ObjectIdentifier(log)] == nil {
      let logs = logCounts[ObjectIdentifier(source)] ?? 0
      if logs == 0 { sources.insert(source) }
      logCounts[ObjectIdentifier(source)] = logs + 1
      sources.register(source, seeing: log.scope)
    }
    byLog[ObjectIdentifier(log), default: []].append(observation)
    count += 1
    enqueue(observation)
  }

  func remove(_ state: ObservationState) {
    func isIt(_ observation: Observation) -> Bool { observation.state === state }
    switch state.target {
    case .property, .elsewhere: return
    case .realm:
      count -= realmObservations.removeAll(countingWhere: isIt)
    case .object(let id, let key):
      guard var there = objects[id]?[key] else { return }
      for observation in there where isIt(observation) { keyPathScopes.remove(observation) }
      count -= there.removeAll(countingWhere: isIt)
      objects[id]?[key] = there.isEmpty ? nil : there
      if objects[id]?.isEmpty == true { objects[id] = nil }
    case .collection(let box):
      guard let source = box.source, let log = box.log else { return }
      var there = observations(of: log)
      let ended = there.removeAll(countingWhere: isIt)
      count -= ended
      byLog[ObjectIdentifier(log)] = there.isEmpty ? nil : there
      if there.isEmpty, ended > 0 { remove(log, of: source) }
    }
    queue.removeAll(where: isIt)
    keepers.removeAll(where: isIt)
  }

  private func remove(_ log: ScopedLog, of source: any ObservedSource) {
    sources.unregister(source, seeing: log.scope)
    source.remove(log)
    let logs = (logCounts[ObjectIdentifier(source)] ?? 0) - 1
    logCounts[ObjectIdentifier(source)] = logs > 0 ? logs : nil
    if logs > 0 { return }
    sources.remove(source)
    source.endFollowing()
  }

  /// The observations that receive the changes of one log.
  private func observations(of log: ScopedLog) -> [CollectionObservation] {
    byLog[ObjectIdentifier(log)] ?? []
  }

  // MARK: - Logging a step

  /// Old values of the observed objects that `changes` touches.
  ///
  /// - Parameter rows: the rows before the changes.
  func readOldValues(_ changes: ChangeSet, _ rows: Rows) -> [ObjectNews] {
    guard !objects.isEmpty else { return [] }
    var news: [ObjectNews] = []
    for change in changes.classes {
      guard let observed = objects[change.id] else { continue }
      for (key, observations) in observed.concerned(by: change) {
        news.append(ObjectNews(change, key, observations, rows))
      }
    }
    return news
  }

  /// Logs the effect of the step just made for each observation concerned.
  ///
  /// - Parameters:
  ///   - prepared: the content that a worker has computed for some sources.
  ///   - concerned: the sources that the step can concern; nil to look for them.
  func log(
    _ move: LiveMove, step: Int, _ news: [ObjectNews], _ prepared: PreparedSteps = [:],
    concerned: [any ObservedSource]? = nil
  ) {
    for item in news {
      for observation in item.observations {
        if observation.log(item, step: step) { enqueue(observation) }
      }
    }
    trapping { () throws(StorageError) in
      try keyPathScopes.log(move, step: step) { enqueue($0) }
    }
    var asked: [any ObservedSource] = []
    let concerned =
      concerned
      ?? trapping { () throws(StorageError) in
        try sources.concerned(by: move.changes) { move }
      }
    for source in concerned {
      let isNews = trapping { () throws(StorageError) in
        try source.follow(move, prepared: prepared)
      }
      // A source whose owner was deleted counts, too: loops that wait for its changes must end.
      guard isNews || source.isGone else { continue }
      if source.asksProgram { asked.append(source) }
      for log in source.logs where log.hasNews(of: step) || source.isGone {
        for observation in observations(of: log) {
          enqueue(observation)
          if observation.readsTarget { note(step, move, for: observation) }
        }
      }
    }
    if !keepers.isEmpty { forgetStates(before: step) }
    // These may run the program's code, which sees the state after the step everywhere.
    for source in asked { source.askAboutStep() }
  }

  /// Logs, for one observer of an object, the changes between another instance's version and this
  /// one's, as if the object had been observed there.
  func makeUp(
    for observation: ObjectObservation, _ move: LiveMove, from past: any DeliveryHost, step: Int
  ) {
    let alone = ObserverTable()
    alone.add(observation)
    alone.log(move, step: step, alone.readOldValues(move.changes, Rows(past.shown())))
    guard observation.isQueued else { return }
    observation.isQueued = false
    enqueue(observation)
  }

  private func note(_ step: Int, _ move: LiveMove, for observation: CollectionObservation) {
    guard let past = move.past else { return }
    let wasKeeper = observation.firstStepKept != nil
    observation.note(step: step, from: past)
    if !wasKeeper, observation.isPulled, observation.firstStepKept != nil {
      keepers.append(observation)
    }
  }

  /// Prevents slow loops from keeping a version indefinitely.
  private func forgetStates(before step: Int) {
    keepers.removeAll { observation in
      guard let first = observation.firstStepKept, observation.state.isActive else { return true }
      if step - first < Self.stepsKept { return false }
      observation.forgetStatesBefore()
      return true
    }
  }

  private func enqueue(_ observation: Observation) {
    guard !observation.isQueued else { return }
    observation.isQueued = true
    queue.append(observation)
  }

  // MARK: - Rounds

  /// The observations to call in a round that begins now, in order.
  func newsworthy(upTo target: Int) -> [Observation] {
    queue.sort { $0.serial < $1.serial }
    return queue.filter { $0.hasPendingChange(upTo: target) }
  }

  /// True if some observation has not had its first call.
  var hasInitialOutstanding: Bool {
    queue.contains { ($0 as? CollectionObservation)?.isFirstCallDue == true }
  }

  /// True if an observation can be called.
  var hasPendingChange: Bool { queue.contains { $0.hasPendingChange(upTo: .max) } }

  /// Sources with observers none of which has been called yet.
  var sourcesBeforeFirstCall: [any ObservedSource] {
    var found: Set<ObjectIdentifier> = []
    return queue.compactMap { observation in
      guard let observation = observation as? CollectionObservation, observation.needsInitial,
        observation.state.isActive, !observation.source.isFollowed,
        found.insert(ObjectIdentifier(observation.source)).inserted
      else { return nil }
      return observation.source
    }
  }

  /// Makes the first calls due in the next round, regardless of their cost.
  func awaitNobody() {
    for source in sources.all { source.isAwaited = false }
  }

  /// Evaluates the contents that first calls will report.
  func prepareInitials() {
    for case let observation as CollectionObservation in queue where observation.needsInitial {
      observation.prepare()
    }
  }

  /// Removes observations without pending changes from the queue, and drops the steps that all
  /// observers have received.
  ///
  /// - Returns: the changes of these steps.
  func settle() -> [LiveChange] {
    var told: [LiveChange] = []
    var settled: Set<ObjectIdentifier> = []
    let isAlone = queue.count == 1
    for case let observation as CollectionObservation in queue {
      let log = observation.log
      guard isAlone || settled.insert(ObjectIdentifier(log)).inserted else { continue }
      let forgotten = forgetSteps(of: log)
      if told.isEmpty { told = forgotten } else { told += forgotten }
    }
    queue.removeAll { observation in
      if observation.state.isActive {
        if observation.hasPendingChange(upTo: .max) || observation.waitsForWorker { return false }
      }
      observation.isQueued = false
      return true
    }
    return told
  }

  /// Drops the steps of one log that all its observers have received.
  ///
  /// - Returns: the changes of these steps.
  @discardableResult
  func forgetSteps(of log: ScopedLog) -> [LiveChange] {
    let there = observations(of: log)
    let told = log.forgetSteps(upTo: there.lazy.map(\.seen).min() ?? .max)
    if !log.stepNumbers.isEmpty { log.mergeSteps(splitAt: Set(there.flatMap(\.marks))) }
    return told
  }

  /// The observations of the tokens with these identities.
  func observations(_ identities: Set<ObjectIdentifier>) -> [Observation] {
    guard !identities.isEmpty else { return [] }
    return (realmObservations + observationsOfContent).filter {
      identities.contains(ObjectIdentifier($0.state))
    }
  }

  /// All observations except realm-level ones.
  private var observationsOfContent: [Observation] {
    var found: [Observation] = []
    for there in byLog.values { found += there as [Observation] }
    for byKey in objects.values { for there in byKey.values { found += there } }
    return found
  }

  /// Ends all observations. The table must not be used afterwards.
  func endAll() {
    for observation in realmObservations + observationsOfContent { observation.state.end() }
  }

  /// Ends all observations, except realm-level ones that cannot receive an error.
  func end(with error: StorageError) {
    for observation in realmObservations { observation.end(with: error) }
    count -= realmObservations.removeAll(countingWhere: { !$0.state.isActive })
    for observation in observationsOfContent.sorted(by: { $0.serial < $1.serial }) {
      observation.end(with: error)
      remove(observation.state)
    }
  }
}

extension Array {
  /// Removes the matching elements and returns their number.
  @discardableResult
  fileprivate mutating func removeAll(countingWhere matches: (Element) -> Bool) -> Int {
    let before = count
    removeAll(where: matches)
    return before - count
  }
}
