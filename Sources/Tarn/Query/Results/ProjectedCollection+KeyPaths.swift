extension ProjectedCollection {
  /// Like `observe(_:)`, but a value counts as modified if a property on one of the key paths was
  /// set, instead of the projected one. They begin at the objects of the list or set: for
  /// `person.friends.projectTo.firstName`, `["firstName", "lastName"]` reports both names.
  ///
  /// Nil and an empty array mean the projected property. Traps for a property that the objects'
  /// class does not have, and in the same cases as `observe(_:)`.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observe(
    keyPaths: [String]?, _ block: @escaping (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken {
    plainOrigin(along: keyPaths).observe(block)
  }

  /// Like `observeChanges(_:)`, limited to the changes that `observe(keyPaths:)` reports. Traps in
  /// the same cases.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observeChanges(
    keyPaths: [String]?,
    _ block: @escaping (ObservedChange<Self, CollectionDelta<Element>>) -> Void
  ) -> NotificationToken {
    changeOrigin(along: keyPaths).observe(block)
  }

  /// The changes that `observeChanges(keyPaths:)` reports, for `for await`. Traps at once in the
  /// same cases; ``ChangeSequence`` says which code may iterate over it.
  public func changes(
    keyPaths: [String]?
  ) -> ChangeSequence<ObservedChange<Self, CollectionDelta<Element>>> {
    changeOrigin(along: keyPaths).changes
  }

  func plainOrigin(along keyPaths: [String]?) -> _ChangeOrigin<RealmCollectionChange<Self>> {
    guard let keyPaths, !keyPaths.isEmpty else { return _plainOrigin }
    return _plainOrigin.scoped(to: _ObservationScope(keyPaths: keyPaths))
  }

  func changeOrigin(
    along keyPaths: [String]?
  ) -> _ChangeOrigin<ObservedChange<Self, CollectionDelta<Element>>> {
    guard let keyPaths, !keyPaths.isEmpty else { return _changeOrigin }
    return _changeOrigin.scoped(to: _ObservationScope(keyPaths: keyPaths))
  }
}
