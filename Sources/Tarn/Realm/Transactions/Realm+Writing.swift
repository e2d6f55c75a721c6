import TarnStore

extension Realm {
  /// True from the beginning of a write on this instance until its commit or cancel.
  public var isInWriteTransaction: Bool {
    core.checkThread()
    return core.isInWriteTransaction
  }

  /// Runs `block` in a write transaction and commits all of it, or nothing.
  ///
  /// Waits until no other thread or process writes, advances to the newest version (observers are
  /// called for that before the block runs), then runs the block. When this returns, the block's
  /// changes are committed: they are on disk if the file's durability is `.full`. If the block
  /// throws, its changes are rolled back and the error is rethrown. The block may end the write
  /// itself.
  ///
  /// - Parameters:
  ///   - tokens: observations that do not receive this commit.
  ///   - block: the changes.
  /// - Throws: the block's error, or `Realm.Error` if the commit fails. The write is then rolled
  ///   back, unless the error's `isCommitted` says otherwise.
  @discardableResult
  public func write<R>(
    withoutNotifying tokens: [NotificationToken] = [], _ block: () throws -> R
  ) throws -> R {
    try write(within: nil, withoutNotifying: tokens, block)
  }

  /// Like `write` without a timeout, but waits at most `timeout` for other writers: for code
  /// that must respond whatever others do. The time of the write itself, and of the disk, is not
  /// limited.
  ///
  /// - Throws: `Realm.Error.busy` if another thread or process did not stop writing in time, for
  ///   example because a signal or a debugger has stopped it. The message names the process, since
  ///   when it has been writing, and whether it is stopped. The block was not run.
  @discardableResult
  public func write<R>(
    timeout: Duration, withoutNotifying tokens: [NotificationToken] = [],
    _ block: () throws -> R
  ) throws -> R {
    try write(within: timeout, withoutNotifying: tokens, block)
  }

  private func write<R>(
    within timeout: Duration?, withoutNotifying tokens: [NotificationToken],
    _ block: () throws -> R
  ) throws -> R {
    try publicly { () throws(StorageError) in try core.checkThread(toThrowFrom: "write") }
    core.activeObservations(of: tokens)
    try core.beginWrite(timeout: timeout)
    let result: R
    do {
      result = try block()
    } catch {
      if isInWriteTransaction { cancelWrite() }
      throw error
    }
    if isInWriteTransaction { try commitWrite(withoutNotifying: tokens) }
    return result
  }

  /// Begins a write; see `write`. Traps if it cannot begin; use `write` to get an error.
  ///
  /// The write stays open until it is committed or cancelled, even if the Realm is released: the
  /// next one opened on this thread or queue continues it. If the thread or queue ends before that,
  /// the write is cancelled with a warning in the log.
  public func beginWrite() {
    do {
      try core.beginWrite()
    } catch {
      trap("Cannot begin a write: \(error)")
    }
  }

  /// Commits the open write. Traps outside of one.
  ///
  /// - Parameter tokens: observations that do not receive this commit.
  /// - Throws: `Realm.Error` if it cannot be committed; the write is then rolled back, unless the
  ///   error's `isCommitted` says otherwise.
  public func commitWrite(withoutNotifying tokens: [NotificationToken] = []) throws {
    try core.commitWrite(withoutNotifying: tokens)
  }

  /// Rolls back everything since the write began. Objects that were added become invalidated.
  /// Observers are not called. Traps outside of a write.
  public func cancelWrite() { core.cancelWrite() }
}
