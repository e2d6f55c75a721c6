import TarnStore

/// The observers of an instance, and the rounds that call them. `Observation` describes the rules;
/// an `Advancer` moves the instance, and begins the rounds of its turns.
///
/// Threading: confined to the instance's scheduler.
final class Delivery {
  // Only the instance references this.
  unowned let host: any DeliveryHost
  private(set) var observers = ObserverTable()
  /// The targets of the rounds that are being delivered, the innermost last.
  private(set) var roundTargets: [Int] = []
  /// The snapshots at their targets, the innermost last; nil if no observer reads it.
  private var roundStates: [Snapshot?] = []
  /// The notification that realm-level observers are receiving.
  private var realmNews: RealmNews?
  /// A turn was requested when the instance could not move; it runs later.
  private var turnIsOwed = false
  /// More than 0 while observers of properties are called, which may neither move the instance nor
  /// begin or end a write.
  private var tellingDepth = 0
  /// The version moved where no observer can be called.
  private var pendingDidChange = false
  /// A committed write whose observers have not all been called. Its memory is freed after they
  /// have been: freeing a thousand clusters takes a tenth of the time until then.
  private var committed: WriteSession?
  /// The error that ended observation, once the store can no longer be followed.
  private(set) var failure: StorageError?

  init(_ host: any DeliveryHost) { self.host = host }

  /// The snapshot of the running round, if an observer that it calls reads that.
  var roundState: Snapshot? { roundStates.last ?? nil }
  /// The only error that observers will receive; nil if changes can be followed.
  var refusal: StorageError? { failure ?? host.store.refusalToFollow }
  /// Inside of a round.
  var isDelivering: Bool { !roundTargets.isEmpty }
  /// A callback is running during which the version must not move.
  var isBusy: Bool { isDelivering || realmNews != nil || isTellingOfProperties }
  /// True if `refresh`, which some callbacks may call, must do nothing.
  var refusesRefresh: Bool { isDelivering || realmNews == .move || isTellingOfProperties }
  /// Observers of properties are running in the middle of a change.
  var isTellingOfProperties: Bool { tellingDepth > 0 }

  func postponeDidChange() { pendingDidChange = true }
  /// Ends all observations.
  func dropObservations() {
    observers.endAll()
    observers = ObserverTable()
  }

  /// Calls observers of properties in the middle of a change.
  func telling<R>(_ call: () -> R) -> R {
    tellingDepth += 1
    defer {
      tellingDepth -= 1
      makeUpForOwedTurn()
    }
    return call()
  }

  // MARK: - Owed turns

  /// Schedules the turn again at the first moment at which the instance can move.
  func oweTurn() { turnIsOwed = true }
  func turnBegins() { turnIsOwed = false }

  /// Schedules a turn if one was refused at a wrong moment.
  func makeUpForOwedTurn() {
    if turnIsOwed, host.session == nil, !isDelivering, !isTellingOfProperties {
      host.scheduleTurn()
    }
  }

  /// The store can no longer be followed: observers receive the error once.
  func end(with error: StorageError) {
    failure = error
    committed = nil
    observers.end(with: error)
  }

  // MARK: - Rounds

  /// Calls every observer with the changes that it has not received up to the current step.
  func deliverRound() {
    if let refusal = host.store.refusalToFollow { return observers.end(with: refusal) }
    if observers.isIdle, !isDelivering {
      committed = nil
      return makeUpForOwedTurn()
    }
    let target = host.step
    let called = observers.newsworthy(upTo: target)
    if !called.isEmpty {
      roundTargets.append(target)
      let isRead = called.contains(where: \.readsTarget)
      roundStates.append(isRead ? host.reader?.snapshot : nil)
      for observation in called where observation.state.isActive {
        guard observation.hasPendingChange(upTo: target) else { continue }
        observation.deliver(upTo: target, host)
      }
      roundTargets.removeLast()
      roundStates.removeLast()
    }
    guard !isDelivering else { return }
    committed = nil
    letGo(of: observers.settle())
    if observers.hasPendingChange { host.scheduleTurn() }
    makeUpForOwedTurn()
  }

  /// The round at the start of a write: only if the running round does not know all changes.
  func deliverRoundForBegin() {
    guard let running = roundTargets.last else { return deliverRound() }
    if host.step > running || observers.hasInitialOutstanding { deliverRound() }
  }

  /// Notifies realm-level observers of the instance's own commit; others are called in a later
  /// turn.
  ///
  /// - Parameter session: the write, unless other code still needs it.
  func tellOfCommit(_ session: WriteSession? = nil, except skipped: Set<ObjectIdentifier>) {
    if observers.hasPendingChange { committed = session }
    tellRealmObservers(.move, except: skipped)
    showCommit()
  }

  /// Schedules a turn after the instance has moved to its own commit.
  func showCommit() {
    if observers.hasPendingChange { host.scheduleTurn() }
    makeUpForOwedTurn()
  }

  /// Large steps are freed by a worker as well.
  private func letGo(of told: [LiveChange]) {
    let weight = told.reduce(0) { saturatingSum($0, $1.weight) }
    if weight > 1_000, host.advancer.workLimits.usesWorker { LiveWork.letGo(of: told) }
  }

  // MARK: - Realm-level observers

  /// Notifies them that the version moved, now or earlier where they could not be called.
  func tellOfMove(_ moved: Bool) {
    let owed = pendingDidChange
    pendingDidChange = false
    if moved || owed { tellRealmObservers(.move) }
  }

  /// While they run, further notifications are dropped.
  func tellRealmObservers(
    _ news: RealmNews, except skipped: Set<ObjectIdentifier> = []
  ) {
    guard realmNews == nil, !observers.realmObservations.isEmpty else { return }
    realmNews = news
    defer { realmNews = nil }
    for observation in observers.realmObservations where observation.state.isActive {
      guard !skipped.contains(ObjectIdentifier(observation.state)) else { continue }
      switch news {
      case .move: observation.tellOfMove()
      case .newerVersion: observation.tellOfNewerVersion()
      }
    }
  }

  enum RealmNews {
    case move, newerVersion
  }
}

/// The instance that an `Advancer` moves and whose observers a `Delivery` calls, as far as this
/// room needs it. Instances are built from this room's types, so their class is in the room above.
protocol DeliveryHost: LiveHost {
  var delivery: Delivery! { get }
  var advancer: Advancer! { get }
  var store: Store { get }
  var scheduler: Scheduler { get }
  /// Requests turns; nil for an instance without turns.
  var wakeUp: WakeRegistration? { get }
  /// Traps unless this code runs where the instance lives.
  func checkThread()

  /// The observers of its rows' properties; nil without any.
  var properties: PropertyTable? { get }
  /// Removes an ended observation of a property.
  func endProperty(_ state: ObservationState)
  /// Removes observations of properties whose objects were permanently deleted.
  func endProperties()
  /// Drops all observations. Reads nothing, because the scheduler might no longer exist.
  func dropObservations()

  // MARK: The current version
  var state: ShownState { get }
  /// The open write, nil outside of one.
  var session: WriteSession? { get }
  /// Makes every accessor look its row up again at its next use.
  func rowsMoved()

  // MARK: Advancing
  /// It advances in its turns.
  var autorefresh: Bool { get }
  /// A newer version than the current one is known.
  var isBehind: Bool { get }
  /// Requests a turn.
  func scheduleTurn()
  /// The newest snapshot. Throws if the program's classes do not match it.
  func newestFittingSnapshot() throws(StorageError) -> Snapshot
}

extension DeliveryHost {
  /// The reader of the current snapshot; nil until something is read.
  var reader: SnapshotReader? { state.reader }
}
