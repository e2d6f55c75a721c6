import TarnStore

extension ThreadConfined {
  /// True if this belongs to a frozen Realm: it never changes, and any thread may read it.
  public var isFrozen: Bool { realm?.isFrozen ?? false }

  /// A frozen copy for any thread; see ``Realm/freeze()``. A frozen object is returned unchanged.
  ///
  /// Traps if it is unmanaged or invalidated.
  public func freeze() -> Self {
    let realm = realmToLeave("frozen")
    return realm.isFrozen ? self : frozen(in: realm.freeze())
  }

  /// The live counterpart in the calling code's Realm, or nil if the object does not exist there;
  /// see ``Realm/thaw()``. A live object is returned unchanged.
  ///
  /// Traps if it is unmanaged or invalidated.
  public func thaw() -> Self? {
    let realm = realmToLeave("thawed")
    return realm.isFrozen ? _counterpart(in: realm.thaw()) : self
  }

  /// Its Realm. Traps for an unmanaged or invalidated object.
  func realmToLeave(_ done: String) -> Realm {
    guard let realm else {
      trap(
        "'\(Self.self)': only managed objects and collections can be \(done). Add the object first."
      )
    }
    require(
      !isInvalidated,
      "'\(Self.self)' has been deleted or invalidated and cannot be \(done). Check isInvalidated "
        + "first.")
    return realm
  }

  fileprivate func frozen(in realm: Realm) -> Self {
    guard let frozen = _counterpart(in: realm) else {
      trap(
        "'\(Self.self)' was created in the open write and cannot be frozen: freezing uses the "
          + "state before the write. Commit it first.")
    }
    return frozen
  }
}

extension Realm {
  /// True if the Realm never changes and any thread may read it; see ``freeze()``. Threading: any.
  public var isFrozen: Bool { core.isFrozen }

  /// The Realm, frozen at its version.
  ///
  /// A frozen Realm, and every object and collection that is read through it, may be read on any
  /// thread, on several at the same time. It does not change, cannot be written to and cannot be
  /// observed. It keeps its version in the file for as long as anything of it is referenced, even
  /// after its Realm has ended. The pages of that version cannot be reused, so do not keep one for
  /// long while much is written.
  ///
  /// In a write it has the state before the write. Freezing a frozen Realm returns it. Two Realms
  /// of one file with the same settings and the same version have the same frozen Realm.
  ///
  /// - Returns: the frozen Realm. Its type does not express that it is frozen, so neither it nor
  ///   anything read through it is `Sendable`; pass it on as `nonisolated(unsafe)`.
  public func freeze() -> Realm { Realm(core.freeze()) }

  /// The live Realm of the same file that belongs to the calling code: to the running queue, actor,
  /// manual scheduler, main thread or other thread. One that is already open there is not
  /// refreshed; if none is, one is opened for the thread. A live Realm is returned unchanged.
  ///
  /// Traps for a live Realm of another thread, and if the file cannot be opened.
  public func thaw() -> Realm { Realm(core.thaw()) }

  /// An object or collection of this Realm, frozen; see ``ThreadConfined/freeze()``.
  ///
  /// Traps in the same cases, and for anything that is neither frozen nor of this Realm.
  public func freeze<Confined: ThreadConfined>(_ confined: Confined) -> Confined {
    let realm = confined.realmToLeave("frozen")
    if realm.isFrozen { return confined }
    checkIsOwn(realm)
    return confined.frozen(in: freeze())
  }

  /// The counterpart of a frozen object in this live Realm, at its version; nil if the object does
  /// not exist here. Use it if you know which Realm you want; ``ThreadConfined/thaw()`` finds the
  /// calling code's Realm. A live object is returned unchanged.
  ///
  /// Traps if this Realm is frozen, of another file, or belongs to another thread, queue or actor.
  public func thaw<Confined: ThreadConfined>(_ confined: Confined) -> Confined? {
    let realm = confined.realmToLeave("thawed")
    if isFrozen { core.trapFrozen("Cannot thaw into") }
    core.checkThread()
    guard realm.isFrozen else {
      checkIsOwn(realm)
      return confined
    }
    require(
      realm.core.store === core.store,
      "The frozen object or collection is from '\(realm.core.store.path)' and does not exist in "
        + "'\(core.store.path)'. Thaw it in a Realm of its own file.")
    return confined._counterpart(in: self)
  }

  private func checkIsOwn(_ realm: Realm) {
    core.checkThread()
    require(
      realm == self,
      "The object or collection belongs to another instance, that of '\(realm.core.store.path)'. "
        + "Use it with its own Realm.")
  }
}
