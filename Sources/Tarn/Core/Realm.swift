import TarnStore

/// A file of live objects, as one thread, queue, actor or scheduler sees it.
///
/// Any number of processes may have the same file open. One writes at a time. Every other process
/// learns of the commit within tens of microseconds, moves to the new version in one step in its
/// next turn, and its observers get the exact difference.
///
/// A Realm is a handle on an instance that belongs to where it was opened. Opening the same file
/// there again returns the same instance. Everything that comes from an instance must be used where
/// the instance belongs; using it elsewhere traps.
public struct Realm: Equatable {
  let core: RealmCore

  init(_ core: RealmCore) { self.core = core }

  /// True if both are handles on the same instance. Threading: any.
  public static func == (a: Realm, b: Realm) -> Bool { a.core === b.core }

  // MARK: - State

  /// The configuration that the Realm was opened with.
  public var configuration: Configuration { core.configuration }

  /// True if no object of any class exists.
  public var isEmpty: Bool { core.isEmpty }

  /// True from the beginning of a write on this instance until its commit or cancel.
  public var isInWriteTransaction: Bool {
    core.checkThread()
    return core.isInWriteTransaction
  }

  /// True (the default) to follow other instances' commits in turns of the scheduler. False to stay
  /// until `refresh()` or a write; realm-level observers then get `.refreshRequired`. Always false
  /// for a frozen Realm, where setting it to true traps.
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

@available(*, unavailable, message: "it belongs to one thread or actor: open another Realm there")
extension Realm: Sendable {}
