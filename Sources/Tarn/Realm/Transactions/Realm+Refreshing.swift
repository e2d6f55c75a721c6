import TarnStore

extension Realm {
  /// Advances to the newest version and calls the affected observers before it returns. Does
  /// nothing inside a write or an observer's callback, and on a frozen Realm.
  ///
  /// - Returns: true if the version changed, or if the Realm had none yet.
  @discardableResult
  public func refresh() -> Bool { core.refresh() }

  /// Advances to the newest version and calls the affected observers before it returns; see
  /// ``refresh()``. For Realms of actors, the main actor included: traps for any other.
  ///
  /// - Parameter _isolation: the calling code's actor; do not pass it.
  /// - Returns: true if the version changed; false also if the Realm had none yet, in a write, for
  ///   a frozen Realm, and if the task is cancelled.
  @discardableResult
  public func asyncRefresh(_isolation: isolated any Actor = #isolation) async -> Bool {
    if core.isFrozen { return false }
    require(
      core.scheduler.isActorOrMain,
      "asyncRefresh() is for Realms of actors: this one belongs to \(core.ownSide). Call "
        + "refresh() there, or open the Realm with try await Realm(actor:).")
    core.checkThread()
    // A Realm without a version starts at the newest one when it is first read.
    if Task.isCancelled || core.reader == nil { return false }
    return core.refresh()
  }

  /// Releases the current version: every object and collection obtained so far is invalidated, and
  /// an open write is cancelled. The next use starts at the newest version. Observers stay. Does
  /// nothing inside an observer's callback.
  ///
  /// A frozen Realm has no other version: reading through it, or through any of its objects and
  /// collections, traps from then on.
  public func invalidate() { core.invalidate() }
}

extension RealmCore {
  /// Advances an instance that is opened again to the newest version, unless it is in a write or a
  /// callback.
  ///
  /// - Throws: if the file can no longer be followed.
  func catchUpIfIdle() throws(Realm.Error) {
    if let failure = delivery.failure { throw Realm.Error(failure) }
    if reader != nil { _ = refresh() }
  }

  /// Advances to the newest version and calls the affected observers, unless the instance is in a
  /// write or a callback.
  ///
  /// - Returns: true if the version changed, or if the instance had none yet.
  @discardableResult
  func refresh() -> Bool {
    if isFrozen { return false }
    checkThread()
    refuseInSectionKey("refresh the Realm")
    if session != nil || delivery.refusesRefresh { return false }
    if let failure = delivery.failure {
      // No more commits can come, and the instance stays at its version.
      if failure.code == .replaced { return false }
      trap("Tarn cannot continue: \(failure)")
    }
    advancer.cancelWorkAhead()
    let hadVersion = reader != nil
    let restarts = state.needsReset
    let moved: Bool
    do throws(StorageError) {
      moved = try advancer.advance()
    } catch {
      guard error.code == .readersFull else { trap("Tarn cannot continue: \(error)") }
      advancer.awaitReader(error)
      return false
    }
    delivery.tellOfMove(moved && hadVersion)
    if session == nil { delivery.deliverRound() }
    return moved || restarts
  }

  /// Ends the current version: accessors are invalid until they find their rows in a new one.
  func invalidate() {
    if let frozen { return frozen.invalidate() }
    checkThread()
    refuseInSectionKey("invalidate the Realm")
    guard !delivery.isBusy else { return }
    asyncWrites?.finishSync()
    asyncWrites?.dropBlocks()
    if session != nil {
      cancelWrite()
      // It may have shared a transaction with others.
      asyncWrites?.finishSync()
    }
    let telling = properties.map { table in delivery.telling { table.beginEnd() } }
    let isObserved = !delivery.observers.isEmpty
    state.invalidate(keepsState: isObserved)
    if isObserved { scheduleTurn() }
    rowsMoved()
    guard let telling else { return }
    delivery.telling { telling.finish() }
    properties?.endAll()
    properties = nil
  }
}
