import TarnStore

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
        difference.indices.map {
          CollectionDelta($0, elements(), on: core, isDynamic: isDynamic, element)
        }
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
