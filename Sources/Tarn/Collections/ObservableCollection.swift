/// A change that can report that no further changes come.
public protocol _FailingChange: SendableMetatype {
  /// The change that reports an error.
  static func error(_ error: any Error) -> Self
}

/// The common interface of collections for their observers. The library provides the conformances.
public protocol _ObservableCollection: ThreadConfined {
  /// The argument of observers.
  associatedtype _Change: _FailingChange
  /// Where the changes come from that `observe` tells. Traps for an unmanaged or invalidated
  /// collection.
  var _plainOrigin: _ChangeOrigin<_Change> { get }
}

/// Those whose changes are also told with the elements that they lead to.
public protocol _DeltaCollection: _ObservableCollection {
  /// The part of a change besides the collection.
  associatedtype _Delta
  /// Where the changes come from that `observeChanges` tells. Traps as `_plainOrigin` does.
  var _changeOrigin: _ChangeOrigin<ObservedChange<Self, _Delta>> { get }
}

extension RealmCollectionChange: _FailingChange {}
extension RealmMapChange: _FailingChange {}
extension ObservedChange: _FailingChange {}

extension _ObservableCollection {
  /// Calls `block` first with `.initial`, once the collection can be read without delay, and then
  /// with the exact difference whenever it has changed. Commits in quick succession are reported in
  /// one call. After `.error` nothing comes.
  ///
  /// What counts as a change:
  ///
  /// - `List`, `MutableSet`, `LinkingObjects`, `Results`, `AnyRealmCollection`: an element came,
  ///   went, moved or was set, or is an object that changed, itself or up to three links away. An
  ///   element that moved is deleted and inserted. Removing a value from a set and inserting it
  ///   again is no change. An object that links twice is twice among the linking objects.
  /// - `Map`: the same of keys and their values. A key that was removed and inserted again is
  ///   modified.
  /// - `ProjectedCollection`: the collection of objects changed, or the property of one was set, to
  ///   whatever value. What a computed property reads is not known: its element is modified when
  ///   the object is.
  /// - `SectionedResults`: a section or an element came, went or moved, or an element changed.
  /// - `ResultsSection`: the same in this section alone; also that it goes, and that it comes back,
  ///   with all its elements. Its number among all sections is no part of it.
  /// - `GroupedResults`: a group came or went, has another count, or another value of an aggregate.
  /// - `LiveAggregate`: a value is another one.
  ///
  /// If the object that a list, set, map or linking objects belong to is deleted, all elements are
  /// reported as deleted, and nothing follows; the collection passed to that call is invalidated.
  ///
  /// `block` is called on the Realm's thread, queue or actor, never within this call. Traps for an
  /// unmanaged, frozen or invalidated collection, on a thread that has no later turns, and in a
  /// write that has changed something.
  ///
  /// - Returns: a token; keep it for as long as you want to observe.
  public func observe(_ block: @escaping (_Change) -> Void) -> NotificationToken {
    _plainOrigin.observe(block)
  }
}

extension _DeltaCollection {
  /// Calls `block` as `observe` does, with all that is known of each change: new positions of what
  /// was modified, moves as pairs, and the elements or values that there are then, so that a copy
  /// can follow by `apply(to:)`. They are those of the version that is told of, whatever has been
  /// written since.
  ///
  /// All sections give a ``SectionsDelta``, one section a ``CollectionDelta`` of its elements:
  /// what goes with the section is deleted, what comes with it is inserted. Of a projected
  /// collection, computed properties and those of type `AnyRealmValue` are read from the objects
  /// when they are asked for, which traps for an object that was deleted since.
  ///
  /// Traps where `observe` does, and calls `block` where that does.
  ///
  /// - Returns: a token; keep it for as long as you want to observe.
  public func observeChanges(
    _ block: @escaping (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken {
    _changeOrigin.observe(block)
  }

  /// What `observeChanges` would tell, for `for await`. Traps for an unmanaged or invalidated
  /// collection; see ``ChangeSequence`` for who may go over it.
  public var changes: ChangeSequence<ObservedChange<Self, _Delta>> { _changeOrigin.changes }
}
