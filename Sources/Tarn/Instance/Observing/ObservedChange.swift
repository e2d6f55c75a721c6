/// The argument of an `observeChanges` block, and the element of `changes`: the first state of a
/// collection, or its changes since then.
public enum ObservedChange<Collection, Delta> {
  /// The first call: the collection is ready to be read.
  case initial(Collection)
  /// The collection changed since the last call. The delta has the changes and the elements after
  /// them, even if another callback has written since and the collection already shows that.
  case update(Collection, Delta)
  /// The file can no longer be observed; this is the last call.
  case error(any Error)

  /// The same change of another collection that represents this one.
  func map<Other, OtherDelta>(
    _ collection: (Collection) -> Other, _ delta: (Delta) -> OtherDelta
  ) -> ObservedChange<Other, OtherDelta> {
    switch self {
    case .initial(let shown): .initial(collection(shown))
    case .update(let shown, let change): .update(collection(shown), delta(change))
    case .error(let error): .error(error)
    }
  }
}

extension ObservedChange where Collection: Sequence, Delta == CollectionDelta<Collection.Element> {
  /// Applies this change to an array: `.initial` fills it, an update changes it, an error leaves it
  /// as it is. An array to which every change is applied equals the collection after the last of
  /// them, if `.initial` is applied before any further write.
  ///
  /// Traps if the array's length differs from that after the change before. Threading: like the
  /// collection.
  public func apply(to array: inout [Collection.Element]) {
    switch self {
    case .initial(let collection): array = Array(collection)
    case .update(_, let delta): delta.apply(to: &array)
    case .error: break
    }
  }
}

extension ObservedChange: Sendable where Collection: Sendable, Delta: Sendable {}

/// The argument of a collection observer.
public enum RealmCollectionChange<Collection> {
  /// The first call: the collection is ready to be read.
  case initial(Collection)
  /// The collection changed since the last call. All indices ascend. `deletions` and
  /// `modifications` are positions before, `insertions` positions after the change. Removing the
  /// deletions and then inserting the insertions turns the old list into the new one.
  case update(Collection, deletions: [Int], insertions: [Int], modifications: [Int])
  /// The file can no longer be followed. The last call.
  case error(any Error)

  /// The same change for a collection that represents this one.
  func map<Other>(_ transform: (Collection) -> Other) -> RealmCollectionChange<Other> {
    switch self {
    case .initial(let shown): .initial(transform(shown))
    case .update(let shown, let deletions, let insertions, let modifications):
      .update(
        transform(shown), deletions: deletions, insertions: insertions,
        modifications: modifications)
    case .error(let error): .error(error)
    }
  }
}

extension RealmCollectionChange: Sendable where Collection: Sendable {}
