import Foundation
import TarnStore

/// The instances of this process: opening a file again on the same scheduler gives the same one.
enum RealmCache {
  private typealias Key = LeftWrites.Key

  /// Instances are confined to their schedulers; this table is not, so it only returns an instance
  /// to code that runs on the scheduler in the key.
  private struct Table: @unchecked Sendable {
    // because: the weak references are followed under the lock and on the instance's scheduler.
    var instances: [Key: WeakCore] = [:]
  }

  private struct WeakCore {
    let id: ObjectIdentifier
    let scheduler: Scheduler
    weak var core: RealmCore?

    init(_ core: RealmCore) {
      id = ObjectIdentifier(core)
      scheduler = core.scheduler
      self.core = core
    }
  }

  private static let table = Lock(ofProcess: Table())

  static func open(
    _ configuration: Realm.Configuration, _ scheduler: Scheduler
  ) throws(Realm.Error) -> RealmCore {
    let model = ModelSchema.of(configuration.objectTypes)
    let opening = StoreOpening(configuration, model)
    let store = try opening.open()
    let key = Key(store: ObjectIdentifier(store), scheduler: scheduler.key)
    nonisolated(unsafe) var found: RealmCore?  // because: it stays on this thread
    table.withLock { unsafe found = $0.instances[key]?.core }
    if let found = unsafe found, found.scheduler.isSame(as: scheduler) {
      found.checkThread()
      require(
        found.configuration.readOnly == configuration.readOnly,
        "Realm at path '\(store.path)' already opened with different read permissions")
      guard
        found.configuration.schemaVersion == configuration.schemaVersion
          || configuration.takesVersionOfFile(model)
      else {
        throw Realm.Error(
          .alreadyOpen,
          message: "Realm at path '\(store.path)' already opened with different schema version: "
            + "\(found.configuration.schemaVersion), not \(configuration.schemaVersion).",
          fileURL: store.fileURL)
      }
      if found.classes.model !== model {
        try publicly { () throws(StorageError) in try found.learn(model, configuration) }
      }
      // Its own write would wait for itself.
      if !found.isInWriteTransaction { try opening.raiseRetention(of: store) }
      return found
    }
    try opening.migrateIfNeeded(store)
    let companion = try configuration.companion?.attach(
      to: store, classes: model.definitions.map(\.name), configuration)
    guard Instance.hasRoom else {
      throw Realm.Error(
        StorageError(errno: ENOMEM, operation: "open", path: store.path))
    }
    let core = RealmCore(
      store: store, configuration: configuration, scheduler: scheduler, model: model)
    core.wakeUp = try publicly { () throws(StorageError) in try WakeRegistration(core) }
    core.takeBack = takeBack
    core.companion = companion
    if let left = LeftWrites.take(key) { left.resume(in: core) }
    nonisolated(unsafe) let made = core  // because: it stays on this thread
    table.withLock { table in
      table.instances[key] = unsafe WeakCore(made)
    }
    SchedulerEnd.watch(key.scheduler, end)
    return core
  }

  /// Like above, if the scheduler has an instance: without slow file access. Nil if it has none.
  static func opened(
    _ configuration: Realm.Configuration, _ scheduler: Scheduler
  ) throws(Realm.Error) -> RealmCore? {
    guard let store = StoreRegistry.store(at: configuration.location) else { return nil }
    let key = Key(store: ObjectIdentifier(store), scheduler: scheduler.key)
    let isThere = table.withLock { table in
      guard let known = table.instances[key], known.core != nil else { return false }
      return known.scheduler.isSame(as: scheduler)
    }
    return isThere ? try open(configuration, scheduler) : nil
  }

  /// The instance ends. Another one may continue its open write.
  private static func takeBack(_ core: RealmCore) {
    let key = Key(store: ObjectIdentifier(core.store), scheduler: core.scheduler.key)
    if core.write.isOpen, let session = core.session {
      let left = LeftWrite(core, session)
      // The end of an actor is not reported, so the write cannot wait for code to continue it.
      if core.scheduler.isActor { left.cancel() } else { LeftWrites.keep(left, key) }
      // The end of its manual scheduler was reported before.
      if core.scheduler.isGone { LeftWrites.end(key.scheduler) }
    }
    forget(ObjectIdentifier(core), key)
  }

  /// An entry that stays would keep its queue alive.
  private static func forget(_ id: ObjectIdentifier, _ key: LeftWrites.Key) {
    nonisolated(unsafe) var ended: WeakCore?  // because: it is released outside of the lock
    table.withLock { table in
      if table.instances[key]?.id == id { unsafe ended = table.instances.removeValue(forKey: key) }
    }
    unsafe withExtendedLifetime(ended) {}
  }

  /// The scheduler has ended: its open writes are cancelled. Called on a thread that ends, and
  /// where the last reference to another scheduler is released.
  @Sendable static func end(_ scheduler: Scheduler.Key) {
    switch scheduler {
    case .thread:
      let cores = living(on: scheduler)
      forget(scheduler)
      for core in cores {
        core.threadEnded()
        guard core.isInWriteTransaction else { continue }
        LeftWrite.warn(core.store)
        core.cancelWrite()
      }
    case .manual:
      // Queued blocks would retain the instance. Code that holds it otherwise may continue the
      // write.
      for core in living(on: scheduler) { core.asyncWrites?.abandon() }
    // Instances on a queue retain it, and the end of an actor is not reported.
    case .main, .queue, .actor, .anywhere: break
    }
    LeftWrites.end(scheduler)
  }

  private static func living(on scheduler: Scheduler.Key) -> [RealmCore] {
    nonisolated(unsafe) var living: [RealmCore] = []  // because: they belong to this thread
    table.withLock { table in
      for (key, known) in table.instances where key.scheduler == scheduler {
        if let core = known.core { unsafe living.append(core) }
      }
    }
    return unsafe living
  }

  /// A later thread may be known by the same number.
  private static func forget(_ thread: Scheduler.Key) {
    table.withLock { table in
      for key in table.instances.keys where key.scheduler == thread { table.instances[key] = nil }
    }
  }

  /// The live instance of the store that lives where this code runs, opened if necessary. Traps if
  /// it cannot be opened.
  ///
  /// - Parameters:
  ///   - home: the scheduler of the object to look up.
  ///   - purpose: the reason for opening it, for the message.
  static func here(
    _ store: Store, _ configuration: Realm.Configuration, home: Scheduler.Key, for purpose: String
  ) -> RealmCore {
    if let living = instance(of: store, preferring: home) { return living }
    do {
      return try open(configuration, .current)
    } catch {
      trap("Cannot open '\(store.path)' here \(purpose): \(error)")
    }
  }

  /// An instance of the store that lives where this code runs; nil without one.
  ///
  /// Code can run in several contexts at once: on a queue that took over a thread, on a thread with
  /// manual schedulers. Then the queue counts for more than `home`, that for more than another
  /// manual scheduler, and this for more than the thread.
  static func instance(of store: Store, preferring home: Scheduler.Key) -> RealmCore? {
    nonisolated(unsafe) var found: RealmCore?  // because: it stays on this thread
    table.withLock { table in
      let here = table.instances.filter {
        $0.key.store == ObjectIdentifier(store) && $0.value.scheduler.isCurrent
      }
      let order = here.keys.sorted { $0.scheduler.rank(home) < $1.scheduler.rank(home) }
      for key in order where unsafe found == nil { unsafe found = here[key]?.core }
    }
    return unsafe found
  }
}

extension Scheduler.Key {
  fileprivate func rank(_ home: Scheduler.Key) -> Int {
    switch self {
    case .queue, .actor: 0
    case home: 1
    case .manual: 2
    case .main, .thread, .anywhere: 3
    }
  }
}

/// Changes of the schema by others while this instance has the file open.
extension RealmCore {
  /// The program has loaded more classes since the instance was opened, and the file has them now.
  /// They can be used at once if nothing else was committed since, else after the next advance.
  func learn(_ newer: ModelSchema, _ wanted: Realm.Configuration) throws(StorageError) {
    // An instance with a list of classes keeps its list.
    guard configuration.objectTypes == nil, wanted.objectTypes == nil else { return }
    classes.learn(newer)
    guard session == nil, let shown = reader?.snapshot else { return }
    let newest = try store.newestSnapshot()
    if newest.version == shown.version { _ = try advancer.advance(to: newest) }
  }
}
