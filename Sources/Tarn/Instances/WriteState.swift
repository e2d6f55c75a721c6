import Synchronization
import TarnStore

/// One write, as accessors of the rows that it made know it while it is open, and afterwards: they
/// are dead if it is cancelled, and so is what was passed to other threads. It goes with the last
/// of them.
final class WriteMark: Sendable {
  private enum State: UInt8, AtomicRepresentable { case open, committed, cancelled }

  private let state = Atomic<State>(.open)

  var isOpen: Bool { state.load(ordering: .acquiring) == .open }
  var wasCancelled: Bool { state.load(ordering: .acquiring) == .cancelled }

  func commit() { state.store(.committed, ordering: .releasing) }

  /// To be called before anybody else can write: the next write may give out the same keys.
  func cancel() { state.store(.cancelled, ordering: .releasing) }
}

/// The write that an instance has open, if it has one.
final class WriteState {
  /// What the instance reads through: the open write, or one that is on its way to the disk.
  private(set) var session: WriteSession?
  /// Committed, but not on the disk yet: nothing can be changed in it any more, and the instance
  /// does not move before it is there.
  private(set) var isSettling = false
  /// What the write was before the block that has it now, where that shares it with blocks before.
  private(set) var savepoint: WriteSession?
  private var gateToken: GateToken?
  /// Where the gate may have to be given up for an actor that has gone.
  var watch: OpenWriteWatch?
  /// A change is being made that consists of several, as one that brings objects.
  var isInLargerChange = false
  /// Names the instance's last write.
  private(set) var serial: UInt64 = 0
  /// The same for what is born in it.
  private(set) var mark: WriteMark?
  /// What it has made managed, where that is wanted back if it is cancelled.
  private var addedObjects: [AnyObject] = []
  /// So many of these before the savepoint.
  private var addedBefore = 0

  /// Something can be changed.
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

  /// Goes on with a write that another instance has left.
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

  /// Shows how a write was that is settled now, for as long as `body` runs.
  func showing(_ earlier: WriteSession, _ body: () -> Void) {
    let whole = session
    (session, serial) = (earlier, Generation.next())
    body()
    (session, serial) = (whole, Generation.next())
  }

  /// Goes on with a write that was settled, and may be taken back as far as `savepoint`.
  func reopen(_ savepoint: WriteSession) {
    self.savepoint = savepoint
    addedBefore = addedObjects.count
    isSettling = false
    mark = WriteMark()
  }

  /// Takes back what came after the savepoint; the write is only read then.
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

  /// The write is over, be it that it was committed.
  func end() {
    session = nil
    isSettling = false
    savepoint = nil
    mark = nil
    addedObjects = []
    addedBefore = 0
  }

  /// What keeps other processes from writing. Who takes it gives it up.
  func takeGateToken() -> GateToken? {
    watch?.writeEnded()
    return gateToken.take()
  }
}
