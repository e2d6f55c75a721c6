import TarnStore

/// How observers are called; the rules are told at `Observation`.
extension RealmCore {
  /// Calls everybody who has not been told of something up to the step shown now.
  func deliverRound() {
    let target = step
    let called = observers.newsworthy(upTo: target)
    if !called.isEmpty {
      roundTargets.append(target)
      for observation in called where observation.state.isActive {
        guard observation.hasNews(upTo: target) else { continue }
        observation.deliver(upTo: target, self)
      }
      roundTargets.removeLast()
    }
    guard roundTargets.isEmpty else { return }
    letGo(of: observers.settle())
    if observers.hasNews { scheduleTurn() }
    makeUpForOwedTurn()
  }

  /// The round inside the begin of a write: only if there is more to tell than the round that is
  /// running knows of.
  func deliverRoundForBegin() {
    guard let running = roundTargets.last else { return deliverRound() }
    if step > running || observers.hasInitialOutstanding { deliverRound() }
  }

  /// Tells realm-level observers; while they run, further ones are dropped.
  func sendRealmNotification(
    _ notification: Realm.Notification, except skipped: Set<ObjectIdentifier> = []
  ) {
    guard realmNotification == nil, !observers.realmObservations.isEmpty else { return }
    realmNotification = notification
    defer { realmNotification = nil }
    let realm = Realm(self)
    for observation in observers.realmObservations where observation.state.isActive {
      guard !skipped.contains(ObjectIdentifier(observation.state)) else { continue }
      observation.block(notification, realm)
    }
  }

  /// Freeing large steps is left to a worker as well.
  private func letGo(of told: [LiveChange]) {
    let weight = told.reduce(0) { saturatingSum($0, $1.weight) }
    if weight > 1_000, workLimits.usesWorker { LiveWork.letGo(of: told) }
  }
}
