import Dispatch
import TarnStore

/// An observed object or collection, passed to another actor or queue: it is passed frozen, and
/// observed as its counterpart in the instance that lives there.
///
/// If this opens an instance, it starts at the version of the observed object, so that it reports
/// every later commit. If one is already open there at a newer version, an object's observer first
/// receives the changes in between.
struct RemoteObserver<Confined: ThreadConfined>: @unchecked Sendable {
  // because: it is frozen, so any thread may read it.
  private let frozen: Confined
  private let core: RealmCore

  /// Traps for anything that cannot be observed.
  init(_ confined: Confined) {
    guard let realm = confined.realm else {
      trap("Only managed objects and collections can be observed; add the object first.")
    }
    realm.core.checkHasChanges()
    require(
      !confined.isInvalidated, "Cannot observe a deleted or invalidated object or collection.")
    frozen = confined.freeze()
    core = realm.core.freeze()
  }

  /// Registers an observer where this code runs.
  ///
  /// - Parameter register: observes the counterpart.
  /// - Returns: a token, and the observing instance; an inactive token and nil if the object no
  ///   longer exists.
  /// - Throws: if the file cannot be opened here.
  private func observe(
    _ scheduler: Scheduler, _ register: (Confined) -> NotificationToken
  ) throws(Realm.Error) -> (token: NotificationToken, here: RealmCore?) {
    let here = try RealmCache.open(core.configuration, scheduler)
    try here.catchUp(with: core.shown().snapshot)
    guard let counterpart = frozen._counterpart(in: Realm(here)), !counterpart.isInvalidated else {
      return (NotificationToken(), nil)
    }
    let token = register(counterpart)
    here.makeUp(for: token, since: core)
    return (token, here)
  }
}

// MARK: - On actors

extension RemoteObserver {
  /// Observes on an actor; when this returns, the observation is active.
  ///
  /// - Parameters:
  ///   - block: called on the actor, which the observation does not retain.
  ///   - register: observes the counterpart.
  func observe<A: Actor, Change: _FailingChange>(
    on actor: A, _ block: @escaping @Sendable (isolated A, Change) -> Void,
    _ register: @escaping @Sendable (Confined, @escaping (Change) -> Void) -> NotificationToken
  ) async -> NotificationToken {
    if Task.isCancelled { return NotificationToken() }
    let token = await begin(isolatedTo: actor, block, register)
    guard Task.isCancelled else { return token }
    token.invalidate()
    return NotificationToken()
  }

  /// Returns after the first call. If that is expensive, a worker prepares it while the actor is
  /// free.
  private func begin<A: Actor, Change: _FailingChange>(
    isolatedTo actor: isolated A, _ block: @escaping @Sendable (isolated A, Change) -> Void,
    _ register: (Confined, @escaping (Change) -> Void) -> NotificationToken
  ) async -> NotificationToken {
    do {
      let (token, here) = try observe(Scheduler(of: actor)) { confined in
        register(confined) { [weak actor] change in
          nonisolated(unsafe) let change = change  // because: it is told where it belongs
          actor?.assumeIsolated { block($0, unsafe change) }
        }
      }
      guard let here, here.session == nil else { return token }
      here.advancer.deliverFirstCalls()
      if here.isFirstCallPrepared(for: token) {
        await withCheckedContinuation(isolation: actor) { continuation in
          here.advancer.callWhenWorkIsDone { continuation.resume() }
        }
      }
      return token
    } catch {
      if let end = Change._ended(by: error) { block(actor, end) }
      return NotificationToken()
    }
  }
}

// MARK: - On queues

extension RemoteObserver {
  /// Observes on a queue, beginning later.
  func observe<Change: _FailingChange>(
    on queue: DispatchQueue, _ block: @escaping @Sendable (Change) -> Void,
    _ register: @escaping @Sendable (Confined, @escaping (Change) -> Void) -> NotificationToken
  ) -> NotificationToken {
    Scheduler.refuseGlobal(queue)
    let (state, host) = (ObservationState(.elsewhere), ElsewhereHost())
    queue.async {
      guard state.isActive else { return }
      do {
        let (token, here) = try observe(Scheduler(on: queue)) { confined in
          register(confined) { change in
            if state.isActive { block(change) }
          }
        }
        // The first call has the version after which the observation reports every commit.
        if let here, here.session == nil { here.delivery.deliverRound() }
        host.take(token, state)
      } catch {
        if let end = Change._ended(by: error) { block(end) }
      }
    }
    return NotificationToken(state, host)
  }
}

/// Ends an observation on a queue for its token, once that exists.
private final class ElsewhereHost: TokenHost {
  private let token = Lock<NotificationToken?>(nil)

  var isCurrent: Bool { true }
  var observation: ObjectIdentifier? { token.withLock { $0?.identity } }

  /// The observation has begun. It ends at once if it was invalidated meanwhile.
  func take(_ begun: NotificationToken, _ state: ObservationState) {
    token.withLock { $0 = begun }
    if !state.isActive { unlink(state) }
  }

  func unlink(_ state: ObservationState) {
    let ended = token.withLock { $0.take() }
    ended?.invalidate()
  }
}

// MARK: - The instance there

extension RealmCore {
  /// Advances to that state or a newer one.
  fileprivate func catchUp(with snapshot: Snapshot) throws(Realm.Error) {
    try publicly { () throws(StorageError) in
      guard let shownVersion else {
        state.begin(with: try SnapshotReader(snapshot))
        rowsMoved()
        return scheduleTurn()
      }
      if shownVersion < snapshot.version, session == nil { refresh() }
    }
  }

  /// The observer waits for a worker.
  fileprivate func isFirstCallPrepared(for token: NotificationToken) -> Bool {
    guard let identity = token.identity else { return false }
    return delivery.observers.observations([identity]).contains(where: \.waitsForWorker)
  }

  /// Reports to an object's observer its changes since another instance's version.
  fileprivate func makeUp(for token: NotificationToken, since past: RealmCore) {
    guard let identity = token.identity, let reader, let from = past.shownVersion,
      reader.snapshot.version > from
    else { return }
    for case let observation as ObjectObservation in delivery.observers.observations([identity]) {
      let former = past.shown().snapshot
      let changes = trapping { () throws(StorageError) in
        try ChangeLog.changes(from: former, to: reader.snapshot)
      }
      let move = LiveMove(changes, from: .version(former), to: Rows(reader))
      delivery.observers.makeUp(for: observation, move, from: past, step: step)
      scheduleTurn()
    }
  }
}
