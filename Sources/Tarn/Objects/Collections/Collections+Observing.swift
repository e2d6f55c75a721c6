import TarnStore

extension _CollectionProperty {
  /// The stored elements. Traps for an unmanaged or invalidated collection.
  fileprivate var observedSequence: ManagedSequence {
    guard let managed = backing as? ManagedSequence else { trapUnobserved() }
    _ = managed.view()
    return managed
  }

  /// The collection in the instance's present life.
  fileprivate func revived(_ managed: ManagedSequence) -> Self {
    managed.revived.map { Self(_handle: _SequenceHandle($0)) } ?? self
  }

  fileprivate func observedPositions<Element: RealmCollectionValue>() -> ObservedPositions<
    Self, Element
  > {
    let managed = observedSequence
    return ObservedPositions(
      core: managed.instance, source: managed.source, isDynamic: managed.property.isDynamic
    ) {
      self.revived(managed)
    } element: {
      managed.element($0)
    }
  }
}

extension ManagedSequence {
  fileprivate var source: LiveSource<SequenceModel> { instance.liveSequence(at: place, kind) }

  /// An element as the instance's present life shows it.
  fileprivate func element<Element: RealmCollectionValue>(_ value: Value) -> Element {
    typedElement((revived ?? self).boxed(value), title)
  }
}

extension List: PositionedCollection {
  var observed: ObservedPositions<List, Element> { observedPositions() }
}

extension MutableSet: PositionedCollection {
  var observed: ObservedPositions<MutableSet, Element> { observedPositions() }
}

extension Map: _ScopedCollection {
  public typealias _ScopeRoot = Value._Unwrapped

  public var _plainOrigin: _ChangeOrigin<RealmMapChange<Map>> {
    changeOrigin(readsTarget: false) { changes, _, _ in
      changes
    } _: {
      RealmMapChange($0, $1())
    }
  }

  public var _changeOrigin: _ChangeOrigin<ObservedChange<Map, MapDelta<Key, Value>>> {
    changeOrigin(readsTarget: true) { changes, elements, managed in
      MapDelta(
        changes, elements(), on: managed.instance, isDynamic: managed.property.isDynamic
      ) {
        managed.element($0)
      }
    } _: {
      ObservedChange($0, $1())
    }
  }

  /// - Parameters:
  ///   - update: the reported form of the changed keys.
  ///   - change: makes the observer's argument.
  private func changeOrigin<Update, Change>(
    readsTarget: Bool,
    _ update: @escaping (KeyChanges, () -> PastElements, ManagedSequence) -> Update,
    _ change: @escaping (News<Update>, () -> Map) -> Change
  ) -> _ChangeOrigin<Change> {
    let managed = observedSequence
    return _ChangeOrigin(
      core: managed.instance, source: managed.source, isDynamic: managed.property.isDynamic,
      readsTarget: readsTarget
    ) { news, elements in
      news.map { update($0.keys, elements, managed) }
        .map { change($0) { self.revived(managed) } }
    }
  }
}

/// Collections whose elements have positions, and that observe themselves rather than by another
/// collection.
protocol PositionedCollection: RealmCollection {
  /// Its content for observers. Traps for an unmanaged or invalidated collection.
  var observed: ObservedPositions<Self, Element> { get }
}

extension PositionedCollection {
  public var _plainOrigin: _ChangeOrigin<RealmCollectionChange<Self>> { observed.plainOrigin }

  public var _changeOrigin: _ChangeOrigin<ObservedChange<Self, CollectionDelta<Element>>> {
    observed.changeOrigin
  }
}

/// The object that a collection belongs to is in no Realm.
func trapUnobserved() -> Never {
  trap(
    "Only collections which are managed by a Realm support change notifications; add the "
      + "object that has this one first.")
}
