import TarnStore

/// How the shown version moves.
extension RealmCore {
  /// Moves to `snapshot`, which covers `changes` since the shown one. Everything that observers
  /// need is worked out here, while both ends are held.
  ///
  /// - Parameter prepared: what a worker has worked out of it already.
  func move(
    to snapshot: Snapshot, _ changes: ChangeSet, _ prepared: PreparedSteps = [:]
  ) throws(StorageError) {
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
    observers.log(
      LiveMove(changes, from: old, to: StoreRows(reader)), step: step, oldValues, prepared)
  }

  /// Moves to the newest version.
  ///
  /// - Returns: true if the version changed.
  func advance() throws(StorageError) -> Bool {
    startsOver = false
    return try advance(to: newestFittingSnapshot())
  }

  /// Moves to a snapshot that is as new as the shown one or newer.
  func advance(to newest: Snapshot) throws(StorageError) -> Bool {
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
    if let failure { return observers.end(with: Realm.Error(failure)) }
    if session != nil || !roundTargets.isEmpty || realmNotification != nil {
      turnIsOwed = true
      return
    }
    turnIsOwed = false
    do {
      tellOfMove(try followInTurn())
      if !autorefresh, isBehind { sendRealmNotification(.refreshRequired) }
      // A realm-level observer may have left a write open.
      if session == nil { deliverRound() } else { turnIsOwed = true }
      // What was committed to it before is shown first.
      if let loss = store.loss, session == nil, workAhead == nil { fail(loss) }
    } catch {
      fail(error)
    }
  }

  /// Tells realm-level observers that the version moved, now or where they could not be called.
  func tellOfMove(_ moved: Bool) {
    let owed = owesDidChange
    owesDidChange = false
    if moved || owed { sendRealmNotification(.didChange) }
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
    workAhead?.work.cancel()
    observers.end(with: Realm.Error(error))
  }

  func refresh() -> Bool {
    if isFrozen { return false }
    checkThread()
    refuseInSectionKey("refresh the Realm")
    if session != nil || !roundTargets.isEmpty || realmNotification == .didChange { return false }
    if let failure {
      // Nothing can come any more, and what is shown stays.
      if failure.code == .replaced { return false }
      trap("Tarn cannot go on reading: \(failure)")
    }
    takeWorkBack()
    let hadVersion = reader != nil
    let restarts = startsOver
    let moved = trapping { () throws(StorageError) in try advance() }
    tellOfMove(moved && hadVersion)
    if session == nil { deliverRound() }
    return moved || restarts
  }

  /// Ends the shown version: accessors are invalid until they find their rows in a new one.
  func invalidate() {
    if let frozen { return frozen.invalidate() }
    checkThread()
    refuseInSectionKey("invalidate the Realm")
    guard roundTargets.isEmpty, realmNotification == nil else { return }
    if session != nil { cancelWrite() }
    if observers.isEmpty {
      reader = nil
      // No step leads from what is forgotten here to what will be shown.
      step += 1
      recentSteps = RecentSteps()
    } else {
      startsOver = true
      scheduleTurn()
    }
    invalidations += 1
    rowsMoved()
  }
}
