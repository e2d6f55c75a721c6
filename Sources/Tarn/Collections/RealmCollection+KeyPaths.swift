extension RealmCollection {
  /// Like `observe(_:)`, but an object counts as modified only if a property on one of the key
  /// paths was set: in the object, as in `"name"`, or through links, collections and backlinks, as
  /// in `"owner.city.name"`. Insertions, deletions and moves are always reported. See
  /// <doc:Observing>.
  ///
  /// Nil and an empty array filter nothing. Each token has its own filter. Traps for a property
  /// that a class does not have, for values that are not objects, and in the same cases as
  /// `observe(_:)`.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observe(
    keyPaths: [String]?, _ block: @escaping (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken {
    _observe(_Look(keyPaths: keyPaths, of: Element.self), block)
  }

  /// The same for key paths of the elements' class, such as `\Dog.owner?.name`. A key path through
  /// a collection continues from an element at any index: `\Dog.siblings[0].name` means the names
  /// of all elements.
  @_disfavoredOverload
  public func observe(
    keyPaths: [PartialKeyPath<Element>],
    _ block: @escaping (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken where Element: KeypathSortable {
    _observe(_Look(keyPaths), block)
  }

  /// Like `observe(_:)`, with changes counted up to `depth` links away (3 by default): an object
  /// counts as modified if a property was set in it, or in an object within that depth. With a
  /// depth of 0 only its own properties count, with `Int.max` every object that links reach. The
  /// cost depends on the objects, not on the number. Traps for a negative depth, and in the same
  /// cases as `observe(_:)`.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observe(
    depth: Int, _ block: @escaping (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken {
    _observe(_Look(depth: depth), block)
  }

  /// Like `observeChanges(_:)`, limited to the changes that `observe(keyPaths:)` reports. Same
  /// preconditions.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observeChanges(
    keyPaths: [String]?,
    _ block: @escaping (ObservedChange<Self, CollectionDelta<Element>>) -> Void
  ) -> NotificationToken {
    _changeOrigin.looking(_Look(keyPaths: keyPaths, of: Element.self)).observe(block)
  }

  /// The same for key paths of the elements' class.
  @_disfavoredOverload
  public func observeChanges(
    keyPaths: [PartialKeyPath<Element>],
    _ block: @escaping (ObservedChange<Self, CollectionDelta<Element>>) -> Void
  ) -> NotificationToken where Element: KeypathSortable {
    _changeOrigin.looking(_Look(keyPaths)).observe(block)
  }

  /// Like `observeChanges(_:)`, limited to the changes that `observe(depth:)` reports.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observeChanges(
    depth: Int, _ block: @escaping (ObservedChange<Self, CollectionDelta<Element>>) -> Void
  ) -> NotificationToken {
    _changeOrigin.looking(_Look(depth: depth)).observe(block)
  }

  /// The changes that `observeChanges(keyPaths:)` delivers, as an asynchronous sequence. Traps at
  /// once in the same cases; see ``ChangeSequence`` for where the loop may run.
  public func changes(
    keyPaths: [String]?
  ) -> ChangeSequence<ObservedChange<Self, CollectionDelta<Element>>> {
    _changeOrigin.looking(_Look(keyPaths: keyPaths, of: Element.self)).changes
  }

  /// The same for key paths of the elements' class.
  @_disfavoredOverload
  public func changes(
    keyPaths: [PartialKeyPath<Element>]
  ) -> ChangeSequence<ObservedChange<Self, CollectionDelta<Element>>>
  where Element: KeypathSortable {
    _changeOrigin.looking(_Look(keyPaths)).changes
  }

  /// The changes that `observeChanges(depth:)` delivers, as an asynchronous sequence. Traps at once
  /// in the same cases; see ``ChangeSequence`` for where the loop may run.
  public func changes(
    depth: Int
  ) -> ChangeSequence<ObservedChange<Self, CollectionDelta<Element>>> {
    _changeOrigin.looking(_Look(depth: depth)).changes
  }
}

extension _Look {
  init<Element: RealmCollectionValue>(keyPaths: [String]?, of _: Element.Type) {
    guard let type = Element.self as? any KeypathSortable.Type else {
      self.init(keyPaths: keyPaths)
      return
    }
    self.init(keyPaths: keyPaths?.map { type._underlyingPath($0) })
  }

  /// Traps for key paths that are not chains of stored properties.
  init<Root: KeypathSortable>(_ keyPaths: [PartialKeyPath<Root>]) {
    self.init(keyPaths: _names(of: keyPaths))
  }
}
