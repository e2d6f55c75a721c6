import TarnStore

/// The state of a file's session, stored in the file, so that all processes can read it. A commit
/// wakes them.
struct SessionNotes: Equatable {
  /// The name of the cursor that keeps the unsent commits of a file.
  static let cursorName = "tarn-sync"
  /// Raised by any process that waits until all changes of the server are here.
  var asked: UInt64 = 0
  /// The last number that the session has answered with a download.
  var answered: UInt64 = 0
  /// Whether the session is connected.
  var isConnected = false
  /// When the server was last connected, in seconds since 1970; 0 for never.
  var seen: UInt64 = 0
  /// Why the session waits; nil if it does not.
  var problem: String?
  /// The SQLSTATE of the problem; empty without one.
  var state = ""
  /// Whether the problem ends only when a person fixes the server or the file.
  var isLasting = false
  /// The number of the session's attempts with such a problem.
  var lastingProblems: UInt64 = 0

  /// The number that the session must answer; nil for none.
  var unanswered: UInt64? { asked > answered ? asked : nil }

  private static let key = ReplicaKey(134, ClassID(0), 0)

  static func read(in snapshot: Snapshot) throws(StorageError) -> SessionNotes {
    var notes = SessionNotes()
    guard let bytes = try ReplicaRecords.bytes(key, in: snapshot.transaction) else { return notes }
    var reader = BigEndianReader(bytes)
    guard let asked: UInt64 = reader.read(), let answered: UInt64 = reader.read(),
      let flags: UInt8 = reader.read(), let seen: UInt64 = reader.read(),
      let problem = reader.readText()
    else {
      throw StorageError(
        .corrupted, operation: "read the notes of the session", path: "", detail: "they are damaged"
      )
    }
    (notes.asked, notes.answered, notes.isConnected) = (asked, answered, flags & 1 != 0)
    notes.seen = seen
    if flags & 2 != 0 { notes.problem = problem }
    // Earlier versions have written only the fields before.
    if let count: UInt64 = reader.read(), let state = reader.readText() {
      (notes.lastingProblems, notes.state, notes.isLasting) = (count, state, flags & 4 != 0)
    }
    return notes
  }

  /// Whether a process is connected. A killed process could not note that it no longer is, and a
  /// stopped process does not notice that the server has closed the connection.
  static func isConnected(_ store: Store, _ snapshot: Snapshot) throws(StorageError) -> Bool {
    guard try read(in: snapshot).isConnected,
      let cursor = try store.cursors().first(where: { $0.record.name == cursorName })
    else { return false }
    return cursor.isHeld && cursor.record.owner?.isStopped != true
  }

  private var encoded: [UInt8] {
    var writer = BigEndianWriter()
    writer.write(asked)
    writer.write(answered)
    writer.write(
      UInt8((isConnected ? 1 : 0) | (problem == nil ? 0 : 2) | (isLasting ? 4 : 0)))
    writer.write(seen)
    writer.write(text: problem ?? "")
    writer.write(lastingProblems)
    writer.write(text: state)
    return writer.bytes
  }

  /// Notes why the session waits.
  ///
  /// - Parameters:
  ///   - text: the problem; nil for none.
  ///   - error: the same problem, if waiting does not solve it.
  mutating func note(_ text: String?, lasting error: ServerError?) {
    problem = text
    isLasting = error != nil
    state = error?.state ?? ""
    if error != nil { lastingProblems += 1 }
  }

  /// Changes the notes, in a commit that wakes all processes.
  @discardableResult
  static func edit(
    _ store: Store, _ change: (inout SessionNotes) throws(StorageError) -> Void
  ) throws(StorageError) -> SessionNotes {
    try store.editRecords { snapshot, records throws(StorageError) in
      let former = try read(in: snapshot)
      var notes = former
      try change(&notes)
      if notes != former { records.set(key, notes.encoded) }
      return notes
    }
  }
}

extension Store {
  /// Changes records of the replica in a separate commit, which wakes all processes; commits
  /// nothing if no record is changed.
  func editRecords<R>(
    _ change: (Snapshot, inout ReplicaRecords) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    let token = try acquireGate()
    let snapshot = try newestSnapshot()
    let session = WriteSession(try SnapshotReader(snapshot)) {}
    let answer = try change(snapshot, &session.replicaRecords)
    if !session.replicaRecords.isEmpty { try commit(session, token) }
    return answer
  }
}
