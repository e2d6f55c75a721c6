import TarnStore

/// How far the server has the commits of a file, as the file says.
struct UploadProgress {
  private let store: Store
  private let snapshot: Snapshot
  private let state: ReplicaState?

  init(_ store: Store) throws(StorageError) {
    self.store = store
    snapshot = try store.newestSnapshot()
    state = try ReplicaRecords.bytes(ReplicaState.key, in: snapshot.transaction).map {
      bytes throws(StorageError) in try ReplicaState(bytes, path: store.path)
    }
  }

  /// The commits up to there are sent, refused, or of no concern to the server.
  var done: UInt64 {
    guard let state else { return 0 }
    return state.joinedTime == 0 ? state.done.version.rawValue : state.sent.version
  }

  func isSent(upTo version: Version) throws(StorageError) -> Bool {
    guard let state, !state.server.isEmpty, !state.hasUploads else { return false }
    if state.done.version >= version, state.joinedTime == 0 { return true }
    return try unsentObjects() == 0
  }

  /// How many objects have changes that the server does not have.
  func unsentObjects() throws(StorageError) -> Int {
    try ReplicaReport.of(store)?.unsentObjects ?? 0
  }
}
