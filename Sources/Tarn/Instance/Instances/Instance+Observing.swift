import TarnStore

/// Registering observers.
extension Instance {
  /// - Parameter readsTarget: whether `block` needs the elements that changes lead to.
  func observe(
    _ source: any ObservedSource, seen scope: Scope, readsTarget: Bool,
    _ block: @escaping CollectionObservation.Block
  ) -> NotificationToken {
    checkCanObserve()
    let log = source.log(scope)
    let state = ObservationState(.collection(WeakSource(source, log)))
    return add(
      CollectionObservation(
        state: state, serial: delivery.observers.claimSerial(), seen: step, source: source, log,
        readsTarget: readsTarget, block: block))
  }

  /// Adds an observation of a collection; its first call comes in a later turn.
  func add(_ observation: CollectionObservation) -> NotificationToken {
    delivery.observers.add(observation)
    _ = shown()
    scheduleTurn()
    return NotificationToken(observation.state, confinedHost())
  }

  /// Traps where nothing can be observed. Where no change can be followed, a turn is scheduled that
  /// gives the new observer its error.
  func checkCanObserve(isRealmLevel: Bool = false) {
    checkHasChanges(isRealmLevel: isRealmLevel)
    require(
      scheduler.hasTurns,
      "Can only add notification blocks from within run loops, on serial queues, or with a "
        + "ManualScheduler: a thread without a run loop has no later turn in which to call them. "
        + "Observe a Realm that was opened on the main thread, on a serial queue, in an actor or "
        + "inside a run loop. If this thread needs changes, call refresh()."
        + scheduler.adviceForTasks)
    if delivery.refusal != nil { scheduleTurn() }
  }

  /// Traps where nothing can be observed, here or elsewhere.
  func checkHasChanges(isRealmLevel: Bool = false) {
    checkThread()
    finishWriting()
    if isFrozen { trapFrozen("Cannot observe") }
    require(
      isRealmLevel || session == nil || session?.isEmpty == true,
      "Cannot create asynchronous query after making changes in a write transaction.")
  }

  func dropObservations() {
    delivery.dropObservations()
    properties?.endStates()
    properties = nil
  }

  /// How tokens reach the instance.
  func confinedHost() -> ConfinedHost {
    if let confined { return confined }
    let made = ConfinedHost(self)
    confined = made
    return made
  }
}
