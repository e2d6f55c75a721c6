import TarnStore

/// Writes of a session into its file.
extension Replica {
  /// Writes under the write lock.
  ///
  /// - Parameters:
  ///   - clock: the server's clock, in microseconds since 1970: stamps of its rows raise this
  ///     file's, up to a minute beyond it.
  ///   - next: the state at the beginning of the write, if the server has more commits now.
  ///   - body: receives the state, and changes it to that after the write. It runs again if the
  ///     write would break a unique rule.
  func edit<R>(
    clock: Int64 = 0, to next: ReplicaState? = nil,
    _ body: (ReplicaEdit, inout ReplicaState) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    var token: GateToken? = try store.acquireGate()
    let done = try edit(clock, next ?? state, &token, body)
    token.take()?.release()
    if let records = done.records { try cursor.keep(records) }
    note(done.state)
    say(done.notices)
    return done.result
  }

  private struct Edited<R> {
    let result: R
    let state: ReplicaState
    /// The records to keep if no object changed.
    var records: ReplicaRecords?
    var notices: [SyncNotice] = []
  }

  private func edit<R>(
    _ clock: Int64, _ first: ReplicaState, _ token: inout GateToken?,
    _ body: (ReplicaEdit, inout ReplicaState) throws(StorageError) -> R
  ) throws(StorageError) -> Edited<R> {
    do throws(StorageError) {
      let (edit, result, next) = try run(first, nil, body)
      return try commit(edit, clock, &token, result, next)
    } catch {
      guard error.code == .notUnique else { throw error }
      var clashes = Clashes()
      while true {
        let (edit, result, next) = try run(first, clashes, body)
        if try edit.findClashes(&clashes) { continue }
        if clashes.isEmpty { throw error }
        let edited = try commit(edit, clock, &token, result, next)
        hasClashes = true
        return edited
      }
    }
  }

  private func run<R>(
    _ first: ReplicaState, _ clashes: Clashes?,
    _ body: (ReplicaEdit, inout ReplicaState) throws(StorageError) -> R
  ) throws(StorageError) -> (ReplicaEdit, R, ReplicaState) {
    let snapshot = try snapshot()
    // Another process may have ended this session while this one was stopped.
    _ = try cursor.state(in: snapshot)
    let edit = try ReplicaEdit(
      snapshot, state, to: first, names, without: cursor.number, leavingOut: clashes)
    var next = first
    let result = try body(edit, &next)
    try edit.finish()
    return (edit, result, next)
  }

  private func commit<R>(
    _ edit: ReplicaEdit, _ clock: Int64, _ token: inout GateToken?, _ result: R,
    _ next: ReplicaState
  ) throws(StorageError) -> Edited<R> {
    let latest = min(edit.latest, clock + 60_000_000)
    var next = next
    if latest > 0, !edit.session.isEmpty {
      next.limit.noteSeen(
        latest, at: edit.snapshot.version.rawValue + 1, done: next.done.version.rawValue)
    }
    edit.keep(next)
    var edited = Edited(result: result, state: next, notices: edit.leavings.notices)
    if edit.session.isEmpty {
      edited.records = edit.objects.records
      return edited
    }
    if edit.latest > 0 { store.raiseStamp(atLeast: UInt64(max(0, latest))) }
    cursor.own(edit.session)
    edit.session.replicaRecords = edit.objects.records
    _ = try store.commit(edit.session, &token)
    return edited
  }
}
