import TarnStore

/// Who observes an instance, and when they are called: turns, rounds, and what a worker does before
/// them. The rules are told at `Observation`.
///
/// Threading: confined to the instance's scheduler.
final class Delivery {
  // The instance has this, and nobody else.
  unowned let host: any DeliveryHost
  private(set) var observers = ObserverTable()
  /// The targets of the rounds that are being delivered, the innermost last.
  private(set) var roundTargets: [Int] = []
  /// What they show, the innermost last; nil if nobody reads it.
  private var roundStates: [Snapshot?] = []
  /// What realm-level observers are being told at this moment.
  private var realmNews: RealmNews?
  /// A turn came at a moment when nothing may move; it is made up for.
  private var turnIsOwed = false
  /// More than 0 while observers of properties are called who may neither move the instance nor
  /// begin or end a write.
  private var tellingDepth = 0
  /// The shown version moved where no observer can be called.
  private var pendingDidChange = false
  /// Who waits until no worker has anything to do for the instance.
  private var waiting: [() -> Void] = []
  /// A write that was committed and of which observers are still to be told. Its memory is freed
  /// after they were: with a thousand clusters that takes a tenth of the time until then.
  private var committed: WriteSession?
  /// Set when the store can no longer be followed: the error that ended it.
  private(set) var failure: StorageError?

  /// When a worker is asked, and what it has been asked for.
  var workLimits: WorkAhead.Limits
  var workAhead: WorkAhead?

  init(_ host: any DeliveryHost) {
    self.host = host
    workLimits = WorkAhead.Limits(on: host.scheduler)
  }

  /// What the running round leads to, if anybody whom it calls reads that.
  var roundState: Snapshot? { roundStates.last ?? nil }
  /// Why observers get an error and nothing else; nil if changes can be followed.
  var refusal: StorageError? { failure ?? host.store.refusalToFollow }
  /// Inside of a round.
  var isDelivering: Bool { !roundTargets.isEmpty }
  /// A callback is running in which the version may not move.
  var isBusy: Bool { isDelivering || realmNews != nil || isTellingOfProperties }
  /// The same as far as `refresh` is concerned, which may be called to learn what is new.
  var refusesRefresh: Bool { isDelivering || realmNews == .move || isTellingOfProperties }
  /// Observers of properties are running in the middle of what they are told of.
  var isTellingOfProperties: Bool { tellingDepth > 0 }

  func postponeDidChange() { pendingDidChange = true }
  func cancelWork() { workAhead?.work.cancel() }
  /// Nobody will be called any more.
  func dropObservations() {
    observers.endAll()
    observers = ObserverTable()
  }

  /// Calls observers of properties in the middle of what they are told of.
  func telling<R>(_ call: () -> R) -> R {
    tellingDepth += 1
    defer {
      tellingDepth -= 1
      makeUpForOwedTurn()
    }
    return call()
  }

  // MARK: - Turns

  /// One turn of the scheduler: follow the file, then tell observers.
  func takeTurn() {
    host.checkThread()
    defer { callWhoWaits() }
    if let refusal { return observers.end(with: refusal) }
    if host.session != nil || isBusy {
      turnIsOwed = true
      return
    }
    turnIsOwed = false
    // Nothing can be read from a file that was cut.
    if let loss = host.store.loss, loss.code == .corrupted { return fail(loss) }
    do {
      tellOfMove(try followInTurn())
      if !host.autorefresh, host.isBehind { tellRealmObservers(.newerVersion) }
      // A realm-level observer may have left a write open.
      if host.session == nil { deliverRound() } else { turnIsOwed = true }
      // What was committed to it before is shown first.
      if let loss = host.store.loss, host.session == nil, workAhead == nil { fail(loss) }
    } catch {
      fail(error)
    }
  }

  /// Calls back in the turn after which a worker has nothing to do for the instance any more.
  func callWhenWorkIsDone(_ call: @escaping () -> Void) { waiting.append(call) }

  private func callWhoWaits() {
    guard workAhead == nil, !waiting.isEmpty else { return }
    let calls = waiting
    waiting = []
    for call in calls { call() }
  }

  /// Starts a later turn if one was turned away at a wrong moment.
  func makeUpForOwedTurn() {
    if turnIsOwed, host.session == nil, !isDelivering, !isTellingOfProperties {
      host.scheduleTurn()
    }
  }

  /// The store can no longer be followed: observers hear of it once, the shown state stays.
  func fail(_ error: StorageError) {
    failure = error
    committed = nil
    cancelWork()
    observers.end(with: error)
  }

  // MARK: - Rounds

  /// Calls everybody who has not been told of something up to the step shown now.
  func deliverRound() {
    if let refusal = host.store.refusalToFollow { return observers.end(with: refusal) }
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

  /// The round inside the begin of a write: only if there is more to tell than the round that is
  /// running knows of.
  func deliverRoundForBegin() {
    guard let running = roundTargets.last else { return deliverRound() }
    if host.step > running || observers.hasInitialOutstanding { deliverRound() }
  }

  /// After a commit of the instance's own, whose observers are called in a later turn.
  ///
  /// - Parameter session: the write, unless somebody else still needs it.
  func tellOfCommit(_ session: WriteSession? = nil, except skipped: Set<ObjectIdentifier>) {
    if observers.hasPendingChange { committed = session }
    tellRealmObservers(.move, except: skipped)
    showCommit()
  }

  /// After the instance has moved to its own commit.
  func showCommit() {
    if observers.hasPendingChange { host.scheduleTurn() }
    makeUpForOwedTurn()
  }

  /// Freeing large steps is left to a worker as well.
  private func letGo(of told: [LiveChange]) {
    let weight = told.reduce(0) { saturatingSum($0, $1.weight) }
    if weight > 1_000, workLimits.usesWorker { LiveWork.letGo(of: told) }
  }

  // MARK: - Realm-level observers

  /// Tells them that the version moved, now or where they could not be called.
  func tellOfMove(_ moved: Bool) {
    let owed = pendingDidChange
    pendingDidChange = false
    if moved || owed { tellRealmObservers(.move) }
  }

  /// While they run, further notifications are dropped.
  private func tellRealmObservers(
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

  private enum RealmNews {
    case move, newerVersion
  }
}
