public import Dispatch
import TarnStore

/// An opening that `Realm.asyncOpen` has begun. Threading: any. It continues even if this is
/// released.
public final class AsyncOpenTask: Sendable {
  /// The progress of an opening.
  public struct Progress: Sendable, Equatable {
    /// The progress of the migration, if there is one.
    public let migration: MigrationProgress?
    /// True when the file is open.
    public let isTransferComplete: Bool

    /// The share of the current class that is already migrated, from 0 to 1; 1 once the file is
    /// open.
    public var fractionTransferred: Double {
      guard !isTransferComplete else { return 1 }
      guard let migration, migration.totalObjects > 0 else { return 0 }
      return Double(migration.completedObjects) / Double(migration.totalObjects)
    }
  }

  private struct State {
    var isCancelled = false
    var isOver = false
    var latest: Progress?
    var told: [@Sendable (Progress) -> Void] = []
  }
  private let state = Lock(State())

  /// After this returns, no callback begins, nor a progress block. The file may still be opened.
  public func cancel() {
    state.withLock { $0.isCancelled = true }
  }

  /// Calls `block` with the progress of the opening.
  ///
  /// A migration may take long: `block` is called about once per thousand
  /// objects that it enumerates, and once when the file is open, before the callback of `asyncOpen`
  /// is queued. A block added later first receives the latest progress. If opening fails, it is not
  /// called; the callback receives the error.
  ///
  /// - Parameters:
  ///   - queue: where `block` is called.
  ///   - block: receives the progress; is retained until the end of the opening.
  public func addProgressNotification(
    queue: DispatchQueue = .main, block: @escaping @Sendable (Progress) -> Void
  ) {
    let tell: @Sendable (Progress) -> Void = { [self] progress in
      queue.async { [self] in if goesOn { block(progress) } }
    }
    state.withLock { state in
      if let latest = state.latest { tell(latest) }
      if !state.isOver { state.told.append(tell) }
    }
  }

  fileprivate var goesOn: Bool { state.withLock { !$0.isCancelled } }

  /// In the order of the calls.
  fileprivate func tell(_ progress: Progress) {
    state.withLock { state in
      state.latest = progress
      for tell in state.told { tell(progress) }
    }
  }

  /// No more progress will be reported; pending reports retain the task.
  fileprivate func end() {
    state.withLock { state in
      state.isOver = true
      state.told = []
    }
  }
}

extension Realm {
  /// Opens a configuration, and migrates the file if needed, on another thread. A synchronized
  /// Realm waits there until everything of the server is in the file. Then this calls
  /// `callback` with a Realm that belongs to `callbackQueue`.
  ///
  /// - Parameters:
  ///   - configuration: which file, and how.
  ///   - callbackQueue: a serial queue or the main queue. Any other traps.
  ///   - callback: receives the Realm, or a `Realm.Error` if the file cannot be opened or does not
  ///     match the classes.
  /// - Returns: a task that reports progress and can be cancelled: then `callback` is not called.
  @discardableResult
  public static func asyncOpen(
    configuration: Configuration = .defaultConfiguration, callbackQueue: DispatchQueue = .main,
    callback: @escaping @Sendable (Result<Realm, any Swift.Error>) -> Void
  ) -> AsyncOpenTask {
    Scheduler.refuseGlobal(callbackQueue)
    let task = AsyncOpenTask()
    DispatchQueue.global().async {
      let opened = OpenedAside(configuration, task)
      callbackQueue.async { opened.deliver(configuration, callbackQueue, task, callback) }
    }
    return task
  }
}

/// A file that was opened on another thread. It is held until the callback has its Realm, and no
/// longer: the program may delete the file once it has released that.
private final class OpenedAside: Sendable {
  private let store: Lock<Result<OpenedStore, Realm.Error>?>
  private let leave: StoreLeave?

  init(_ configuration: Realm.Configuration, _ task: AsyncOpenTask) {
    let result = Result { () throws(Realm.Error) in
      let opening = StoreOpening(configuration, ModelSchema.of(configuration.objectTypes))
      return try opening.openDownloaded(
        .always,
        progress: { step in
          task.tell(AsyncOpenTask.Progress(migration: step, isTransferComplete: false))
        }, isCancelled: { !task.goesOn })
    }
    if case .success(let opened) = result {
      leave = StoreLeave(opened.store)
      task.tell(AsyncOpenTask.Progress(migration: nil, isTransferComplete: true))
    } else {
      leave = nil
    }
    task.end()
    store = Lock(result)
  }

  func deliver(
    _ configuration: Realm.Configuration, _ queue: DispatchQueue, _ task: AsyncOpenTask,
    _ callback: (Result<Realm, any Swift.Error>) -> Void
  ) {
    leave?.isHere()
    leave?.begin()
    if task.goesOn {
      callback(realm(configuration, queue))
    } else {
      drop()
    }
    leave?.isOver()
  }

  private func realm(
    _ configuration: Realm.Configuration, _ queue: DispatchQueue
  ) -> Result<Realm, any Swift.Error> {
    defer { drop() }
    return Result {
      if case .failure(let error)? = store.withLock({ $0 }) { throw error }
      return try Realm(configuration: configuration, queue: queue)
    }
  }

  private func drop() {
    // Released outside of the lock.
    let former = store.withLock { $0.take() }
    withExtendedLifetime(former) {}
  }
}

extension Realm {
  /// The same type, under the name that it has in Realm Swift.
  public typealias AsyncOpenTask = Tarn.AsyncOpenTask
}
