public import Dispatch
import Synchronization
import TarnStore

/// An opening that `Realm.asyncOpen` has begun. Threading: any. It goes on if nobody keeps this.
public final class AsyncOpenTask: Sendable {
  private let isCancelled = Atomic<Bool>(false)

  /// From when this returns on no callback begins. The file may be opened nevertheless.
  public func cancel() { isCancelled.store(true, ordering: .releasing) }

  fileprivate var goesOn: Bool { !isCancelled.load(ordering: .acquiring) }
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
  /// - Returns: a task that can be cancelled: then `callback` is not called.
  @discardableResult
  public static func asyncOpen(
    configuration: Configuration = .defaultConfiguration, callbackQueue: DispatchQueue = .main,
    callback: @escaping @Sendable (Result<Realm, any Swift.Error>) -> Void
  ) -> AsyncOpenTask {
    Scheduler.refuseGlobal(callbackQueue)
    let task = AsyncOpenTask()
    DispatchQueue.global().async {
      let store = Result { () throws(Realm.Error) in
        try StoreOpening(configuration, ModelSchema.of(configuration.objectTypes)).openMigrated()
      }
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
