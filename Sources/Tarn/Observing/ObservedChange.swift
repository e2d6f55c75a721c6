/// What `observeChanges` is called with, and what `changes` gives: the first state of a collection,
/// or what became of it since.
public enum ObservedChange<Collection, Delta> {
  /// The first: the collection is ready to be read.
  case initial(Collection)
  /// The collection changed since the last one. The delta says how and knows what it leads to, even
  /// if somebody has written since and the collection shows more.
  case update(Collection, Delta)
  /// The file can no longer be followed; nothing comes after this.
  case error(any Error)

  /// The same of another collection that shows this one.
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
  /// Brings an array up to this change: `.initial` fills it, an update changes it, an error leaves
  /// it as it is. An array that every change is applied to always equals the collection as the last
  /// of them left it, if `.initial` is applied before anything else is written.
  ///
  /// Traps for an array of another length than the changes before have made. Threading: as the
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
