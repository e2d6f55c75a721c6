import TarnStore

/// Where the changes of a collection come from. Observers and `for await` loops both begin here.
public struct _ChangeOrigin<Change> {
  let core: RealmCore
  let source: any ObservedSource
  /// The elements are objects whose classes the program does not have.
  let isDynamic: Bool
  /// The number of links, or the key paths, through which changes of an element are found.
  private(set) var scope = Scope.standard
  /// False if no caller reads the elements after an update.
  var readsTarget = true
  /// Converts a change for this observer; nil for one that it does not receive.
  let translate: (News<LiveDifference>, () -> PastElements) -> Change?

  /// The same changes in another form.
  func map<Other>(_ transform: @escaping (Change) -> Other) -> _ChangeOrigin<Other> {
    _ChangeOrigin<Other>(
      core: core, source: source, isDynamic: isDynamic, scope: scope, readsTarget: readsTarget
    ) {
      [translate] in translate($0, $1).map(transform)
    }
  }

  /// The same changes for an observer with that scope. Traps for a key path with a property that
  /// the elements' class does not have.
  func scoped(to scope: _ObservationScope) -> _ChangeOrigin {
    core.checkThread()
    var other = self
    other.scope = core.scope(of: scope, in: source, isDynamic: isDynamic)
    return other
  }

  func observe(_ block: @escaping (Change) -> Void) -> NotificationToken {
    core.observe(source, seen: scope, readsTarget: readsTarget) { [translate] news, elements in
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
    let log = origin.source.log(origin.scope)
    let state = ObservationState(.collection(WeakSource(origin.source, log)))
    let translate = origin.translate
    let observation = PulledCollectionObservation(
      state: state, serial: delivery.observers.claimSerial(), seen: step, source: origin.source,
      log, readsTarget: origin.readsTarget, signal: signal
    ) { inbox.change = translate($0, $1) ?? inbox.change }
    return (observation, add(observation))
  }
}

/// How far an observer looks into the elements of a collection.
public struct _ObservationScope: Sendable {
  enum Part: Sendable {
    case resolved(Scope)
    case keyPaths([String])
  }
  let part: Part

  static let standard = _ObservationScope(part: .resolved(.standard))

  /// Without key paths, nil and empty mean the same.
  init(keyPaths: [String]?) {
    guard let keyPaths, !keyPaths.isEmpty else {
      self = .standard
      return
    }
    part = .keyPaths(keyPaths)
  }

  init(depth: Int) {
    require(depth >= 0, "The depth of an observation must be 0 or more, not \(depth).")
    part = .resolved(.depth(depth))
  }

  private init(part: Part) { self.part = part }
}

extension RealmCore {
  /// Traps for a key path with a property that the elements' class does not have.
  func scope(of scope: _ObservationScope, in source: any ObservedSource, isDynamic: Bool) -> Scope {
    switch scope.part {
    case .resolved(let scope): return scope
    case .keyPaths(let keyPaths):
      let roots = bindings(of: source.elementClasses, isDynamic: isDynamic)
      return KeyPathResolver.observedScope(keyPaths, from: roots, self) ?? .standard
    }
  }
}

/// A collection whose elements have positions, as its observers see it.
struct ObservedPositions<Collection, Element> {
  let core: RealmCore
  let source: any ObservedSource
  /// The elements are objects whose classes the program does not have.
  let isDynamic: Bool
  /// The observed collection, in the instance's present life.
  let collection: () -> Collection
  /// An element as the program sees it.
  let element: (Value) -> Element

  /// The changes by position alone. No elements are read, so that no version is kept for them.
  var plainOrigin: _ChangeOrigin<RealmCollectionChange<Collection>> {
    _ChangeOrigin(core: core, source: source, isDynamic: isDynamic, readsTarget: false) {
      [collection] news, _ in
      news.map { $0.indices }.map { RealmCollectionChange($0, collection()) }
    }
  }

  /// The changes with the elements that they lead to.
  var changeOrigin: _ChangeOrigin<ObservedChange<Collection, CollectionDelta<Element>>> {
    _ChangeOrigin(core: core, source: source, isDynamic: isDynamic) {
      [unowned core, isDynamic, collection, element] news, elements in
      news.map { difference in
        CollectionDelta(difference.indices, elements(), on: core, isDynamic: isDynamic, element)
      }.map { ObservedChange($0, collection()) }
    }
  }
}

extension RealmCollectionChange {
  init(_ news: News<IndexChanges>, _ collection: @autoclosure () -> Collection) {
    self =
      switch news {
      case .initial: .initial(collection())
      case .update(let changes):
        .update(
          collection(), deletions: changes.deletions, insertions: changes.insertions,
          modifications: changes.modifications)
      case .error(let error): .error(Realm.Error(error))
      }
  }
}

extension ObservedChange {
  init(_ news: News<Delta>, _ collection: @autoclosure () -> Collection) {
    self =
      switch news {
      case .initial: .initial(collection())
      case .update(let delta): .update(collection(), delta)
      case .error(let error): .error(Realm.Error(error))
      }
  }
}
