import TarnStore

extension Realm {
  /// True from the beginning of a write on this instance until its commit or cancel.
  public var isInWriteTransaction: Bool {
    core.checkThread()
    return core.isInWriteTransaction
  }

  /// Runs `block` in a write transaction and commits all of it, or nothing.
  ///
  /// Waits until no other thread or process writes, moves to the newest version (observers are
  /// called for that before the block runs), then runs the block. When this returns, the block's
  /// changes are committed: they are on disk if the file's durability is `.full`. If the block
  /// throws, its changes are rolled back and the error goes to the caller. The block may end the
  /// write itself.
  ///
  /// - Parameters:
  ///   - tokens: observations that are not told of this commit.
  ///   - block: what to change.
  /// - Throws: `Realm.Error` if the commit fails (the write is rolled back), or the block's error.
  @discardableResult
  public func write<R>(
    withoutNotifying tokens: [NotificationToken] = [], _ block: () throws -> R
  ) throws -> R {
    try write(within: nil, withoutNotifying: tokens, block)
  }

  /// The same, but waits for other writers that long at most: for code that is to answer whatever
  /// others do. What the write itself takes, and the disk, is not limited.
  ///
  /// - Throws: `Realm.Error.busy` if another thread or process did not stop writing in time, as one
  ///   that was stopped by a signal or a debugger does not. The message names the process, and says
  ///   since when it has been writing and whether it is stopped. The block was not run.
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
    core.checkThread()
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
  /// The write stays open until it is committed or cancelled, even if nobody keeps the Realm: the
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
  /// - Parameter tokens: observations that are not told of this commit.
  /// - Throws: `Realm.Error` if it cannot be committed; the write is then rolled back.
  public func commitWrite(withoutNotifying tokens: [NotificationToken] = []) throws {
    try core.commitWrite(withoutNotifying: tokens)
  }

  /// Rolls back everything since the write began. Objects that were added become invalidated.
  /// Observers are not called. Traps outside of a write.
  public func cancelWrite() { core.cancelWrite() }
}
