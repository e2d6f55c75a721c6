import TarnStore

/// Identifies a queued write, or the commit of one, to cancel it.
public struct AsyncTransactionId: Hashable, Sendable {
  let number: UInt32
}

extension Realm {
  /// Queues `block` to run in its own write transaction, which is then committed. Returns at once.
  ///
  /// The block runs in a later turn of the Realm's scheduler, when no other thread or process
  /// writes; no thread waits for that. It sees the newest version, which may be newer than the one
  /// at the call. Blocks of one Realm run in the order in which they were queued, never inside
  /// another write of it; an ordinary write goes first. The block may end the write itself. The
  /// disk is written on another thread.
  ///
  /// May be called in a write and in any callback. Blocks that have not begun when the Realm is
  /// invalidated, or is no longer referenced, are dropped.
  ///
  /// Traps on a plain thread, which has no later turns, and for a frozen or read-only Realm.
  ///
  /// - Parameters:
  ///   - tokens: observations that do not receive this commit; they must be active then.
  ///   - block: the changes.
  ///   - onComplete: called on the Realm's scheduler when the commit is on disk, or with the
  ///     `Realm.Error` because of which nothing was written.
  /// - Returns: an id for ``cancelAsyncWrite(_:)``.
  @discardableResult
  public func writeAsync(
    withoutNotifying tokens: [NotificationToken] = [], _ block: @escaping () -> Void,
    onComplete: (((any Swift.Error)?) -> Void)? = nil
  ) -> AsyncTransactionId {
    writeAsync(within: nil, withoutNotifying: tokens, block, onComplete)
  }

  /// Like ``writeAsync(withoutNotifying:_:onComplete:)``, but fails if the block has not begun
  /// within `timeout` after the call: because of other writers or earlier blocks, or because no
  /// turn ran.
  ///
  /// - Parameters:
  ///   - timeout: how long to wait for the block to begin.
  ///   - tokens: observations that do not receive this commit.
  ///   - block: the changes; never run after the timeout.
  ///   - onComplete: called as without a timeout, or with `Realm.Error.busy`, whose message names
  ///     the process that writes, since when, and whether it is stopped.
  @discardableResult
  public func writeAsync(
    timeout: Duration, withoutNotifying tokens: [NotificationToken] = [],
    _ block: @escaping () -> Void, onComplete: (((any Swift.Error)?) -> Void)? = nil
  ) -> AsyncTransactionId {
    writeAsync(within: timeout, withoutNotifying: tokens, block, onComplete)
  }

  private func writeAsync(
    within timeout: Duration?, withoutNotifying tokens: [NotificationToken],
    _ block: @escaping () -> Void, _ onComplete: (((any Swift.Error)?) -> Void)?
  ) -> AsyncTransactionId {
    let completion: AsyncWrites.Completion? = onComplete.map { told in { told($0) } }
    let id = core.queueWrite(within: timeout, block) { [unowned core] in
      if core.isInWriteTransaction {
        core.commitLater(withoutNotifying: tokens, completion)
      } else if let completion, let writes = core.asyncWrites {
        writes.tellLater(writes.claimID(), completion, nil)
      }
    } failed: { [unowned core] error in
      core.tell(error, completion)
    }
    return AsyncTransactionId(number: id)
  }

  /// Like ``writeAsync(withoutNotifying:_:onComplete:)``, but the block must commit, with
  /// `commitAsyncWrite` or `commitWrite`. If it returns without that, its changes are rolled back.
  ///
  /// Traps in the same cases, and in the later turn if the write cannot begin because the file can
  /// no longer be followed.
  @discardableResult
  public func beginAsyncWrite(_ block: @escaping () -> Void) -> AsyncTransactionId {
    beginAsyncWrite(within: nil, block) { trap("Cannot begin a write: \($0)") }
  }

  /// Like ``beginAsyncWrite(_:)``, but fails if the block has not begun within `timeout` after the
  /// call.
  ///
  /// - Parameters:
  ///   - timeout: how long to wait for the block to begin.
  ///   - block: the changes; it must commit.
  ///   - onFailure: called on the Realm's scheduler, instead of the block: with `Realm.Error.busy`,
  ///     whose message names the process that writes, or with the error because of which the file
  ///     can no longer be followed.
  @discardableResult
  public func beginAsyncWrite(
    timeout: Duration, _ block: @escaping () -> Void,
    onFailure: @escaping (any Swift.Error) -> Void
  ) -> AsyncTransactionId {
    beginAsyncWrite(within: timeout, block) { onFailure($0) }
  }

  private func beginAsyncWrite(
    within timeout: Duration?, _ block: @escaping () -> Void,
    failed: @escaping (Realm.Error) -> Void
  ) -> AsyncTransactionId {
    let ended = { [unowned core] in
      if core.isInWriteTransaction { core.cancelWrite() }
    }
    return AsyncTransactionId(
      number: core.queueWrite(within: timeout, block, ended: ended, failed: failed))
  }

  /// Commits the open write, however it was begun, without waiting for the disk.
  ///
  /// When this returns, the Realm is at the committed version, and its realm-level observers have
  /// been called. Other instances and processes see the changes when they are on disk. Until then
  /// the Realm can be read; an ordinary write, observing, freezing and invalidating wait for the
  /// disk. Observers of collections and objects are called in a later turn after that.
  ///
  /// Traps outside of a write, and on a plain thread.
  ///
  /// - Parameters:
  ///   - allowGrouping: whether this commit may share a transaction, and so one wait for the disk,
  ///     with those of blocks that are already queued: up to 20 of them, within some milliseconds.
  ///     All of them are then on disk or none; other instances see one commit, and this one's
  ///     observers receive several. For blocks of `beginAsyncWrite` and `writeAsync`.
  ///   - tokens: observations that do not receive this commit.
  ///   - onComplete: called on the Realm's scheduler, in the order of the commits, when it is on
  ///     disk, or with the `Realm.Error` because of which the write was rolled back.
  /// - Returns: an id for ``cancelAsyncWrite(_:)``, which then drops `onComplete`.
  @discardableResult
  public func commitAsyncWrite(
    allowGrouping: Bool = false, withoutNotifying tokens: [NotificationToken] = [],
    _ onComplete: (((any Swift.Error)?) -> Void)? = nil
  ) -> AsyncTransactionId {
    let completion: AsyncWrites.Completion? = onComplete.map { told in { told($0) } }
    return AsyncTransactionId(
      number: core.commitLater(
        allowGrouping: allowGrouping, withoutNotifying: tokens, completion))
  }

  /// Cancels a queued block or a completion. A block that has not begun is not run, nor is its
  /// completion. A commit stays committed; only its completion is not called. Has no effect on a
  /// block that runs or has run.
  ///
  /// Threading: on the Realm's scheduler; traps elsewhere. Never throws at present.
  public func cancelAsyncWrite(_ id: AsyncTransactionId) throws {
    core.checkThread()
    core.asyncWrites?.cancel(id.number)
  }

  /// True while a write that was begun by one of the asynchronous calls is queued, runs, or is not
  /// on disk yet.
  public var isPerformingAsynchronousWriteOperations: Bool {
    core.checkThread()
    return core.asyncWrites?.isBusy ?? false
  }

  /// Runs `block` in a write transaction on the caller's actor, and returns its value when the
  /// commit is on disk.
  ///
  /// The task is suspended while another thread or process writes, and while the disk is written;
  /// no thread waits. Meanwhile other code of the actor may run and may write: several calls write
  /// in the order in which they were made, and `write` goes first. The block can change objects
  /// from before the call, and its value can be used on the actor.
  ///
  /// If the block throws, its changes are rolled back. It may end the write itself; if it then
  /// begins another one, that is committed. If the task is cancelled before the block has begun,
  /// the block is never run; later cancellation has no effect on the commit.
  ///
  /// Traps unless the caller runs where the Realm belongs, on a plain thread, and for a frozen or
  /// read-only Realm.
  ///
  /// - Parameters:
  ///   - tokens: observations that do not receive this commit.
  ///   - block: the changes.
  /// - Throws: `CancellationError`, the block's error, or `Realm.Error` if it cannot be committed.
  @discardableResult
  public func asyncWrite<R>(
    _isolation actor: isolated any Actor = #isolation,
    withoutNotifying tokens: [NotificationToken] = [], _ block: () throws -> R
  ) async throws -> R {
    try await asyncWrite(within: nil, isolation: actor, withoutNotifying: tokens, block)
  }

  /// Like `asyncWrite` without a timeout, but fails if the block has not begun within
  /// `timeout` after the call, because of other writers or earlier writes. The time of the write
  /// itself, and of the disk, is not limited.
  ///
  /// - Throws: the same errors; and `Realm.Error.busy`, whose message names the process that
  ///   writes, since when, and whether it is stopped. The block was not run then.
  @discardableResult
  public func asyncWrite<R>(
    _isolation actor: isolated any Actor = #isolation, timeout: Duration,
    withoutNotifying tokens: [NotificationToken] = [], _ block: () throws -> R
  ) async throws -> R {
    try await asyncWrite(within: timeout, isolation: actor, withoutNotifying: tokens, block)
  }

  private func asyncWrite<R>(
    within timeout: Duration?, isolation actor: isolated any Actor,
    withoutNotifying tokens: [NotificationToken], _ block: () throws -> R
  ) async throws -> R {
    let writes = core.asyncWritesToUse("write asynchronously")
    core.activeObservations(of: tokens)
    try Task.checkCancellation()
    let turn = TaskTurn()
    let id = writes.queueTask(turn, within: timeout)
    while try !writes.begin(id) {
      do {
        try await turn.wait(_isolation: actor)
        try Task.checkCancellation()
      } catch {
        writes.remove(id)
        throw error
      }
    }
    let result: R
    do {
      defer { writes.taskBlockEnded() }
      result = try block()
    } catch {
      if isInWriteTransaction { cancelWrite() }
      throw error
    }
    guard isInWriteTransaction else { return result }
    if core.store.isDurable {
      try await withCheckedThrowingContinuation(isolation: actor) {
        (continuation: CheckedContinuation<Void, any Swift.Error>) in
        core.commitLater(withoutNotifying: tokens) { error in
          continuation.resume(with: error.map { .failure($0) } ?? .success(()))
        }
      }
    } else {
      try commitWrite(withoutNotifying: tokens)
    }
    return result
  }
}

extension RealmCore {
  /// Reports a write that could not begin.
  fileprivate func tell(_ error: Realm.Error, _ completion: AsyncWrites.Completion?) {
    if let completion, let asyncWrites {
      asyncWrites.tellLater(asyncWrites.claimID(), completion, error)
    } else {
      StoreLog.shared.write(.error, "\(store.path): a queued write could not begin: \(error)")
    }
  }
}
