import TarnStore

/// Frozen instances of live ones, and the way back.
extension RealmCore {
  /// The instance that shows for good what this one shows, without the open write's changes.
  func freeze() -> RealmCore {
    if isFrozen { return self }
    checkThread()
    asyncWrites?.finishSync()
    let snapshot = shown().snapshot
    if let lastFrozen, lastFrozen.shows(snapshot) { return lastFrozen }
    let frozen = FrozenRealms.instance(of: snapshot, self)
    lastFrozen = frozen
    return frozen
  }

  /// A frozen instance of what this one shows.
  func makeFrozen(_ snapshot: Snapshot) -> RealmCore {
    let state = FrozenState(snapshot, home: scheduler.key)
    let made = RealmCore(
      store: store, configuration: configuration, scheduler: .anywhere, model: classes.model,
      frozen: state)
    made.autorefresh = false
    // What classes of the program are in this schema is known already.
    made.classes.begin(at: snapshot.schema, knowing: classes)
    return made
  }

  /// The live instance of a frozen one's file that lives where this code runs.
  func thaw() -> RealmCore {
    guard let frozen else {
      checkThread()
      return self
    }
    return RealmCache.here(store, configuration, home: frozen.home, for: "to thaw a frozen object")
  }
}
