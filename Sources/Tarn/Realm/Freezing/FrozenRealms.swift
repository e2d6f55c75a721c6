import TarnStore

/// The frozen instances of this process. Instances with the same settings at one version of one
/// file share theirs.
enum FrozenRealms {
  private struct Key: Hashable {
    var store: ObjectIdentifier
    var version: Version
    var schemaEpoch: UInt64
  }

  private struct WeakCore {
    weak var core: RealmCore?
  }

  private struct Table: @unchecked Sendable {
    // because: any thread may use a frozen instance; the references are followed under the lock.
    var instances: [Key: [WeakCore]] = [:]
    /// The number of entries at which ended instances are removed.
    var limit = 16

    /// - Returns: the living instances.
    mutating func forgetTheGone() -> [RealmCore] {
      var alive: [RealmCore] = []
      instances = instances.filter { _, cores in
        let cores = cores.compactMap(\.core)
        alive += cores
        return !cores.isEmpty
      }
      limit = 2 * instances.count + 16
      return alive
    }
  }

  private static let table = Lock(ofProcess: Table())

  /// The frozen instance at a live one's version.
  static func instance(of snapshot: Snapshot, _ live: RealmCore) -> RealmCore {
    let key = Key(
      store: ObjectIdentifier(live.store), version: snapshot.version,
      schemaEpoch: snapshot.schema.epoch)
    nonisolated(unsafe) var found: RealmCore?  // because: any thread may use frozen instances
    // Released after the lock: they may be the last references.
    nonisolated(unsafe) var seen: [RealmCore] = []  // because: the same
    nonisolated(unsafe) let live = live  // because: it stays on this thread
    table.withLock { table in
      unsafe seen = table.instances[key]?.compactMap(\.core) ?? []
      unsafe found = unsafe seen.first { unsafe $0.isOpened(as: live) && $0.shows(snapshot) }
      if unsafe found != nil { return }
      let made = unsafe live.makeFrozen(snapshot)
      unsafe found = made
      let others = unsafe seen.filter { $0.shows(snapshot) }
      if table.instances.count >= table.limit { unsafe seen += table.forgetTheGone() }
      table.instances[key] = (others + [made]).map { WeakCore(core: $0) }
    }
    return unsafe found!
  }
}

extension RealmCore {
  /// True if reads through both give the same types.
  fileprivate func isOpened(as other: RealmCore) -> Bool {
    configuration == other.configuration
      && classes.model.classes.elementsEqual(other.classes.model.classes) {
        $0 === $1
      }
  }
}

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

  /// The live instance of the same file for the thread, queue or actor that runs this code.
  func thaw() -> RealmCore {
    guard let frozen else {
      checkThread()
      return self
    }
    return RealmCache.here(store, configuration, home: frozen.home, for: "to thaw a frozen object")
  }
}
