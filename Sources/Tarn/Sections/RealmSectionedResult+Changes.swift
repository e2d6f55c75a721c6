extension RealmSectionedResult {
  /// Calls `block` as without key paths, but elements count as modified only if something on one of
  /// the key paths was set. Elements that come, go or change their sections are always told. Nil
  /// and no key paths at all filter nothing. Traps for a property that a class does not have, and
  /// where the call without key paths does. See <doc:Observing>.
  ///
  /// - Returns: a token; keep it for as long as you want to observe.
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

  /// Calls `block` as `observe` does, with all that is known of each change: new positions of what
  /// was modified, moves as pairs, and the elements that there are then, so that a copy can follow
  /// by `apply(to:)`. All sections give a ``SectionsDelta``. One section gives a
  /// ``CollectionDelta`` of its elements: what goes with the section is deleted, what comes with it
  /// is inserted, and where it is among the others does not matter.
  ///
  /// Traps where `observe` does.
  ///
  /// - Returns: a token; keep it for as long as you want to observe.
  public func observeChanges(
    _ block: @escaping (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken {
    _changeOrigin.observe(block)
  }

  /// Calls `block` as `observeChanges` without key paths does, for what `observe(keyPaths:)` tells.
  /// Traps where that does.
  ///
  /// - Returns: a token; keep it for as long as you want to observe.
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

  /// Calls `block` as `observeChanges` without a depth does, for what `observe(depth:)` tells.
  ///
  /// - Returns: a token; keep it for as long as you want to observe.
  public func observeChanges(
    depth: Int, _ block: @escaping (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken {
    _changeOrigin.looking(_Look(depth: depth)).observe(block)
  }

  /// Calls `block` as without a depth, which is three: an object counts as modified if a property
  /// was set in it, or in an object that is at most so many links away from it. Traps for a
  /// negative depth, and where the call without a depth does.
  ///
  /// - Returns: a token; keep it for as long as you want to observe.
  public func observe(
    depth: Int, _ block: @escaping (SectionedResultsChange<Self>) -> Void
  ) -> NotificationToken {
    _observe(_Look(depth: depth), block)
  }

  /// What `observeChanges` would tell, for `for await`. Traps for sections of an invalidated Realm;
  /// see ``ChangeSequence`` for who may go over it.
  public var changes: ChangeSequence<ObservedChange<Self, _Delta>> { _changeOrigin.changes }

  /// What `observeChanges(keyPaths:)` would tell, for `for await`. Traps at once where that does;
  /// see ``ChangeSequence`` for who may go over it.
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

  /// What `observeChanges(depth:)` would tell, for `for await`. Traps at once where that does; see
  /// ``ChangeSequence`` for who may go over it.
  public func changes(depth: Int) -> ChangeSequence<ObservedChange<Self, _Delta>> {
    _changeOrigin.looking(_Look(depth: depth)).changes
  }
}
