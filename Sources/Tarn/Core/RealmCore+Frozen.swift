import TarnStore

/// What is different in a frozen instance, and what only a live one can do.
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

  /// True for a frozen instance of that state that can still be read.
  func shows(_ snapshot: Snapshot) -> Bool {
    guard let frozen, !frozen.isInvalidated else { return false }
    return frozen.snapshot.head == snapshot.head
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
