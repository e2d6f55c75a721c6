import Dispatch
import TarnStore

extension Realm {
  /// Opens a configuration for the main actor; the same instance as on the main thread and queue.
  ///
  /// The file is opened, and migrated if needed, on another thread. An instance that is already
  /// open there advances to the newest version, unless it is in a write.
  ///
  /// - Parameters:
  ///   - configuration: which file, and how.
  ///   - downloadBeforeOpen: what a synchronized Realm waits for; without a server nothing.
  /// - Throws: `Realm.Error` if the file cannot be opened or does not match the classes;
  ///   `CancellationError` if the task is cancelled before it is open.
  @MainActor public init(
    configuration: Configuration = .defaultConfiguration,
    downloadBeforeOpen: OpenBehavior = .never
  ) async throws {
    self = try await Opened.open(configuration, on: MainActor.shared, downloadBeforeOpen).realm
  }

  /// Opens a configuration for an actor.
  ///
  /// The Realm and everything that is read through it belong to the actor: code that is isolated to
  /// it uses them without `await`, before and after any suspension, whatever thread it runs on.
  /// Observers are called there. Any other code traps; <doc:ThreadsAndActors> lists the checks and
  /// their times.
  ///
  /// ```swift
  /// actor Kennel {
  ///   private var realm: Realm!
  ///   init() async throws { realm = try await Realm(actor: self) }
  ///   var count: Int { realm.objects(Dog.self).count }
  /// }
  /// ```
  ///
  /// The file is opened, and migrated if needed, on another thread. Opening it for the same actor
  /// again gives the same instance, advanced to the newest version unless it is in a write. The
  /// Realm does not retain the actor.
  ///
  /// - Parameters:
  ///   - configuration: which file, and how.
  ///   - actor: any actor; global ones as `MyActor.shared`.
  ///   - downloadBeforeOpen: what a synchronized Realm waits for; without a server nothing.
  /// - Throws: `Realm.Error` if the file cannot be opened or does not match the classes;
  ///   `CancellationError` if the task is cancelled before it is open.
  public init<A: Actor>(
    configuration: Configuration = .defaultConfiguration, actor: A,
    downloadBeforeOpen: OpenBehavior = .never
  ) async throws {
    self = try await Opened.open(configuration, on: actor, downloadBeforeOpen).realm
  }

  /// Opens a configuration for the actor that the calling code is isolated to; see
  /// `init(configuration:actor:downloadBeforeOpen:)`.
  ///
  /// - Parameters:
  ///   - configuration: which file, and how.
  ///   - _isolation: the calling code's actor; do not pass it.
  ///   - downloadBeforeOpen: what a synchronized Realm waits for; without a server nothing.
  /// - Throws: `Realm.Error` if the file cannot be opened or does not match the classes;
  ///   `CancellationError` if the task is cancelled before it is open.
  public static func open(
    configuration: Configuration = .defaultConfiguration,
    _isolation: isolated any Actor = #isolation, downloadBeforeOpen: OpenBehavior = .never
  ) async throws -> Realm {
    try await Opened.open(configuration, on: _isolation, downloadBeforeOpen).realm
  }
}

/// A Realm that is passed from its actor to the caller, which is that actor's code.
private struct Opened: @unchecked Sendable {
  // because: the code in between only passes it on.
  let realm: Realm

  private init(_ core: RealmCore) { realm = Realm(core) }

  static func open(
    _ configuration: Realm.Configuration, on actor: isolated any Actor,
    _ behavior: Realm.OpenBehavior
  ) async throws -> Opened {
    try Task.checkCancellation()
    let scheduler = Scheduler(of: actor)
    if configuration.companion == nil || behavior == .never,
      let core = try RealmCache.opened(configuration, scheduler)
    {
      try core.catchUpIfIdle()
      return Opened(core)
    }
    let cancelled = Lock(false)
    let store = try await withTaskCancellationHandler {
      try await Blocking.run { () throws(Realm.Error) in
        let model = ModelSchema.of(configuration.objectTypes)
        return try StoreOpening(configuration, model).openDownloaded(behavior) {
          cancelled.withLock { $0 }
        }
      }
    } onCancel: {
      cancelled.withLock { $0 = true }
    }
    try Task.checkCancellation()
    let core = try withExtendedLifetime(store) { try RealmCache.open(configuration, scheduler) }
    try core.catchUpIfIdle()
    return Opened(core)
  }
}

/// Work that waits for the disk or for other writers, away from the threads that tasks share.
enum Blocking {
  static func run<R: Sendable>(
    _ work: @escaping @Sendable () throws(Realm.Error) -> R
  ) async throws(Realm.Error) -> R {
    let result: Result<R, Realm.Error> = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(returning: Result { () throws(Realm.Error) in try work() })
      }
    }
    return try result.get()
  }
}
