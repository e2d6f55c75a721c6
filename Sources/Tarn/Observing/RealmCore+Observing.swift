import TarnStore

/// Registering observers.
extension RealmCore {
  func observe(_ block: @escaping Realm.NotificationBlock) -> NotificationToken {
    checkCanObserve(isRealmLevel: true)
    let state = makeState(.realm, mustEndHere: true)
    observers.add(RealmObservation(state: state, serial: observers.claimSerial(), block: block))
    return NotificationToken(state)
  }

  func observe(
    _ live: LiveResult, _ block: @escaping (CollectionObservation.News) -> Void
  ) -> NotificationToken {
    checkCanObserve()
    let state = makeState(.collection(WeakLiveResult(live)))
    let observation = CollectionObservation(
      state: state, serial: observers.claimSerial(), seen: step, result: live, block: block)
    observers.add(observation, to: live)
    _ = shown()
    scheduleTurn()
    return NotificationToken(state)
  }

  func observe(
    _ object: ObjectBase, _ block: @escaping (ObjectChange<ObjectBase>) -> Void
  ) -> NotificationToken {
    checkCanObserve()
    precondition(!isInvalidated(object), "Cannot observe a deleted or invalidated object.")
    let id = object._binding!.classID
    let state = makeState(.object(id, ObjectKey(object._key)))
    _ = shown()
    observers.add(
      ObjectObservation(
        state: state, serial: observers.claimSerial(), seen: step, classID: id, object: object,
        block: block))
    return NotificationToken(state)
  }

  private func checkCanObserve(isRealmLevel: Bool = false) {
    checkThread()
    precondition(
      !configuration.readOnly,
      "Read-only Realms do not change and do not have change notifications.")
    precondition(
      scheduler.hasTurns,
      "Can only add notification blocks from within run loops, on serial queues, or with a "
        + "ManualScheduler: a plain thread has no later turn in which they could be called.")
    precondition(
      isRealmLevel || session == nil || session?.isEmpty == true,
      "Cannot create asynchronous query after making changes in a write transaction.")
  }

  /// The life of a new observation. Ending it elsewhere than on this instance's scheduler only
  /// marks it; its place in the tables is cleared in a turn.
  private func makeState(
    _ place: ObservationPlace, mustEndHere: Bool = false
  ) -> ObservationState {
    nonisolated(unsafe) let place = place  // because: it is used on the scheduler alone
    let target = confined ?? ConfinedCore(self)
    confined = target
    return ObservationState { identity in
      target.onScheduler(must: mustEndHere) { core in core.observers.remove(identity, place) }
    }
  }
}

/// Reaches an instance from elsewhere, on its scheduler.
final class ConfinedCore: @unchecked Sendable {
  // because: `core` is used on its scheduler alone. Strong: a token keeps its observation working
  // when the program has dropped everything else, until it ends.
  private let core: RealmCore
  private let scheduler: Scheduler

  init(_ core: RealmCore) {
    self.core = core
    scheduler = core.scheduler
  }

  func onScheduler(must: Bool, _ body: @escaping (RealmCore) -> Void) {
    if scheduler.isCurrent { return body(core) }
    precondition(
      !must, "A Realm's own observation must be invalidated on the Realm's thread.")
    nonisolated(unsafe) let body = body  // because: it is handed over and runs once
    scheduler.schedule { body(self.core) }
  }
}
