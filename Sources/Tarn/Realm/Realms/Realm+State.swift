extension Realm {
  /// The configuration that the Realm was opened with.
  public var configuration: Configuration { core.configuration }

  /// True if no object of any class exists.
  public var isEmpty: Bool { core.isEmpty }

  /// True (the default) to follow other instances' commits in turns of the scheduler. False to stay
  /// at the current version until `refresh()` or a write; realm-level observers then get
  /// `.refreshRequired`. Always false for a frozen Realm, where setting it to true traps.
  public var autorefresh: Bool {
    get {
      core.checkThread()
      return core.autorefresh
    }
    nonmutating set {
      core.checkThread()
      if core.isFrozen {
        if newValue { core.trapFrozen("Cannot turn autorefresh on for") }
        return
      }
      core.autorefresh = newValue
      if newValue { core.scheduleTurn() }
    }
  }
}
