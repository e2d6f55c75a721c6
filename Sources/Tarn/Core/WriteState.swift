import TarnStore

/// One write, as accessors of the rows that it made know it while it is open, and afterwards: they
/// are dead if it is cancelled. It goes with the last of them.
final class WriteMark {
  var wasCancelled = false
}

/// The write that an instance has open, if it has one.
final class WriteState {
  private(set) var session: WriteSession?
  private var gateToken: GateToken?
  /// Names the instance's last write.
  private(set) var serial: UInt64 = 0
  /// The same for what is born in it.
  private(set) var mark: WriteMark?
  /// What it has made managed, where that is wanted back if it is cancelled.
  private var addedObjects: [ObjectBase] = []

  /// False until the instance has had a write.
  var hasBegunBefore: Bool { serial != 0 }

  /// The write, if it has changed something.
  var active: ActiveWrite? {
    guard let session, !session.isEmpty else { return nil }
    return ActiveWrite(session: session, serial: serial)
  }

  /// From here on no other process writes.
  func hold(_ token: consuming GateToken) { gateToken = consume token }

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

  func noteAdded(_ object: ObjectBase) { addedObjects.append(object) }

  func takeAddedObjects() -> [ObjectBase] {
    defer { addedObjects = [] }
    return addedObjects
  }

  /// The write is over, be it that it was committed.
  func end() {
    session = nil
    mark = nil
    addedObjects = []
  }

  /// What keeps other processes from writing. Who takes it gives it up.
  func takeGateToken() -> GateToken? { gateToken.take() }
}
