import TarnStore

/// Write transactions of an instance.
///
/// A start first advances and calls observers without holding the write lock, as far as possible;
/// then it takes the lock, applies the commits made meanwhile, and only then opens the write.
/// Callbacks that are called by the start run with the write open and may use it, or cancel it.
extension RealmCore {
  var isInWriteTransaction: Bool { write.isOpen }

  /// Begins a write, waiting for the write lock as long as that takes.
  ///
  /// Errors: those of the store; `.busy` after the timeout.
  func beginWrite(timeout: Duration? = nil) throws(Realm.Error) {
    checkThread()
    asyncWrites?.finishSync()
    _ = try beginWrite { [store, asyncWrites] () throws(StorageError) in
      guard let asyncWrites else { return try store.acquireGate(timeout: timeout) }
      return try store.acquireGate(insteadOf: asyncWrites.waiter, timeout: timeout)
    }
  }

  /// Begins a write with the lock that `takeGate` gives.
  ///
  /// - Returns: false, and nothing was begun, if it gives none.
  func beginWrite(
    _ takeGate: () throws(StorageError) -> GateToken?
  ) throws(Realm.Error) -> Bool {
    if isFrozen { trapFrozen("Can't perform transactions on") }
    refuseInSectionKey("begin a write transaction")
    refuseWhileTelling("begin a write transaction")
    require(!configuration.readOnly, "Can't perform transactions on read-only Realms.")
    require(
      session == nil,
      "The Realm is already in a write transaction. Check isInWriteTransaction "
        + "first if the code may run inside or outside of one.")
    if let failure = delivery.failure { throw Realm.Error(failure) }
    checkActiveVersions()
    do throws(StorageError) {
      try store.environment.checkLength("begin a write")
      advancer.cancelWorkAhead()
      // As far as possible without the lock: no other writer waits for the observers' results.
      var moved = try advancer.advance()
      delivery.observers.prepareInitials()
      if let failure = try excessOfPins() {
        delivery.tellOfMove(moved)
        delivery.showCommit()
        throw failure
      }
      guard let token = try takeGate() else {
        delivery.tellOfMove(moved)
        delivery.showCommit()
        return false
      }
      write.hold(token)
      FaultPoint.hit("gate.held")
      if try advancer.advance() { moved = true }
      let session = WriteSession(shown()) { [unowned self] in rowsMoved() }
      session.origin = configuration.origin
      write.begin(session)
      rowsMoved()
      delivery.tellOfMove(moved)
      delivery.deliverRoundForBegin()
      return true
    } catch {
      endWrite()
      throw Realm.Error(error)
    }
  }

  private func checkActiveVersions() {
    guard let most = configuration.maximumNumberOfActiveVersions else { return }
    let active = store.activeVersionCount()
    require(
      active <= most,
      "Number of active versions (\(active)) in the Realm exceeded the limit of \(most): "
        + "'\(store.path)' keeps them for frozen objects, iterators and instances that do not "
        + "advance. Release these, or raise maximumNumberOfActiveVersions.")
  }

  /// The error if more is kept for readers of old versions than the configuration allows.
  private func excessOfPins() throws(StorageError) -> StorageError? {
    guard let most = configuration.maximumBytesOfActiveVersions,
      let oldest = try store.oldestState(keepingMoreThan: most)
    else { return nil }
    return StorageError(
      .limitExceeded, operation: "begin a write", path: store.path,
      detail: "\(oldest.sentence). \(oldest.keptBytes) bytes of pages that were freed since cannot "
        + "be used again, and maximumBytesOfActiveVersions is \(most). Let it end or advance, or "
        + "raise the limit. Nothing was written")
  }

  func commitWrite(withoutNotifying tokens: [NotificationToken] = []) throws(Realm.Error) {
    checkThread()
    let session = sessionToCommit()
    if write.savepoint != nil, let asyncWrites {
      return try asyncWrites.commitNow { commitLater(withoutNotifying: tokens, nil) }
    }
    let skipped = activeObservations(of: tokens)
    // The session reads at the instance's version, which is about to change.
    let former = session.base
    let snapshot: Snapshot
    let changes: ChangeSet
    var token = write.takeGateToken()
    do {
      // Others are woken before this instance cleans up: they wait, and it does not.
      (snapshot, changes) = try store.commit(session, &token) { write.mark?.commit() }
    } catch {
      // Before any other writer can write. If it is committed (`.committed`), the instance shows
      // the version before until it can advance.
      cancelWrite()
      token.take()?.release()
      throw Realm.Error(error)
    }
    endSession()
    do {
      try advancer.moveAfterCommit(to: snapshot, changes)
    } catch {
      advancer.fail(error)
      throw Realm.Error(afterCommit: error)
    }
    for observation in skipped { observation.skip(step: step, from: .version(former)) }
    delivery.tellOfCommit(session, except: identities(of: tokens))
    asyncWrites?.writeEnded()
  }

  /// The open write. Traps where it cannot be committed.
  func sessionToCommit() -> WriteSession {
    refuseInSectionKey("commit the write transaction")
    refuseWhileTelling("commit the write transaction")
    guard let session, write.isOpen else {
      trap(
        "Can't commit a non-existing write transaction. Call beginWrite() first, once for each "
          + "commitWrite(); in realm.write { … } the commit comes by itself.")
    }
    return session
  }

  func identities(of tokens: [NotificationToken]) -> Set<ObjectIdentifier> {
    Set(tokens.compactMap(\.identity))
  }

  /// The observations that do not receive a commit. Traps for a token that is not an active one of
  /// this instance.
  @discardableResult
  func activeObservations(of tokens: [NotificationToken]) -> [Observation] {
    if tokens.isEmpty { return [] }
    let wanted = identities(of: tokens)
    require(
      properties.map { table in !wanted.contains(where: table.contains) } ?? true,
      "An observer of a property is called at the assignment and cannot be excluded from a commit. "
        + "Invalidate it before, or observe the object: object.observe { change in … }.")
    let found = delivery.observers.observations(wanted).filter(\.state.isActive)
    require(
      found.count == wanted.count && tokens.allSatisfy { $0.identity != nil },
      "Tokens passed to withoutNotifying: must be active and belong to this Realm instance. Omit "
        + "those that are invalidated or belong to another instance.")
    return found
  }

  func cancelWrite() {
    checkThread()
    refuseInSectionKey("cancel the write transaction")
    refuseWhileTelling("cancel the write transaction")
    require(
      write.isOpen,
      "Can't cancel a non-existing write transaction. Check isInWriteTransaction first.")
    rollBack()
    asyncWrites?.writeEnded()
  }

  /// Undoes everything since the write began.
  func rollBack() {
    let telling = tellOfCancelling()
    let unmanage = prepareUnmanage()
    if let savepoint = write.savepoint {
      write.mark?.cancel()
      savepoint.rowsMoved = { [unowned self] in rowsMoved() }
      write.returnToSavepoint()
      rowsMoved()
    } else {
      if write.active != nil { write.mark?.cancel() }
      endWrite()
    }
    unmanage()
    if let telling { delivery.telling { telling.finish() } }
    // Objects deleted by earlier blocks in the same transaction still exist.
    if telling != nil, session == nil { endProperties() }
    delivery.makeUpForOwedTurn()
  }

  /// Reports to observers of properties that the write's changes, or those since its savepoint, are
  /// about to be undone.
  private func tellOfCancelling() -> PropertyNotification? {
    guard let properties, let session, !session.isEmpty else { return nil }
    let start = write.savepoint?.recorder.position ?? .start
    let changes = session.recorder.changes(since: start)
    let effects = properties.effects(ofCancelling: changes) { row, column in
      guard session.schema[row.classID][column].collection != .none else { return nil }
      let place = SequencePlace(classID: row.classID, key: row.key, column: column)
      return trapping { () throws(StorageError) in try session.sequence(at: place)?.script }
    }
    return delivery.telling { properties.begin(effects, in: changes.classes.map(\.id)) }
  }

  /// Notifies observers of properties that this write is about to undo these changes.
  func tellOfTakingBack(_ changes: ChangeSet) -> PropertyNotification? {
    guard let properties else { return nil }
    let effects = properties.effects(ofCancelling: changes) { _, _ in nil }
    return delivery.telling { properties.begin(effects, in: changes.classes.map(\.id)) }
  }

  /// Reports that it has happened.
  func finish(_ telling: PropertyNotification?) {
    if let telling { delivery.telling { telling.finish() } }
  }

  /// Releases the write and the write lock.
  private func endWrite() {
    endSession()
    write.takeGateToken()?.release()
  }

  /// Releases the write's memory, and every accessor's row there.
  func endSession() {
    write.end()
    rowsMoved()
  }
}
