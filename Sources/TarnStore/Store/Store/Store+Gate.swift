extension Store {
  /// Takes the write lock, waiting up to the timeout. The newest snapshot then is the state to
  /// write on: a commit that a dead writer left hidden is published first.
  ///
  /// Errors: `.busy` after the timeout, `.forked`.
  package func acquireGate(
    timeout: Duration? = nil, telling notice: GateToken.Notice? = nil
  ) throws(StorageError) -> GateToken {
    let token = try gate.acquire(timeout: timeout, telling: notice)
    publishOrphanedCommit()
    return token
  }

  /// Takes the write lock for a caller that must not block, if the lock is free and the caller is
  /// first. If not, the caller joins the queue, and `wake` is called on another thread when it is
  /// worth trying again.
  ///
  /// Errors: `.forked`.
  package func claimGate(
    _ waiter: GateLine.WaiterID, orCall wake: @escaping @Sendable () -> Void
  ) throws(StorageError) -> GateToken? {
    guard let token = try line.claim(waiter, orCall: wake) else { return nil }
    publishOrphanedCommit()
    return token
  }

  /// Takes the write lock like `acquireGate`, for an instance in the queue: it uses its position
  /// there.
  package func acquireGate(
    insteadOf waiter: GateLine.WaiterID, timeout: Duration? = nil
  ) throws(StorageError) -> GateToken {
    guard let ticket = line.takeTicket(of: waiter) else {
      return try acquireGate(timeout: timeout)
    }
    let token = try ticket.wait(timeout: timeout)
    publishOrphanedCommit()
    return token
  }

  /// Nothing is hidden from a process that has read the newest commit.
  private func publishOrphanedCommit() {
    if !knowsNewestTransaction { environment.publishOrphanedCommit() }
  }

  /// A transaction on the newest commit, even if its writer died before LMDB announced it to new
  /// readers.
  func beginReadOfNewest() throws(StorageError) -> ReadTransaction {
    let transaction = try environment.beginRead()
    // A live writer is briefly between the two steps at each commit.
    guard environment.mayHideCommit(from: transaction), gate.holder == nil else {
      return transaction
    }
    transaction.end()
    environment.publishOrphanedCommit()
    return try environment.beginRead()
  }
}
