import TarnStore

/// Writes that nobody waits for.
extension RealmCore {
  /// What waits to be written. Traps where nothing can be told later.
  func asyncWritesToUse(_ operation: String) -> AsyncWrites {
    checkThread()
    if isFrozen { trapFrozen("Can't perform transactions on") }
    require(!configuration.readOnly, "Can't perform transactions on read-only Realms.")
    require(
      scheduler.hasTurns,
      "Can't \(operation) on a plain thread, which has no later turn in which the block or the "
        + "completion could be called. Use write, or a Realm that was opened on the main thread, "
        + "on a serial queue, in an actor, inside a run loop or with a ManualScheduler."
        + scheduler.adviceForTasks)
    if let asyncWrites { return asyncWrites }
    let made = AsyncWrites(self)
    asyncWrites = made
    return made
  }

  /// Queues a block that is called with a write open. It may end the write.
  ///
  /// - Parameter ended: called after the block, whether the write is open or not.
  func queueWrite(
    _ operation: String, _ block: @escaping () -> Void, ended: @escaping () -> Void,
    failed: @escaping (Realm.Error) -> Void
  ) -> UInt32 {
    asyncWritesToUse(operation).queue(
      .block(
        begun: {
          block()
          ended()
        }, failed: failed))
  }

  /// Commits the open write. The instance shows it at once; `completion` is called in a later turn,
  /// when it is on the disk or has failed, in which case it was rolled back.
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
    write.settle()
    writes.join(id, write.mark, completion)
    // Observers of properties are told of a cancel by what it takes back: of one block alone.
    let mayWait =
      allowGrouping && skipped.isEmpty && properties == nil
      && !configuration.returnsObjectsOfCancelledWrites && writes.canWait
    if mayWait {
      rowsMoved()
    } else {
      // Who is left out of one of several is told of all: rather too much than too little.
      startCommit(session, writes, writes.isShared ? [] : skipped)
    }
    if writes.hasFailed {
      writes.finishSync()
    } else {
      delivery.tellOfCommit(except: identities(of: tokens))
    }
    return id
  }

  /// Brings the write that was settled on its way to the disk.
  func startCommit(_ session: WriteSession, _ writes: AsyncWrites, _ skipped: [Observation]) {
    guard let token = write.takeGateToken() else {
      trap("a write without the gate: bug in this package")
    }
    let news = newsBeforeCommit(session)
    session.rowsMoved = {}
    let marks = writes.marks
    // Before anybody else can write.
    let commit = store.commitInBackground(session, token) { isCommitted in
      for mark in marks { if isCommitted { mark.commit() } else { mark.cancel() } }
    } whenDone: { [whenDone = writes.whenDone] in
      whenDone()
    }
    // What the commit has packed lies elsewhere.
    rowsMoved()
    writes.settle(commit) { [unowned self] outcome in settle(outcome, news, skipped) }
  }

  /// Goes on with a write that waits for others to share its transaction.
  ///
  /// - Returns: false if it has to be committed first.
  func joinWrite() throws(StorageError) -> Bool {
    guard let session, let savepoint = try session.savepoint() else { return false }
    write.reopen(savepoint)
    rowsMoved()
    return true
  }

  /// Where a commit does not wait for the disk, no other thread is needed.
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

  /// The write is on the disk, or it is not to be.
  private func settle(
    _ outcome: BackgroundCommit.Outcome, _ news: [ObjectNews], _ skipped: [Observation]
  ) -> Realm.Error? {
    guard let base = session?.base else { return nil }
    do {
      let (snapshot, changes) = try outcome.get()
      endSession()
      do {
        try moveAfterCommit(to: snapshot, changes, news)
      } catch {
        delivery.fail(error)
        return Realm.Error(error)
      }
      for observation in skipped { observation.skip(step: step, from: base) }
      delivery.showCommit()
      return nil
    } catch {
      rollBack()
      return Realm.Error(error)
    }
  }
}
