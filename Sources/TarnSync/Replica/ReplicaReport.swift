package import TarnStore

/// A file's state of sync, without a connection: `tarn sync status`.
package struct ReplicaReport: Equatable, Sendable {
  /// The server's number of the replica.
  package let number: UInt32
  package let classes: [String]
  /// The version up to which the server has the file's commits.
  package let sent: UInt64
  /// How many commits it does not have, and the objects that they changed.
  package let unsentCommits: Int
  package let unsentObjects: Int
  /// Whether all objects that the file is to have are here.
  package let isComplete: Bool
  /// Whether a process is connected to the server, and why none is.
  package let isConnected: Bool
  package let problem: String?
  /// The objects that it is to have; nil for all of the classes.
  package let subscriptions: SubscriptionSet?

  /// - Returns: nil for a file that is not a replica.
  /// - Throws: `StorageError` for a damaged file.
  package static func of(_ store: Store) throws(StorageError) -> ReplicaReport? {
    let snapshot = try store.newestSnapshot()
    guard let bytes = try ReplicaRecords.bytes(ReplicaState.key, in: snapshot.transaction) else {
      return nil
    }
    let state = try ReplicaState(bytes, path: store.path)
    let cursor = try store.cursors().first { $0.record.name == Replica.cursorName }
    let unsent = try UnsentChanges(
      after: state, without: cursor?.number ?? 0, in: snapshot)
    let set = try SubscriptionSet.read(in: snapshot)
    let entries = ReplicaObjects(snapshot)
    var (objects, isComplete) = (0, state.position != .none)
    for described in snapshot.schema.schema.classes where state.classes.contains(described.name) {
      objects += try unsent.keys(in: described.id).count
      if let progress = try entries.progress(of: described.id), !progress.isComplete {
        isComplete = false
      }
    }
    // Those that were joined are one.
    let commits = unsent.range.commits + (state.joinedTime == 0 ? 0 : 1)
    let notes = try SessionNotes.read(in: snapshot)
    return ReplicaReport(
      number: state.number, classes: state.classes.sorted(), sent: state.sent.version,
      unsentCommits: objects == 0 ? 0 : commits, unsentObjects: objects,
      isComplete: isComplete && set?.state != .pending, isConnected: notes.isConnected,
      problem: notes.problem, subscriptions: set)
  }
}
