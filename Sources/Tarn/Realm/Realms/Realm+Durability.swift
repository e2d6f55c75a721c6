import TarnStore

extension Realm {
  /// The durability of this process's commits: the strongest that an opener in the process has
  /// asked for. A file that was created with `relaxed` stays `relaxed`.
  public var durability: Configuration.Durability {
    Configuration.Durability(core.store.durability)
  }

  /// Waits until all commits of the file, also those of other processes, survive a power failure.
  ///
  /// With `relaxed`, that is so only until the next commit of any process: a commit that is not
  /// synced may overwrite pages of the one before. Other writers wait meanwhile. Does nothing for a
  /// Realm in memory.
  ///
  /// - Throws: `Realm.Error.fileOperationFailed` if the disk fails, after which this process cannot
  ///   write the file; see ``resumeWriting()``. `.fail` within a write transaction; `.busy` if the
  ///   file is `relaxed` and another writer does not stop for ten seconds.
  public func flush() throws {
    try refuseInWrite("flush")
    core.finishWriting()
    try publicly { () throws(StorageError) in try core.store.flush() }
  }

  /// Lets this process write the file again after a failure of the disk.
  ///
  /// A write that failed with `fileOperationFailed` or `outcomeUnknown`, or a ``flush()`` that
  /// failed, closes the file for writing in this process: further writes throw
  /// `Realm.Error.fail`. This call checks that the disk works, and writes the pages again that may
  /// be missing there. Nothing need be released before: objects, frozen ones, observers and cursors
  /// go on, and if the write that failed with `outcomeUnknown` turns out to be in the file, the
  /// observers are called for it. Does nothing if the file can be written.
  ///
  /// In two cases it throws, and the message says what to release. With `relaxed`, any page may be
  /// missing on the disk, so all programs that have the file open must end, and `tarn repair` makes
  /// a new one. After many failures, all Realms, frozen objects and cursors of the file must be
  /// released in this process.
  ///
  /// Sessions of synchronized Realms, `tarn daemon` and `tarn sync` call it by themselves.
  ///
  /// - Throws: `Realm.Error.fileOperationFailed` if the disk still fails: try again later. `.fail`
  ///   in the two cases, and within a write transaction; `.busy` if another writer does not stop
  ///   for ten seconds.
  public func resumeWriting() throws {
    try refuseInWrite("resume writing")
    try publicly { () throws(StorageError) in try core.store.resumeWriting() }
  }

  private func refuseInWrite(_ operation: String) throws {
    core.checkThread()
    guard core.isInWriteTransaction else { return }
    throw Error(
      .fail, message: "Cannot \(operation) within a write transaction: commit or cancel it first.",
      fileURL: core.store.fileURL)
  }
}
