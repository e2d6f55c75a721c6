import Foundation
import Glibc
import Synchronization
import TarnStore

/// The instances of this process: opening a file again on the same scheduler gives the same one.
enum RealmCache {
  private struct Key: Hashable {
    var store: ObjectIdentifier
    var scheduler: Scheduler.Key
  }

  /// Instances are confined to their schedulers; this table is not, so it only ever hands one to
  /// code that runs on the scheduler which the key names.
  private struct Table: @unchecked Sendable {
    // because: the weak references are followed under the lock and on the instance's scheduler.
    var instances: [Key: WeakCore] = [:]
  }

  private struct WeakCore {
    let scheduler: Scheduler
    weak var core: RealmCore?

    init(_ core: RealmCore) {
      scheduler = core.scheduler
      self.core = core
    }
  }

  private static let table = Mutex(Table())

  static func open(
    _ configuration: Realm.Configuration, _ scheduler: Scheduler
  ) throws(Realm.Error) -> RealmCore {
    let model: ModelSchema
    do {
      model = try ModelSchema(configuration.objectTypes)
    } catch {
      trap(error.description)
    }
    let opening = StoreOpening(configuration, model)
    let store = try opening.open()
    let key = Key(store: ObjectIdentifier(store), scheduler: scheduler.key)
    nonisolated(unsafe) var found: RealmCore?  // because: it stays on this thread
    table.withLock { found = $0.instances[key]?.core }
    if let found {
      found.checkThread()
      require(
        found.configuration.readOnly == configuration.readOnly,
        "Realm at path '\(store.path)' already opened with different read permissions")
      guard found.configuration.schemaVersion == configuration.schemaVersion else {
        throw Realm.Error(
          .alreadyOpen,
          message: "Realm at path '\(store.path)' already opened with different schema version: "
            + "\(found.configuration.schemaVersion), not \(configuration.schemaVersion).",
          fileURL: URL(fileURLWithPath: store.path))
      }
      return found
    }
    try opening.migrateIfNeeded(store)
    let core = RealmCore(
      store: store, configuration: configuration, scheduler: scheduler, model: model)
    core.wakeUp = WakeRegistration(core)
    nonisolated(unsafe) let made = core  // because: it stays on this thread
    table.withLock { table in
      table.instances = table.instances.filter { $0.value.core != nil }
      table.instances[key] = WeakCore(made)
    }
    return core
  }

  /// An instance of the store that lives where this code runs; nil if there is none.
  ///
  /// Code can run in several places at once: on a queue that took over a thread, on a thread with
  /// manual schedulers. Then the queue counts for more than `home`, that for more than another
  /// manual scheduler, and this for more than the thread.
  static func instance(of store: Store, preferring home: Scheduler.Key) -> RealmCore? {
    nonisolated(unsafe) var found: RealmCore?  // because: it stays on this thread
    table.withLock { table in
      let here = table.instances.filter {
        $0.key.store == ObjectIdentifier(store) && $0.value.scheduler.isCurrent
      }
      let order = here.keys.sorted { $0.scheduler.rank(home) < $1.scheduler.rank(home) }
      for key in order where found == nil { found = here[key]?.core }
    }
    return found
  }
}

extension Scheduler.Key {
  fileprivate func rank(_ home: Scheduler.Key) -> Int {
    switch self {
    case .queue: 0
    case home: 1
    case .manual: 2
    case .main, .thread, .anywhere: 3
    }
  }
}

extension Realm.Configuration {
  /// Where the store lies. One in memory lies where the operating system keeps files in memory,
  /// under a name that no file of the program's has.
  var path: String {
    if let inMemoryIdentifier {
      let folder =
        FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
      let name = inMemoryIdentifier.utf8.map { byte in
        let isPlain =
          (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
        return isPlain ? String(UnicodeScalar(byte)) : "_" + String(byte, radix: 16)
      }
      return "\(folder)/tarn-memory-\(getuid())-\(name.joined()).realm"
    }
    guard let fileURL else {
      trap("A configuration needs a fileURL or an inMemoryIdentifier.")
    }
    return fileURL.path
  }

  func storeOptions(_ model: ModelSchema) -> Store.Options {
    var options = Store.Options()
    options.isReadOnly = readOnly
    options.isDurable = durability == .full && inMemoryIdentifier == nil
    options.isTemporary = inMemoryIdentifier != nil
    options.classes = model.definitions
    options.schemaVersion = schemaVersion
    return options
  }
}
