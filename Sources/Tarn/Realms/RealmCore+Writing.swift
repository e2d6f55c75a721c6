import TarnStore

/// Write transactions of an instance.
///
/// A begin first catches up and calls observers without holding the gate, as far as that can be
/// done; then it takes the gate, catches up with what was committed meanwhile, and only then is
/// the write open. Callbacks that are called by the begin run with the write open and may use it,
/// or cancel it.
extension RealmCore {
  var isInWriteTransaction: Bool { session != nil }

  func beginWrite() throws(Realm.Error) {
    checkThread()
    precondition(!configuration.readOnly, "Can't perform transactions on read-only Realms.")
    precondition(
      session == nil, "The Realm is already in a write transaction. Check isInWriteTransaction "
        + "first where code may be called inside and outside of one.")
    if let failure { throw Realm.Error(failure) }
    try publicly { () throws(StorageError) in try checkActiveVersions() }
    do {
      gateToken = try store.gate.acquire()
      let moved = try advance()
      session = WriteSession(shown()) { [unowned self] in rowsMoved() }
      writeSerial = nextGeneration()
      if moved { sendRealmNotification(.didChange) }
      deliverRoundForBegin()
    } catch {
      endWrite()
      throw Realm.Error(error)
    }
  }

  private func checkActiveVersions() throws(StorageError) {
    guard let most = configuration.maximumNumberOfActiveVersions else { return }
    let active = try store.activeVersionCount()
    precondition(
      active <= most,
      "Number of active versions (\(active)) in the Realm exceeded the limit of \(most)")
  }

  func commitWrite(withoutNotifying tokens: [NotificationToken] = []) throws(Realm.Error) {
    checkThread()
    guard let session else {
      preconditionFailure("Can't commit a non-existing write transaction")
    }
    let skipped = observers.observations(identities(of: tokens))
    precondition(
      skipped.count == tokens.count,
      "A token to be left out must be an active one of this very Realm instance.")
    do {
      let oldValues = try oldValuesBeforeCommit(session)
      let (snapshot, changes) = try store.commit(session)
      self.session = nil
      try follow(snapshot, changes, oldValues, skipped)
    } catch {
      cancelWrite()
      throw Realm.Error(error)
    }
    store.finishCommit(gateToken.take()!)
    sendRealmNotification(.didChange, except: identities(of: tokens))
    if observers.hasNews { scheduleTurn() }
    makeUpForOwedTurn()
  }

  private func identities(of tokens: [NotificationToken]) -> Set<ObjectIdentifier> {
    Set(tokens.compactMap(\.identity))
  }

  private func oldValuesBeforeCommit(_ session: WriteSession) throws(StorageError) -> [ObjectNews] {
    let changes = session.recorder.changeSet(from: session.base.version, to: session.base.version.next)
    let open = self.session
    self.session = nil
    defer { self.session = open }
    return observers.readOldValues(changes, self)
  }

  /// Shows the version that was just committed, as one step.
  private func follow(
    _ snapshot: Snapshot, _ changes: ChangeSet, _ oldValues: [ObjectNews],
    _ skipped: [Observation]
  ) throws(StorageError) {
    try reader!.move(to: snapshot)
    rowsMoved()
    step += 1
    recentSteps.append(step, changes)
    observers.log(changes, oldValues, self)
    for observation in skipped { observation.skip(step: step) }
  }

  func cancelWrite() {
    checkThread()
    precondition(session != nil, "Can't cancel a non-existing write transaction")
    if session?.isEmpty == false { cancelledWrites.insert(writeSerial) }
    endWrite()
    makeUpForOwedTurn()
  }

  /// Lets go of the write and of the gate.
  private func endWrite() {
    session = nil
    if let token = gateToken.take() { store.gate.release(token) }
    rowsMoved()
  }

  /// Traps outside of a write.
  func writing(_ operation: String) -> WriteSession {
    checkThread()
    guard let session else {
      preconditionFailure(
        "Cannot \(operation) outside of a write transaction. Call it inside realm.write { … }.")
    }
    return session
  }
}
