public import Dispatch
import TarnStore

/// An opening that `Realm.asyncOpen` has begun. Threading: any. It goes on if nobody keeps this.
public final class AsyncOpenTask: Sendable {
  /// How far an opening has come.
  public struct Progress: Sendable, Equatable {
    /// What the migration is at, if there is one.
    public let migration: MigrationProgress?
    /// True when the file is open.
    public let isTransferComplete: Bool

    /// From 0 to 1: of the objects of the class that the migration goes through; 1 when the file is
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

  /// From when this returns on no callback begins, nor one of progress. The file may be opened
  /// nevertheless.
  public func cancel() {
    state.withLock { $0.isCancelled = true }
  }

  /// Calls `block` with how far the opening has come.
  ///
  /// Nothing is downloaded. What may take long is a migration: `block` is called about once per
  /// thousand objects that it enumerates, and once when the file is open, before the callback of
  /// `asyncOpen` is queued. One that is added later is told the last of that. It is not called when
  /// the file cannot be opened, which the callback tells.
  ///
  /// - Parameters:
  ///   - queue: where `block` is called.
  ///   - block: gets the progress; is kept up to the end of the opening.
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

  /// In the order in which it is called.
  fileprivate func tell(_ progress: Progress) {
    state.withLock { state in
      state.latest = progress
      for tell in state.told { tell(progress) }
    }
  }

  /// Nothing will be told any more; what was to be told holds the task.
  fileprivate func end() {
    state.withLock { state in
      state.isOver = true
      state.told = []
    }
  }
}

extension Realm {
  /// Opens a configuration, and migrates the file if need be, on another thread; then calls
  /// `callback` with a Realm that belongs to `callbackQueue`.
  ///
  /// - Parameters:
  ///   - configuration: which file, and how.
  ///   - callbackQueue: a serial queue or the main queue. Any other traps.
  ///   - callback: gets the Realm, or a `Realm.Error` if the file cannot be opened or does not
  ///     match the classes.
  /// - Returns: a task that tells how far it has come, and can be cancelled: then `callback` is not
  ///   called.
  @discardableResult
  public static func asyncOpen(
    configuration: Configuration = .defaultConfiguration, callbackQueue: DispatchQueue = .main,
    callback: @escaping @Sendable (Result<Realm, any Swift.Error>) -> Void
  ) -> AsyncOpenTask {
    Scheduler.refuseGlobal(callbackQueue)
    let task = AsyncOpenTask()
    DispatchQueue.global().async {
      let store = Result { () throws(Realm.Error) in
        let opening = StoreOpening(configuration, ModelSchema.of(configuration.objectTypes))
        return try opening.openMigrated { step in
          task.tell(AsyncOpenTask.Progress(migration: step, isTransferComplete: false))
        }
      }
      if case .success = store {
        task.tell(AsyncOpenTask.Progress(migration: nil, isTransferComplete: true))
      }
      task.end()
      callbackQueue.async {
        guard task.goesOn else { return }
        callback(
          Result {
            // Keeps the file open until the Realm has it.
            try withExtendedLifetime(store.get()) {
              try Realm(configuration: configuration, queue: callbackQueue)
            }
          })
      }
    }
    return task
  }
}
