package import TarnStore

/// The synchronization state of a file, without a connection: `tarn sync status`.
package struct ReplicaReport: Equatable, Sendable {
  /// The server's number of the replica.
  package let number: UInt32
  package let classes: [String]
  /// The version up to which the server has the file's commits.
  package let sent: UInt64
  /// The number of commits that it does not have, and of the objects that they changed.
  package let unsentCommits: Int
  package let changedObjects: Int
  /// The number of other objects that it does not have: they were in the file before its first
  /// exchange, or the server has lost them.
  package let lackingObjects: Int
  /// Whether all objects that the file must have are here.
  package let isComplete: Bool
  /// Whether a process is connected to the server, and the reason if not.
  package let isConnected: Bool
  package let problem: String?
  /// The values of the server that the file has left out, up to `leftOutMax`, and their number.
  package let leftOut: [LeftOutValue]
  package let leftOutCount: Int
  package static let leftOutMax = 100
  /// The classes whose changes, or whose objects from before the first exchange, the server
  /// refuses.
  package let stuck: [StuckClass]
  /// The objects that it must have; nil for all objects of the classes.
  package let subscriptions: SubscriptionSet?

  /// All objects whose state here the server does not have.
  package var unsentObjects: Int { changedObjects + lackingObjects }

  /// - Returns: nil for a file that is not a replica.
  /// - Throws: `StorageError` for a damaged file.
  package static func of(_ store: Store) throws(StorageError) -> ReplicaReport? {
    let snapshot = try store.newestSnapshot()
    guard let bytes = try ReplicaRecords.bytes(ReplicaState.key, in: snapshot.transaction),
      let unsent = try UnsentCount(store)
    else { return nil }
    let state = try ReplicaState(bytes, path: store.path)
    let objects = try unsent.objects()
    let notes = try SessionNotes.read(in: snapshot)
    let leftOut = try LeftOutValue.all(in: snapshot)
    return ReplicaReport(
      number: state.number, classes: unsent.classNames, sent: state.sent.version,
      unsentCommits: objects.changed == 0 ? 0 : try unsent.commits(),
      changedObjects: objects.changed, lackingObjects: objects.lacking,
      isComplete: try isComplete(state, snapshot),
      isConnected: try SessionNotes.isConnected(store, snapshot),
      problem: notes.problem, leftOut: Array(leftOut.prefix(leftOutMax)),
      leftOutCount: leftOut.count,
      stuck: try StuckClasses.read(in: snapshot).classes
        + StuckClasses.read(StuckClasses.olderKey, in: snapshot).classes,
      subscriptions: try SubscriptionSet.read(in: snapshot))
  }

  /// Whether all objects that a file must have are here; false for a file that is not a replica.
  static func isComplete(_ store: Store) throws(StorageError) -> Bool {
    let snapshot = try store.newestSnapshot()
    guard let bytes = try ReplicaRecords.bytes(ReplicaState.key, in: snapshot.transaction) else {
      return false
    }
    return try isComplete(ReplicaState(bytes, path: store.path), snapshot)
  }

  private static func isComplete(
    _ state: ReplicaState, _ snapshot: Snapshot
  ) throws(StorageError) -> Bool {
    guard state.position != .none,
      try SubscriptionSet.read(in: snapshot)?.state != .pending
    else { return false }
    let entries = ReplicaObjects(snapshot)
    for described in snapshot.schema.schema.classes where state.classes.contains(described.name) {
      if let progress = try entries.progress(of: described.id), !progress.isComplete {
        return false
      }
    }
    return true
  }
}
