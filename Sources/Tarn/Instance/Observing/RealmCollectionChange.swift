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
