import Synchronization
import TarnStore

/// One write, for accessors of the rows that it created, while it is open and afterwards: if it is
/// cancelled they are invalidated, and so are references to them on other threads. It lives as long
/// as the last of them.
final class WriteMark: Sendable {
  private enum State: UInt8, AtomicRepresentable { case open, committed, cancelled }

  private let state = Atomic<State>(.open)

  var isOpen: Bool { state.load(ordering: .acquiring) == .open }
  var wasCancelled: Bool { state.load(ordering: .acquiring) == .cancelled }

  func commit() { state.store(.committed, ordering: .releasing) }

  /// Call it before any other writer can write: the next write may reuse the keys.
  func cancel() { state.store(.cancelled, ordering: .releasing) }
}

/// The write that an instance has open, if it has one.
final class WriteState {
  /// The write that the instance reads through: the open one, or one on its way to the disk.
  private(set) var session: WriteSession?
  /// Committed, but not on the disk yet: it cannot be changed any more, and the instance does not
  /// advance before it is on the disk.
  private(set) var isSettling = false
  /// The state before the current block, if the write is shared with earlier blocks.
  private(set) var savepoint: WriteSession?
  private var gateToken: GateToken?
  /// The watch that releases the write lock if the actor ends.
  var watch: OrphanedWriteCheck?
  /// A change with several parts is being made, such as one that adds objects.
  var isInLargerChange = false
  /// The number of the instance's last write.
  private(set) var serial: UInt64 = 0
  /// The same for the objects created in it.
  private(set) var mark: WriteMark?
  /// The objects that it added, if they must be returned when it is cancelled.
  private var addedObjects: [AnyObject] = []
  /// The number of those before the savepoint.
  private var addedBefore = 0

  /// True if the write can be changed.
  var isOpen: Bool { session != nil && !isSettling }

  /// The write, if it has changed something.
  var active: ActiveWrite? {
    guard let session, !session.isEmpty else { return nil }
    return ActiveWrite(session: session, serial: serial)
  }

  /// From here on no other process writes.
  func hold(_ token: consuming GateToken) {
    gateToken = consume token
    watch?.writeBegan()
  }

  func begin(_ session: WriteSession) {
    self.session = session
    serial = Generation.next()
    mark = WriteMark()
  }

  /// Continues a write that another instance has left.
  func resume(
    _ session: WriteSession, _ token: consuming GateToken?, serial: UInt64, _ mark: WriteMark?
  ) {
    self.session = session
    gateToken = token
    self.serial = serial
    self.mark = mark
  }

  /// From here on the write is only read.
  func settle() {
    isSettling = true
    savepoint = nil
    addedBefore = 0
  }

  /// Gives a settled write an earlier state while `body` runs.
  func showing(_ earlier: WriteSession, _ body: () -> Void) {
    let whole = session
    (session, serial) = (earlier, Generation.next())
    body()
    (session, serial) = (whole, Generation.next())
  }

  /// Continues a settled write, which can be undone to `savepoint`.
  func reopen(_ savepoint: WriteSession) {
    self.savepoint = savepoint
    addedBefore = addedObjects.count
    isSettling = false
    mark = WriteMark()
  }

  /// Undoes everything after the savepoint; the write can only be read then.
  func returnToSavepoint() {
    session = savepoint
    serial = Generation.next()
    mark = nil
    settle()
  }

  func noteAdded(_ object: AnyObject) { addedObjects.append(object) }

  /// Those since the savepoint, if there is one.
  func takeAddedObjects() -> [AnyObject] {
    defer { addedObjects.removeSubrange(addedBefore...) }
    return Array(addedObjects[addedBefore...])
  }

  /// The write has ended, also if it was committed.
  func end() {
    session = nil
    isSettling = false
    savepoint = nil
    mark = nil
    addedObjects = []
    addedBefore = 0
  }

  /// The token that keeps other processes from writing. The caller must release it.
  func takeGateToken() -> GateToken? {
    watch?.writeEnded()
    return gateToken.take()
  }
}
