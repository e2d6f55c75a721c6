import TarnStore

/// Frozen instances, and what live ones have of them.
extension RealmCore {
  var isFrozen: Bool { frozen != nil }

  /// True if things that came from the instance in that life of it are invalidated.
  func hasEnded(_ life: UInt32) -> Bool {
    if let frozen { return frozen.isInvalidated }
    return life != state.life
  }

  /// The state of a frozen instance, to be read. Traps if the program has let go of it.
  func readable(_ frozen: FrozenState) -> FrozenState {
    require(
      !frozen.isInvalidated,
      "The frozen Realm '\(store.path)' is read after invalidate(). Freeze the live one again.")
    return frozen
  }

  /// The calling thread's reader over the state of a frozen instance.
  func shown(_ frozen: FrozenState) -> SnapshotReader { readable(frozen).here().reader }

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

  /// True for a frozen instance of that state that can still be read.
  func shows(_ snapshot: Snapshot) -> Bool {
    guard let frozen, !frozen.isInvalidated else { return false }
    return frozen.snapshot.head == snapshot.head
  }

  /// A frozen instance of what this one shows.
  func makeFrozen(_ snapshot: Snapshot) -> RealmCore {
    let state = FrozenState(snapshot, home: scheduler.key)
    let made = RealmCore(
      store: store, configuration: configuration, scheduler: .anywhere, model: classes.model,
      frozen: state)
    made.autorefresh = false
    // What classes of the program are in this schema is known already.
    made.classes = ClassBindings(classes.model, at: snapshot.schema, knowing: classes)
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

  /// A collection at the version shown that nobody else has.
  func unsharedSequence(at place: SequencePlace) -> StoredSequence? {
    trapping { () throws(StorageError) in try shown().sequence(at: place) }
  }

  // MARK: - Refusing

  /// Traps for what cannot be done with a frozen instance.
  func trapFrozen(_ operation: String) -> Never {
    let version = shownVersion.map { " at version \($0.rawValue)" } ?? ""
    trap(
      "\(operation) a frozen Realm: what is frozen of '\(store.path)'\(version) never changes. "
        + "Call thaw() on the object, the collection or the Realm, and use what that gives.")
  }

  /// The open write, to set a property. Traps outside of one.
  func writing(_ object: ObjectBase, _ column: ColumnID) -> WriteSession {
    if isFrozen { trapFrozen("Cannot set \(object._propertyName(column.rawValue)) of") }
    return writing("modify managed objects")
  }

  /// Traps for a frozen object where one of this instance is needed.
  func refuseFrozen(_ object: ObjectBase) {
    guard object._state.contains(.frozen) else { return }
    trap(
      "A frozen object of class '\(object._className)' cannot become part of a live Realm, nor be "
        + "deleted from it. thaw() it first, and use what that gives.")
  }
}
