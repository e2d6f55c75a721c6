extension RealmSectionedResult {
  /// Like `observe(_:)`, but elements count as modified only if a property on one of the key paths
  /// was set. Elements that are inserted, deleted or change their sections are always reported. Nil
  /// and an empty array filter nothing. Traps for a property that a class does not have, and in the
  /// same cases as `observe(_:)`. See <doc:Observing>.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observe(
    keyPaths: [String]?, _ block: @escaping (SectionedResultsChange<Self>) -> Void
  ) -> NotificationToken {
    _observe(_Look(keyPaths: keyPaths, of: _Looked.self), block)
  }

  /// The same for key paths of the elements' class.
  @_disfavoredOverload
  public func observe(
    keyPaths: [PartialKeyPath<_Looked>],
    _ block: @escaping (SectionedResultsChange<Self>) -> Void
  ) -> NotificationToken where _Looked: KeypathSortable {
    _observe(_Look(keyPaths), block)
  }

  /// Makes the same calls as `observe`, with the full details of each change: new positions of
  /// modified elements, moves as pairs, and the elements after the change, so that `apply(to:)` can
  /// update a copy. All sections give a ``SectionsDelta``. One section gives a ``CollectionDelta``
  /// of its elements: they are deleted with the section and inserted with it, and its place among
  /// the others does not matter.
  ///
  /// Traps in the same cases as `observe`.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observeChanges(
    _ block: @escaping (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken {
    _changeOrigin.observe(block)
  }

  /// Like `observeChanges(_:)`, limited to the changes that `observe(keyPaths:)` reports. Same
  /// preconditions.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observeChanges(
    keyPaths: [String]?, _ block: @escaping (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken {
    _changeOrigin.looking(_Look(keyPaths: keyPaths, of: _Looked.self)).observe(block)
  }

  /// The same for key paths of the elements' class.
  @_disfavoredOverload
  public func observeChanges(
    keyPaths: [PartialKeyPath<_Looked>],
    _ block: @escaping (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken where _Looked: KeypathSortable {
    _changeOrigin.looking(_Look(keyPaths)).observe(block)
  }

  /// Like `observeChanges(_:)`, limited to the changes that `observe(depth:)` reports.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observeChanges(
    depth: Int, _ block: @escaping (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken {
    _changeOrigin.looking(_Look(depth: depth)).observe(block)
  }

  /// Like `observe(_:)`, with changes counted up to `depth` links away (3 by default): an object
  /// counts as modified if a property was set in it, or in an object within that depth. Traps for a
  /// negative depth, and in the same cases as `observe(_:)`.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observe(
    depth: Int, _ block: @escaping (SectionedResultsChange<Self>) -> Void
  ) -> NotificationToken {
    _observe(_Look(depth: depth), block)
  }

  /// The changes that `observeChanges` delivers, as an asynchronous sequence. Traps for sections of
  /// an invalidated Realm; see ``ChangeSequence`` for where the loop may run.
  public var changes: ChangeSequence<ObservedChange<Self, _Delta>> { _changeOrigin.changes }

  /// The changes that `observeChanges(keyPaths:)` delivers, as an asynchronous sequence. Traps at
  /// once in the same cases; see ``ChangeSequence`` for where the loop may run.
  public func changes(keyPaths: [String]?) -> ChangeSequence<ObservedChange<Self, _Delta>> {
    _changeOrigin.looking(_Look(keyPaths: keyPaths, of: _Looked.self)).changes
  }

  /// The same for key paths of the elements' class.
  @_disfavoredOverload
  public func changes(
    keyPaths: [PartialKeyPath<_Looked>]
  ) -> ChangeSequence<ObservedChange<Self, _Delta>> where _Looked: KeypathSortable {
    _changeOrigin.looking(_Look(keyPaths)).changes
  }

  /// The changes that `observeChanges(depth:)` delivers, as an asynchronous sequence. Traps at once
  /// in the same cases; see ``ChangeSequence`` for where the loop may run.
  public func changes(depth: Int) -> ChangeSequence<ObservedChange<Self, _Delta>> {
    _changeOrigin.looking(_Look(depth: depth)).changes
  }
}
