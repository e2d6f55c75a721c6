import TarnStore

extension RealmCollection {
  /// Makes the same calls as `observe`, with the full details of each change: new positions of
  /// modified elements, moves as pairs, and the elements after the change, so that `apply(to:)` can
  /// update a copy of the collection.
  ///
  /// Traps in the same cases as `observe`.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observeChanges(
    _ block: @escaping (ObservedChange<Self, CollectionDelta<Element>>) -> Void
  ) -> NotificationToken {
    _changeOrigin.observe(block)
  }

  /// The changes that `observeChanges` delivers, as an asynchronous sequence. Traps for an
  /// unmanaged or invalidated collection; see ``ChangeSequence`` for where the loop may run.
  public var changes: ChangeSequence<ObservedChange<Self, CollectionDelta<Element>>> {
    _changeOrigin.changes
  }
}

extension _CollectionProperty {
  /// Traps for an unmanaged or invalidated collection.
  private var observed: ManagedSequence {
    guard let managed = backing as? ManagedSequence else {
      trap(
        "Only collections which are managed by a Realm support change notifications; add the "
          + "object that owns this one first.")
    }
    _ = managed.view()
    return managed
  }

  fileprivate func changeOrigin<Element: RealmCollectionValue>(
    _ type: Element.Type
  ) -> _ChangeOrigin<ObservedChange<Self, CollectionDelta<Element>>> {
    let managed = observed
    return managed.instance.changeOrigin(
      of: managed.source, isDynamic: managed.property.isDynamic
    ) {
      managed.revived.map { Self(_handle: _SequenceHandle($0)) } ?? self
    } _: {
      typedElement(managed.present.boxed($0), managed.title)
    }
  }

  fileprivate func mapChangeOrigin<Key, Value>() -> _ChangeOrigin<
    ObservedChange<Self, MapDelta<Key, Value>>
  > {
    let managed = observed
    return _ChangeOrigin(
      core: managed.instance, source: managed.source, isDynamic: managed.property.isDynamic
    ) { news, elements in
      let shown = managed.revived.map { Self(_handle: _SequenceHandle($0)) } ?? self
      return switch news {
      case .initial: .initial(shown)
      case .update(.indices), .update(.derived): nil
      case .update(.keys(let changes)):
        .update(
          shown,
          MapDelta(
            changes, elements(), on: managed.instance, isDynamic: managed.property.isDynamic
          ) {
            typedElement(managed.present.boxed($0), managed.title)
          })
      case .error(let error): .error(Realm.Error(error))
      }
    }
  }
}

extension ManagedSequence {
  fileprivate var source: LiveSource<SequenceModel> { instance.liveSequence(at: place, kind) }
  /// The same collection in the instance's present life.
  fileprivate var present: ManagedSequence { revived ?? self }
}

extension List {
  public var _changeOrigin: _ChangeOrigin<ObservedChange<List, CollectionDelta<Element>>> {
    changeOrigin(Element.self)
  }
}

extension MutableSet {
  public var _changeOrigin: _ChangeOrigin<ObservedChange<MutableSet, CollectionDelta<Element>>> {
    changeOrigin(Element.self)
  }
}

extension Map {
  public var _changeOrigin: _ChangeOrigin<ObservedChange<Map, MapDelta<Key, Value>>> {
    mapChangeOrigin()
  }

  /// Makes the same calls as `observe`, with the values under the keys after the change, so that
  /// ``MapDelta/apply(to:)`` can update a dictionary. Traps in the same cases as `observe`.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observeChanges(
    _ block: @escaping (ObservedChange<Map, MapDelta<Key, Value>>) -> Void
  ) -> NotificationToken {
    _changeOrigin.observe(block)
  }

  /// The changes that `observeChanges` delivers, as an asynchronous sequence. Traps for an
  /// unmanaged or invalidated map; see ``ChangeSequence`` for where the loop may run.
  public var changes: ChangeSequence<ObservedChange<Map, MapDelta<Key, Value>>> {
    _changeOrigin.changes
  }
}
