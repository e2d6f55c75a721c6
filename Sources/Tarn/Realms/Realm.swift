public import Dispatch
public import Foundation
import TarnStore

/// A file of live objects, as one thread, queue or scheduler sees it.
///
/// Any number of processes may have the same file open. One writes at a time. Every other process
/// learns of the commit within microseconds, moves to the new version in one step in its next turn,
/// and its observers get the exact difference.
///
/// A Realm is a handle on an instance that belongs to where it was opened. Opening the same file
/// there again returns the same instance. Everything that comes from an instance must be used where
/// the instance belongs; using it elsewhere traps.
public struct Realm: Equatable {
  let core: RealmCore

  init(_ core: RealmCore) { self.core = core }

  // MARK: - Opening

  /// Opens the default configuration on the calling thread, or on `queue`.
  ///
  /// - Parameter queue: a serial queue that this call runs on; nil for the calling thread.
  /// - Throws: `Realm.Error` if the file cannot be opened or does not match the classes.
  public init(queue: DispatchQueue? = nil) throws {
    try self.init(configuration: .defaultConfiguration, queue: queue)
  }

  /// Opens a configuration on the calling thread, or on `queue`.
  ///
  /// The file and its two companions (`-lock`, `-signal`) are created if they do not exist.
  /// Classes and properties that the file lacks are added to it.
  ///
  /// - Parameters:
  ///   - configuration: which file, and how.
  ///   - queue: a serial queue that this call runs on; nil for the calling thread.
  /// - Throws: `Realm.Error` if the file cannot be opened or does not match the classes.
  public init(configuration: Configuration, queue: DispatchQueue? = nil) throws {
    var scheduler = Scheduler.current
    if let queue {
      scheduler = Scheduler(on: queue)
    }
    core = try RealmCache.open(configuration, scheduler)
  }

  /// Opens a configuration on a scheduler whose turns the program runs itself.
  ///
  /// - Throws: `Realm.Error` if the file cannot be opened or does not match the classes.
  public init(configuration: Configuration, scheduler: ManualScheduler) throws {
    core = try RealmCache.open(configuration, .manual(scheduler))
  }

  /// Opens a file; all other settings are those of the default configuration.
  ///
  /// - Throws: `Realm.Error` if the file cannot be opened or does not match the classes.
  public init(fileURL: URL) throws {
    var configuration = Configuration.defaultConfiguration
    configuration.fileURL = fileURL
    try self.init(configuration: configuration)
  }

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

  /// Moves to the newest version and calls the observers that it concerns before it returns. Does
  /// nothing inside a write or an observer's callback, and on a frozen Realm.
  ///
  /// - Returns: true if the version changed or there was none yet.
  @discardableResult
  public func refresh() -> Bool { core.refresh() }

  /// Releases the shown version: every object and collection obtained so far is invalidated, and an
  /// open write is cancelled. The next use starts at the newest version. Observers stay. Does
  /// nothing inside an observer's callback.
  ///
  /// A frozen Realm has no other version: reading through it, and through everything that came from
  /// it, traps from then on.
  public func invalidate() { core.invalidate() }

  // MARK: - Writing

  /// Runs `block` in a write transaction and commits all of it, or nothing.
  ///
  /// Waits until no other thread or process writes, moves to the newest version (observers are
  /// called for that before the block runs), then runs the block. When this returns, the commit is
  /// on disk. If the block throws, its changes are rolled back and the error goes to the caller.
  /// The block may end the write itself.
  ///
  /// - Parameters:
  ///   - tokens: observations that are not told of this commit.
  ///   - block: what to change.
  /// - Throws: `Realm.Error` if the commit fails (the write is rolled back), or the block's error.
  @discardableResult
  public func write<R>(
    withoutNotifying tokens: [NotificationToken] = [], _ block: () throws -> R
  ) throws -> R {
    core.checkThread()
    core.activeObservations(of: tokens)
    try core.beginWrite()
    let result: R
    do {
      result = try block()
    } catch {
      if isInWriteTransaction { cancelWrite() }
      throw error
    }
    if isInWriteTransaction { try commitWrite(withoutNotifying: tokens) }
    return result
  }

  /// Begins a write; see `write`. Traps if it cannot begin; use `write` to get an error.
  ///
  /// The write stays open until it is committed or cancelled, even if nobody keeps the Realm: the
  /// next one opened on this thread or queue continues it. If the thread or queue ends before that,
  /// the write is cancelled with a warning in the log.
  public func beginWrite() {
    do {
      try core.beginWrite()
    } catch {
      trap("Cannot begin a write: \(error)")
    }
  }

  /// Commits the open write. Traps outside of one.
  ///
  /// - Parameter tokens: observations that are not told of this commit.
  /// - Throws: `Realm.Error` if it cannot be committed; the write is then rolled back.
  public func commitWrite(withoutNotifying tokens: [NotificationToken] = []) throws {
    try core.commitWrite(withoutNotifying: tokens)
  }

  /// Rolls back everything since the write began. Objects that were added become invalidated.
  /// Observers are not called. Traps outside of a write.
  public func cancelWrite() { core.cancelWrite() }
}

@available(*, unavailable, message: "a Realm belongs to the thread, queue or actor that opened it")
extension Realm: Sendable {}
