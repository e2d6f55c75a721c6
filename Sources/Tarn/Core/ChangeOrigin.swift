import TarnStore

/// Where the changes of a collection come from, for who is to be told and for who asks.
public struct _ChangeOrigin<Change> {
  let core: RealmCore
  let source: any ObservedSource
  /// The elements are objects whose classes the program does not have.
  let isDynamic: Bool
  /// How far changes are looked for from the elements.
  private(set) var reach = Scope.standard
  /// False if nobody will ask what elements an update leads to.
  var readsTarget = true
  /// Nil for news that are none to this observer.
  let translate: (CollectionObservation.News, () -> PastElements) -> Change?

  /// The same changes in other words.
  func map<Other>(_ transform: @escaping (Change) -> Other) -> _ChangeOrigin<Other> {
    _ChangeOrigin<Other>(
      core: core, source: source, isDynamic: isDynamic, reach: reach, readsTarget: readsTarget
    ) {
      [translate] in translate($0, $1).map(transform)
    }
  }

  /// The changes as those see them who look that far. Traps for key paths of which the elements'
  /// class knows nothing.
  func looking(_ look: _Look) -> _ChangeOrigin {
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

  /// The changes of what has positions.
  ///
  /// - Parameters:
  ///   - isDynamic: the elements are objects whose classes the program does not have.
  ///   - collection: what is observed, in the instance's present life.
  ///   - make: an element as the program sees it.
  func changeOrigin<Collection, Element>(
    of source: any ObservedSource, isDynamic: Bool, _ collection: @escaping () -> Collection,
    _ make: @escaping (Value) -> Element
  ) -> _ChangeOrigin<ObservedChange<Collection, CollectionDelta<Element>>> {
    _ChangeOrigin(core: self, source: source, isDynamic: isDynamic) {
      [unowned self] news, elements in
      switch news {
      case .initial: .initial(collection())
      case .update(.keys), .update(.derived): nil
      case .update(.indices(let changes)):
        .update(
          collection(),
          CollectionDelta(changes, elements(), on: self, isDynamic: isDynamic, make))
      case .error(let error): .error(Realm.Error(error))
      }
    }
  }
}
