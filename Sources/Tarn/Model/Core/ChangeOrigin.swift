import TarnStore

/// Where the changes of a collection come from. Observers and `for await` loops both begin here.
public struct _ChangeOrigin<Change> {
  let core: RealmCore
  let source: any ObservedSource
  /// The elements are objects whose classes the program does not have.
  let isDynamic: Bool
  /// The number of links, or the key paths, through which changes of an element are found.
  private(set) var reach = Scope.standard
  /// False if no caller reads the elements after an update.
  var readsTarget = true
  /// Converts a change for this observer; nil for one that it does not receive.
  let translate: (News<LiveDifference>, () -> PastElements) -> Change?

  /// The same changes in another form.
  func map<Other>(_ transform: @escaping (Change) -> Other) -> _ChangeOrigin<Other> {
    _ChangeOrigin<Other>(
      core: core, source: source, isDynamic: isDynamic, reach: reach, readsTarget: readsTarget
    ) {
      [translate] in translate($0, $1).map(transform)
    }
  }

  /// The same changes for an observer with that scope. Traps for a key path with a property that
  /// the elements' class does not have.
  func looking(_ look: _ObservationScope) -> _ChangeOrigin {
    core.checkThread()
    var other = self
    other.reach = core.reach(of: look, in: source, isDynamic: isDynamic)
    return other
  }

  func observe(_ block: @escaping (Change) -> Void) -> NotificationToken {
    core.observe(source, seen: reach, readsTarget: readsTarget) { [translate] news, elements in
      if let change = translate(news, elements) { block(change) }
    }
  }

  var changes: ChangeSequence<Change> {
    ChangeSequence { ChangeFeed(on: core) { core.pull(self, $0, $1) } }
  }
}

extension RealmCore {
  fileprivate func pull<Change>(
    _ origin: _ChangeOrigin<Change>, _ signal: ChangeSignal, _ inbox: ChangeInbox<Change>
  ) -> (any PulledObservation, NotificationToken) {
    checkCanObserve()
    let view = origin.source.view(origin.reach)
    let state = ObservationState(.collection(WeakSource(origin.source, view)))
    let translate = origin.translate
    let observation = PulledCollectionObservation(
      state: state, serial: delivery.observers.claimSerial(), seen: step, source: origin.source,
      view, readsTarget: origin.readsTarget, signal: signal
    ) { inbox.change = translate($0, $1) ?? inbox.change }
    return (observation, add(observation))
  }
}
