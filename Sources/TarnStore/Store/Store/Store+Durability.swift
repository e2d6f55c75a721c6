/// The durability of commits, syncs, and writing again after a failure of the disk.
extension Store {
  /// The durability of this process's commits. A file is created for `relaxed`, or for the others.
  package var durability: EnvironmentOptions.Durability { environment.durability }

  /// Whether a commit waits for the disk.
  package var isDurable: Bool { durability != .relaxed }

  /// How long a relaxed file's other writers may take.
  package static let patience = Duration.seconds(10)

  /// Waits until all commits, also those of other processes, survive a power failure. If commits of
  /// the file are not synced, that holds until the next one, of any process.
  ///
  /// The caller must not have the write lock.
  ///
  /// Errors: `.inputOutput`, after which the store is closed for writing; `.busy` if another writer
  /// of a relaxed file took too long; `.permissionDenied` for a private copy.
  package func flush() throws(StorageError) {
    if let cause = environment.copyCause {
      throw StorageError(
        cause.code, operation: "flush", path: path,
        detail: "the file is read from a private copy. \(cause.detail)")
    }
    guard isShared else { return }
    guard durability == .relaxed else { return try environment.sync() }
    // Commits that were made meanwhile could be on the disk in part.
    let token = try acquireGate(timeout: Self.patience)
    let outcome = Result { () throws(StorageError) in try environment.sync() }
    token.release()
    try outcome.get()
  }

  /// Makes a version survive a power failure before a server or a consumer gets it:
  /// otherwise it would seem to have been restored from a backup afterwards. Cheap if the version
  /// survives anyway.
  ///
  /// - Parameter relaxes: whether a version of a file whose commits are not synced may stay as it
  ///   is. After a power failure such a file is not used without a check.
  package func settle(_ snapshot: Snapshot, unlessRelaxed relaxes: Bool) throws(StorageError) {
    let head = snapshot.head
    guard isShared, !head.isOnDisk, !(relaxes && durability == .relaxed) else { return }
    if isSettled(head.commitID) { return }
    // Without the write lock, also if the file is relaxed: it need not be whole.
    try environment.sync()
    noteSettled(head.commitID)
  }

  /// Lets this process write again after a failure of the disk has closed the store for writing.
  /// Snapshots, observers and cursors go on. Does nothing if the store is not closed.
  ///
  /// The caller must not have the write lock.
  ///
  /// Errors: `.failed` for a relaxed file, any page of which may be missing; those of writing if
  /// the disk still fails; `.busy`.
  package func resumeWriting() throws(StorageError) {
    guard environment.isClosedForWriting else { return }
    let token = try acquireGate(timeout: Self.patience)
    do throws(StorageError) {
      try environment.resumeWriting()
    } catch {
      token.release()
      throw error
    }
    StoreLog.shared.write(.warning, "\(path) is written again after a failure of the disk")
    // The commit that failed in its last step may be in the file.
    announce(try newestSnapshot().version, token)
  }
}
