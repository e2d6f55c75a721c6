import TarnStore

/// How the shown version moves.
extension RealmCore {
  /// Moves to `snapshot`, which covers `changes` since the shown one. Everything that observers
  /// need is worked out here, while both ends are held.
  func move(to snapshot: Snapshot, _ changes: ChangeSet) throws(StorageError) {
    guard let reader else {
      self.reader = try SnapshotReader(snapshot)
      rowsMoved()
      return
    }
    let oldValues = observers.readOldValues(changes, self)
    let old = reader.snapshot
    try reader.move(to: snapshot)
    rowsMoved()
    step += 1
    recentSteps.append(step, changes)
    observers.log(changes, oldValues, self)
    withExtendedLifetime(old) {}
  }

  /// Moves to the newest version.
  ///
  /// - Returns: true if the version changed.
  func advance() throws(StorageError) -> Bool {
    let newest = try store.newestSnapshot()
    guard let reader else {
      try move(to: newest, ChangeSet(from: .zero, to: newest.version))
      return true
    }
    let shown = reader.snapshot
    if newest.version == shown.version {
      if newest.schema.epoch != shown.schema.epoch {
        try reader.move(to: newest)
        rowsMoved()
      }
      return false
    }
    let changes = try store.changes(after: shown.version, upTo: newest)
    try move(to: newest, changes)
    return true
  }

  /// One turn of the scheduler: follow the file, then tell observers.
  func takeTurn() {
    checkThread()
    guard failure == nil else { return }
    if session != nil || !roundTargets.isEmpty || isSendingRealmNotification {
      turnIsOwed = true
      return
    }
    turnIsOwed = false
    do {
      var moved = false
      if autorefresh, reader != nil || observers.wantsTurns { moved = try advance() }
      if moved { sendRealmNotification(.didChange) }
      if !autorefresh, isBehind { sendRealmNotification(.refreshRequired) }
      deliverRound()
    } catch {
      fail(error)
    }
  }

  var isBehind: Bool {
    guard let shownVersion else { return false }
    return store.newestKnownVersion > shownVersion
  }

  /// Starts a later turn if one was turned away at a wrong moment.
  func makeUpForOwedTurn() {
    if turnIsOwed, session == nil, roundTargets.isEmpty { scheduleTurn() }
  }

  func scheduleTurn() {
    wakeUp?.schedule()
  }

  /// The store can no longer be followed: observers hear of it once, the shown state stays.
  func fail(_ error: StorageError) {
    failure = error
    observers.end(with: Realm.Error(error))
  }

  func refresh() -> Bool {
    checkThread()
    precondition(!configuration.readOnly, "Cannot refresh a read-only Realm.")
    if session != nil || !roundTargets.isEmpty { return false }
    let hadVersion = reader != nil
    let moved = trapping { () throws(StorageError) in try advance() }
    if moved, hadVersion { sendRealmNotification(.didChange) }
    deliverRound()
    return moved
  }

  /// Ends the shown version: accessors are invalid until they find their rows in a new one.
  func invalidate() {
    checkThread()
    guard roundTargets.isEmpty else { return }
    if session != nil { cancelWrite() }
    if observers.isEmpty {
      reader = nil
      recentSteps = RecentSteps()
    }
    invalidations += 1
    rowsMoved()
  }
}
