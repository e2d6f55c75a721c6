import TarnStore

extension Realm {
  /// What `observe` would tell, for `for await`. A loop that takes its time gets each kind of
  /// notification once, `.didChange` first, however often it would have been sent. See
  /// ``ChangeSequence`` for who may go over it.
  public var changes: ChangeSequence<Notification> {
    ChangeSequence { [core] in
      ChangeFeed(on: core) { signal, inbox in
        core.checkCanObserve(isRealmLevel: true)
        _ = core.shown()
        let observation = PulledRealmObservation(core, signal, inbox)
        core.delivery.observers.add(observation)
        return (observation, NotificationToken(observation.state, core.confinedHost()))
      }
    }
  }
}

/// An observation of a Realm that is asked for its news.
private final class PulledRealmObservation: RealmObservation, PulledObservation {
  private let signal: ChangeSignal
  private let inbox: ChangeInbox<Realm.Notification>
  private var hasMoved = false
  private var isBehind = false

  init(_ core: RealmCore, _ signal: ChangeSignal, _ inbox: ChangeInbox<Realm.Notification>) {
    self.signal = signal
    self.inbox = inbox
    super.init(
      state: ObservationState(.realm), serial: core.delivery.observers.claimSerial(), seen: 0)
  }

  var isExhausted: Bool { false }

  override func tellOfMove() {
    hasMoved = true
    // What was newer is shown now, or will be told of anew.
    isBehind = false
    signal.wake()
  }

  override func tellOfNewerVersion() {
    isBehind = true
    signal.wake()
  }

  func pull(_ host: any DeliveryHost) {
    if hasMoved {
      hasMoved = false
      inbox.change = .didChange
    } else if isBehind {
      isBehind = false
      inbox.change = .refreshRequired
    }
  }
}
