import TarnStore

/// The rules for commits to a synchronized file that are checked before the server sees them.
struct CommitRules: Sendable {
  /// PostgreSQL's index accepts longer keys only sometimes, depending on how well they compress.
  private static let keyBytesMax = 2_600

  private let names: Set<String>
  private let path: String

  /// - Parameter names: the classes that are exchanged.
  init(_ names: [String], _ path: String) {
    self.names = Set(names)
    self.path = path
  }

  func check(_ session: WriteSession, _ changes: ChangeSet) throws(StorageError) {
    let set = try SubscriptionSet.read(in: session.base)
    for change in changes.classes {
      guard let described = session.schema.schema[change.id], names.contains(described.name) else {
        continue
      }
      if try isNothing(change, session) { continue }
      if let set, !set.asymmetric.contains(described.name),
        set.queries(on: described.name).isEmpty
      {
        throw StorageError(
          .noSubscription, operation: "commit", path: path,
          detail: "no subscription has objects of \(described.name), so a server would take the"
            + " change and this file would lose it. Subscribe to the class first. Nothing"
            + " was written"
        )
      }
      for key in change.inserted { try checkKey(key, described, session) }
    }
  }

  /// Whether a class that was cleared had no objects.
  private func isNothing(
    _ change: ClassChanges, _ session: WriteSession
  ) throws(StorageError) -> Bool {
    guard change.isCleared, change.inserted.isEmpty else { return false }
    return try SnapshotReader(session.base).record(of: change.id).rowCount == 0
  }

  private func checkKey(
    _ key: ObjectKey, _ described: ClassSchema, _ session: WriteSession
  ) throws(StorageError) {
    guard let column = described.primaryKey, !described.keyIsPrimary else { return }
    let problem: String
    switch try session.value(of: column, at: key, in: described.id) {
    case .null?: problem = "is nil, which PostgreSQL's keys cannot be"
    case .string(let text)? where text.utf8.count > Self.keyBytesMax:
      problem = "has \(text.utf8.count) bytes; PostgreSQL takes \(Self.keyBytesMax)"
    case .string(let text)? where text.utf8.contains(0): problem = "has a NUL in it"
    default: return
    }
    throw StorageError(
      .invalidInput, operation: "commit", path: path,
      detail: "the primary key \(described.name).\(described[column].name) \(problem)."
        + " Nothing was written")
  }
}
