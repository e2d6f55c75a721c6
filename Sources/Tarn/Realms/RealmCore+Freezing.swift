import TarnStore

/// Frozen instances of live ones, and the way back.
extension RealmCore {
  /// The instance that shows for good what this one shows, without the open write's changes.
  func freeze() -> RealmCore {
    if isFrozen { return self }
    checkThread()
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
    if let living = RealmCache.instance(of: store, preferring: frozen.home) { return living }
    do {
      return try RealmCache.open(configuration, .current)
    } catch {
      trap("Cannot open '\(store.path)' here, to thaw what was frozen: \(error)")
    }
  }

  /// The accessor of this instance for the row that another instance's accessor is of; nil if it
  /// is not there.
  func counterpart(of object: ObjectBase) -> ObjectBase? {
    guard let binding = object._binding else { return nil }
    return self.object(ObjectKey(object._key), existingIn: self.binding(for: object))
      .flatMap { $0._binding?.classID == binding.classID ? $0 : nil }
  }
}
