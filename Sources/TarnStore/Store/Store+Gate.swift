extension Store {
  /// Takes the gate, waiting for it as long as that takes. Whoever shows the newest snapshot then
  /// shows what it is to write on: a commit that its dead writer left hidden is published first.
  ///
  /// Errors: `.busy` after the timeout, `.forked`.
  package func acquireGate(
    timeout: Duration? = nil, telling notice: GateToken.Notice? = nil
  ) throws(StorageError) -> GateToken {
    let token = try gate.acquire(timeout: timeout, telling: notice)
    environment.publishOrphanedCommit()
    return token
  }

  /// Takes the gate for somebody who may not wait here, if it is free and it is his turn. If not,
  /// he stands in line and `wake` is called, on another thread, when it is worth to try again.
  ///
  /// Errors: `.forked`.
  package func claimGate(
    _ waiter: GateLine.WaiterID, orCall wake: @escaping @Sendable () -> Void
  ) throws(StorageError) -> GateToken? {
    guard let token = try line.claim(waiter, orCall: wake) else { return nil }
    environment.publishOrphanedCommit()
    return token
  }

  /// Takes the gate as `acquireGate` does, for an instance that stands in line: it goes ahead with
  /// the turn that it has there.
  package func acquireGate(
    insteadOf waiter: GateLine.WaiterID, timeout: Duration? = nil
  ) throws(StorageError) -> GateToken {
    guard let ticket = line.takeTicket(of: waiter) else {
      return try acquireGate(timeout: timeout)
    }
    let token = try ticket.wait(timeout: timeout)
    environment.publishOrphanedCommit()
    return token
  }

  /// A transaction that shows the newest commit, also one whose writer died before LMDB told new
  /// readers of it.
  func beginReadOfNewest() throws(StorageError) -> ReadTransaction {
    let transaction = try environment.beginRead()
    // A live writer is on its way between the two for a moment of each commit.
    guard environment.mayHideCommit(from: transaction), gate.holder == nil else {
      return transaction
    }
    transaction.end()
    environment.publishOrphanedCommit()
    return try environment.beginRead()
  }
}
