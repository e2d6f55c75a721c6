import TarnStore

/// What an observation is called with.
enum News<Update> {
  /// The first call: what is observed can be read.
  case initial
  case update(Update)
  /// The file can no longer be followed; nothing comes after this.
  case error(StorageError)

  /// The same with another form of the update.
  ///
  /// - Parameter transform: gives nil for updates of which the observer is not told.
  func map<Other>(_ transform: (Update) -> Other?) -> News<Other>? {
    switch self {
    case .initial: .initial
    case .update(let update): transform(update).map { .update($0) }
    case .error(let error): .error(error)
    }
  }
}

extension LiveDifference {
  /// The changes of something that has positions; nil for others.
  var indices: IndexChanges? {
    if case .indices(let changes) = self { changes } else { nil }
  }

  /// The changes of a map; nil for others.
  var keys: KeyChanges? {
    if case .keys(let changes) = self { changes } else { nil }
  }
}
