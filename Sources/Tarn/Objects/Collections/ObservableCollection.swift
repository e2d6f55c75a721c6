/// A change that can report that no further changes follow.
public protocol _FailingChange: SendableMetatype {
  /// The change that reports an error; nil for one that has no such case, which then is logged.
  static func _ended(by error: any Error) -> Self?
}

/// The common interface of collections for their observers. The library provides the conformances.
public protocol _ObservableCollection: ThreadConfined {
  /// The argument of observers.
  associatedtype _Change: _FailingChange
  /// The source of the changes that `observe` reports. Traps for an unmanaged or invalidated
  /// collection.
  var _plainOrigin: _ChangeOrigin<_Change> { get }
}

/// A collection whose changes can be reported together with the resulting elements.
public protocol _DeltaCollection: _ObservableCollection {
  /// The part of a change besides the collection.
  associatedtype _Delta
  /// The source of the changes that `observeChanges` reports. Traps as `_plainOrigin` does.
  var _changeOrigin: _ChangeOrigin<ObservedChange<Self, _Delta>> { get }
}

extension RealmCollectionChange: _FailingChange {
  public static func _ended(by error: any Error) -> Self? { .error(error) }
}
extension RealmMapChange: _FailingChange {
  public static func _ended(by error: any Error) -> Self? { .error(error) }
}
extension ObservedChange: _FailingChange {
  public static func _ended(by error: any Error) -> Self? { .error(error) }
}

extension _ObservableCollection {
  /// Calls `block` first with `.initial`, once the collection can be read without delay, and then
  /// with the exact difference whenever it has changed. Commits in quick succession are reported in
  /// one call. `.error` is the last call; sections have no such case, and log the error.
  ///
  /// These are changes:
  ///
  /// - `List`, `MutableSet`, `LinkingObjects`, `Results`, `AnyRealmCollection`: an element was
  ///   inserted, deleted, moved or set, or is an object that changed, itself or up to three links
  ///   away. A moved element is reported as deleted and inserted. Removing a value from a set and
  ///   inserting it again does not count. An object that links twice is twice among the linking
  ///   objects.
  /// - `Map`: the same for keys and their values. A key that was removed and inserted again is
  ///   modified.
  /// - `ProjectedCollection`: the collection of objects changed, or the property of one was set,
  ///   even to the same value. The dependencies of a computed property are unknown: its element is
  ///   modified whenever the object is.
  /// - `SectionedResults`: a section or an element was inserted, deleted or moved, or an element
  ///   changed.
  /// - `ResultsSection`: the same within this section; also its deletion and its reappearance, with
  ///   all its elements. Its position among the sections does not count.
  /// - `GroupedResults`: a group was inserted or deleted, or its count or an aggregate changed.
  /// - `LiveAggregate`: a value changed.
  ///
  /// If the object that a list, set, map or linking objects belong to is deleted, all elements are
  /// reported as deleted, and nothing follows; the collection passed to that call is invalidated.
  /// If another object has its integer key by then, the list, set or map is that object's, and the
  /// observer goes on.
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
  /// Calls `block` as `observe` does, with all details of each change: the new positions of
  /// modified elements, moves as pairs, and the resulting elements or values, so that a copy can
  /// follow by `apply(to:)`. They belong to the reported version, whatever has been written since.
  ///
  /// All sections give a ``SectionsDelta``, one section a ``CollectionDelta`` of its elements: they
  /// are deleted and inserted with the section. In a projected collection, computed properties and
  /// `AnyRealmValue` properties are read from the objects on access, which traps for an object that
  /// has been deleted since.
  ///
  /// Traps in the same cases as `observe`, and calls `block` on the same thread.
  ///
  /// - Returns: a token; keep it for as long as you want to observe.
  public func observeChanges(
    _ block: @escaping (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken {
    _changeOrigin.observe(block)
  }

  /// The changes that `observeChanges` reports, for `for await`. Traps for an unmanaged or
  /// invalidated collection; ``ChangeSequence`` says which code may iterate over it.
  public var changes: ChangeSequence<ObservedChange<Self, _Delta>> { _changeOrigin.changes }
}
