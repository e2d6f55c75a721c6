import TarnStore

/// Open writes whose instance was released: `try Realm().beginWrite()`, and later `try Realm()`
/// again, on the same scheduler, to continue.
///
/// An open write outlives its instance here, and belongs to the next one that is opened there. When
/// the thread, the queue or the manual scheduler ends, no code can end the write any more, and all
/// other writers wait for it: then it is cancelled, with a warning in the log.
enum LeftWrites {
  struct Key: Hashable {
    var store: ObjectIdentifier
    var scheduler: Scheduler.Key
  }

  private struct Table: @unchecked Sendable {
    // because: a write is stored and removed as a whole, and used only where it then belongs.
    var writes: [Key: LeftWrite] = [:]
  }

  private static let table = Lock(ofProcess: Table())

  static func keep(_ write: LeftWrite, _ key: Key) {
    nonisolated(unsafe) let write = write  // because: the caller has released it
    table.withLock { $0.writes[key] = unsafe write }
  }

  /// The write that was left on that scheduler; the caller continues it.
  static func take(_ key: Key) -> LeftWrite? {
    nonisolated(unsafe) var found: LeftWrite?  // because: no other code has it from here on
    table.withLock { unsafe found = $0.writes.removeValue(forKey: key) }
    return unsafe found
  }

  /// The scheduler has ended: no code can continue its writes.
  static func end(_ scheduler: Scheduler.Key) {
    nonisolated(unsafe) var ended: [LeftWrite] = []  // because: no other code has them
    table.withLock { table in
      for (key, write) in table.writes where key.scheduler == scheduler {
        unsafe ended.append(write)
        table.writes[key] = nil
      }
    }
    for write in unsafe ended { write.cancel() }
  }
}

/// An open write without its instance.
final class LeftWrite {
  let configuration: Realm.Configuration
  let reader: SnapshotReader
  let session: WriteSession
  let serial: UInt64
  private let mark: WriteMark?
  private let store: Store
  private var token: GateToken?

  init(_ core: RealmCore, _ session: WriteSession) {
    configuration = core.configuration
    reader = session.reader
    serial = core.write.serial
    mark = core.write.mark
    store = core.store
    token = core.write.takeGateToken()
    self.session = session
    session.rowsMoved = {}
  }

  /// Gives the write to an instance without a version.
  func resume(in core: RealmCore) {
    core.state.begin(with: reader)
    core.write.resume(session, token.take(), serial: serial, mark)
    session.rowsMoved = { [unowned core] in core.rowsMoved() }
    core.rowsMoved()
  }

  func cancel() {
    mark?.cancel()
    token.take()?.release()
    LeftWrite.warn(store)
  }

  static func warn(_ store: Store) {
    StoreLog.shared.write(
      .warning,
      "\(store.path): a thread or queue ended with an open write, or an actor released its Realm, "
        + "so the write was cancelled. Call commitWrite() or cancelWrite() before that.")
  }
}
