import TarnStore

/// Asynchronous writes.
extension RealmCore {
  /// Writes that wait to begin, or for the disk; nil until there is one.
  var asyncWrites: AsyncWrites? {
    pendingWrites.map { unsafe unsafeDowncast($0, to: AsyncWrites.self) }
  }

  /// The queue of writes. Traps where no completion can be called later.
  func asyncWritesToUse(_ operation: String) -> AsyncWrites {
    checkThread()
    if isFrozen { trapFrozen("Can't perform transactions on") }
    require(!configuration.readOnly, "Can't perform transactions on read-only Realms.")
    require(
      scheduler.hasTurns,
      "Can't \(operation) on a thread without a run loop, which has no later turn in which to call "
        + "the block or the completion. Use write, or a Realm that was opened on the main thread, "
        + "on a serial queue, in an actor, inside a run loop or with a ManualScheduler."
        + scheduler.adviceForTasks)
    require(
      !scheduler.isGone,
      "Can't \(operation) after the Realm's ManualScheduler was released: there is no later turn "
        + "in which to call the block or the completion. Retain it, or use write.")
    if let asyncWrites { return asyncWrites }
    let made = AsyncWrites(self)
    pendingWrites = made
    return made
  }

  /// Queues a block that is called with a write open. It may end the write.
  ///
  /// - Parameters:
  ///   - timeout: how long it waits to be called; nil for no limit.
  ///   - ended: called after the block, whether the write is open or not.
  ///   - failed: called instead of both.
  func queueWrite(
    within timeout: Duration?, _ block: @escaping () -> Void, ended: @escaping () -> Void,
    failed: @escaping (Realm.Error) -> Void
  ) -> UInt32 {
    func begun() {
      block()
      ended()
    }
    return asyncWritesToUse("write asynchronously").queue(
      .block(begun: begun, failed: failed), within: timeout)
  }

  /// Commits the open write. The instance advances at once; `completion` is called in a later turn,
  /// when the commit is on the disk or has failed, in which case it was rolled back.
  @discardableResult
  func commitLater(
    allowGrouping: Bool = false, withoutNotifying tokens: [NotificationToken],
    _ completion: AsyncWrites.Completion?
  ) -> UInt32 {
    let writes = asyncWritesToUse("commit asynchronously")
    let session = sessionToCommit()
    let skipped = activeObservations(of: tokens)
    let id = writes.claimID()
    guard store.isDurable else {
      commitWithoutDisk(withoutNotifying: tokens, writes, id, completion)
      return id
    }
    let before = write.savepoint
    write.settle()
    writes.join(id, write.mark, completion, leavingOut: skipped, after: before)
    let mayWait = allowGrouping && writes.canWait
    if mayWait { rowsMoved() } else { startCommit(session, writes) }
    if writes.hasFailed {
      writes.finishSync()
    } else {
      delivery.tellOfCommit(except: identities(of: tokens))
    }
    return id
  }

  /// Starts the commit of the settled write.
  func startCommit(_ session: WriteSession, _ writes: AsyncWrites) {
    guard let token = write.takeGateToken() else {
      trap("internal error: a write without the write lock")
    }
    session.rowsMoved = {}
    let (marks, parts) = (writes.marks, writes.parts)
    // Before any other writer can write.
    let commit = store.commitInBackground(session, token) { isCommitted in
      for mark in marks { if isCommitted { mark.commit() } else { mark.cancel() } }
    } whenDone: { [whenDone = writes.whenDone] in
      whenDone()
    }
    // Rows packed by the commit have new addresses.
    rowsMoved()
    writes.settle(commit) { [unowned self] outcome in settle(outcome, parts) }
  }

  /// Continues a write that waits for others to share its transaction.
  ///
  /// - Returns: false if it must be committed first.
  func joinWrite() throws(StorageError) -> Bool {
    guard let session, let savepoint = try session.savepoint() else { return false }
    write.reopen(savepoint)
    rowsMoved()
    return true
  }

  /// A commit that does not wait for the disk needs no other thread.
  private func commitWithoutDisk(
    withoutNotifying tokens: [NotificationToken], _ writes: AsyncWrites, _ id: UInt32,
    _ completion: AsyncWrites.Completion?
  ) {
    var failure: Realm.Error?
    do {
      try commitWrite(withoutNotifying: tokens)
    } catch {
      failure = error
    }
    if let completion { writes.tellLater(id, completion, failure) }
  }

  /// The write is on the disk, or it has failed.
  private func settle(
    _ outcome: BackgroundCommit.Outcome, _ parts: [AsyncWrites.Part]
  ) -> Realm.Error? {
    guard let session else { return nil }
    do {
      let (snapshot, changes) = try outcome.get()
      do {
        try move(to: snapshot, changes, by: parts, of: session)
      } catch {
        endSession()
        advancer.fail(error)
        return Realm.Error(afterCommit: error)
      }
      delivery.showCommit()
      return nil
    } catch {
      rollBack()
      return Realm.Error(error)
    }
  }

  /// Advances to the committed version. Observers have a step for each part, so that each part can
  /// be left out.
  private func move(
    to snapshot: Snapshot, _ changes: ChangeSet, by parts: [AsyncWrites.Part],
    of session: WriteSession
  ) throws(StorageError) {
    let base = session.base
    var (former, position) = (PastState.version(base), ChangeRecorder.Position.start)
    for part in parts.dropLast() {
      guard let end = try part.end?.kept() else {
        trap("internal error: a part of a transaction without an end")
      }
      let between = GroupedCommitState(end, of: session, upTo: snapshot.version)
      let next = between.position
      let passed = session.recorder.changes(since: position, upTo: next, over: base.version)
      try passThrough(passed, from: former, to: between)
      for observation in part.skipped { observation.skip(step: step, from: former) }
      (former, position) = (.between(between), next)
    }
    var rest = changes
    if parts.count > 1 {
      rest = session.recorder.changeSet(since: position, from: base.version, to: snapshot.version)
    }
    let news = delivery.observers.readOldValues(rest, try former.rows())
    endSession()
    try advancer.moveAfterCommit(to: snapshot, rest, news, from: former)
    for observation in parts.last?.skipped ?? [] { observation.skip(step: step, from: former) }
  }

  /// Logs a commit that shares its transaction with later ones; the instance advances with the last
  /// of them. To observers it is a separate step.
  private func passThrough(
    _ changes: ChangeSet, from former: PastState, to between: GroupedCommitState
  ) throws(StorageError) {
    let news = delivery.observers.readOldValues(changes, try former.rows())
    state.passThrough(changes)
    let move = LiveMove(changes, from: former, to: between.rows)
    // Section keys are computed by the program, whose code reads the current state.
    write.showing(between.session) {
      rowsMoved()
      delivery.observers.log(move, step: step, news)
    }
    rowsMoved()
  }
}
