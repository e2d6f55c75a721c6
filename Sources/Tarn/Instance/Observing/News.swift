import TarnStore

/// The argument of an observation's block.
enum News<Update> {
  /// The first call: the observed object or collection can be read.
  case initial
  case update(Update)
  /// The file can no longer be followed. The last call.
  case error(StorageError)

  /// The same with another form of the update.
  ///
  /// - Parameter transform: returns nil for updates that are not reported to the observer.
  func map<Other>(_ transform: (Update) -> Other?) -> News<Other>? {
    switch self {
    case .initial: .initial
    case .update(let update): transform(update).map { .update($0) }
    case .error(let error): .error(error)
    }
  }
}

extension LiveDifference {
  /// The changes by position; nil for maps and derived content.
  var indices: IndexChanges? {
    if case .indices(let changes) = self { changes } else { nil }
  }

  /// The changes of a map; nil for other content.
  var keys: KeyChanges? {
    if case .keys(let changes) = self { changes } else { nil }
  }
}
