import TarnStore

/// Frozen instances of live ones, and the way back.
extension RealmCore {
  /// The instance that stays at this one's version, without the open write's changes.
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

  /// Creates a frozen instance at this one's version.
  func makeFrozen(_ snapshot: Snapshot) -> RealmCore {
    let state = FrozenState(snapshot, home: scheduler.key)
    let made = RealmCore(
      store: store, configuration: configuration, scheduler: .anywhere, model: classes.model,
      frozen: state)
    made.autorefresh = false
    // The bindings of the program's classes in this schema are already known.
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
