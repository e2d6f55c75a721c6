/// A cursor that this process holds. Any thread.
package final class HeldCursor: Sendable {
  package let store: Store
  package let name: String
  package let number: UInt32
  package let epoch: UInt32
  /// Whether there was no cursor of that name before.
  package let isNew: Bool
  /// The version through which a former owner may have read without an acknowledgement.
  package let toldThrough: Version
  private let lock: CursorLock

  init(
    _ store: Store, _ record: CursorRecord, number: UInt32, isNew: Bool, toldThrough: Version,
    _ lock: CursorLock
  ) {
    self.store = store
    self.number = number
    self.isNew = isNew
    self.toldThrough = toldThrough
    self.lock = lock
    name = record.name
    epoch = record.epoch
  }

  /// The cursor in a snapshot.
  ///
  /// Errors: `.notFound` if it was deleted.
  package func record(in snapshot: Snapshot) throws(StorageError) -> CursorRecord {
    guard let record = try FeedTable.cursor(number, in: snapshot.transaction),
      record.name == name
    else {
      throw StorageError(
        .notFound, operation: "read cursor", path: store.path,
        detail: "the cursor '\(name)' was deleted")
    }
    return record
  }

  /// The state in a snapshot.
  ///
  /// Errors: `.notFound` if it was deleted, `.conflict` if another process took it.
  package func state(in snapshot: Snapshot) throws(StorageError) -> FeedState {
    let record = try record(in: snapshot)
    guard record.epoch == epoch else {
      throw StorageError(
        .conflict, operation: "read cursor", path: store.path,
        detail: "the cursor '\(name)' was taken"
          + (record.owner.map { " by \($0.sentence)" } ?? "") + ". Open it again")
    }
    return record.state
  }

  /// Makes an acknowledgement durable, in a separate transaction that creates no version.
  ///
  /// Errors: `.conflict` if the cursor was taken or acknowledged meanwhile.
  package func acknowledge(from: FeedPlace, to: FeedPlace) throws(StorageError) {
    let wanted = acknowledgement(from, to)
    try store.changeFeed("acknowledge") { edit, head, transaction throws(StorageError) in
      try edit.acknowledge(wanted, head, in: transaction)
    }
  }

  /// Writes records of the replica that holds the cursor, in a separate transaction that creates no
  /// version.
  ///
  /// - Parameter place: the position to acknowledge with them; nil for none.
  /// - Throws: `.conflict` if the cursor was taken or acknowledged meanwhile.
  package func keep(
    _ records: ReplicaRecords, acknowledging place: FeedPlace? = nil
  ) throws(StorageError) {
    try store.changeFeed("keep a replica's state") {
      edit, head, transaction throws(StorageError) in
      let record = try edit.held(number, epoch: epoch)
      if let place, record.acknowledged.version < place.version {
        try edit.acknowledge(acknowledgement(record.acknowledged, place), head, in: transaction)
      }
      try records.put(transaction)
    }
  }

  /// Adds an acknowledgement to a write, of which it becomes part.
  ///
  /// - Parameter owns: whether the commit belongs to the cursor, which then does not report it.
  package func acknowledge(
    from: FeedPlace, to: FeedPlace, in session: WriteSession, owns: Bool
  ) throws(StorageError) {
    session.acknowledgements.append(acknowledgement(from, to))
    if owns { own(session) }
  }

  /// Marks a write as one that belongs to the cursor.
  package func own(_ session: WriteSession) {
    if !session.cursorsOfCommit.contains(number) { session.cursorsOfCommit.append(number) }
  }

  /// Releases the cursor for others.
  package func release() { lock.release() }

  /// Releases the cursor for others, and notes that everything read was acknowledged. Never waits:
  /// without the write lock the note is omitted, and the next owner treats changes as possibly
  /// repeated.
  package func releaseDone() {
    let (number, epoch) = (number, epoch)
    do throws(StorageError) {
      try store.changeFeed("release cursor", waiting: .zero) { edit, _, _ throws(StorageError) in
        if edit[number]?.epoch == epoch { edit[number]?.owner = nil }
      }
    } catch {
      if error.code != .busy { StoreLog.shared.write(.info, "\(error)") }
    }
    release()
  }

  private func acknowledgement(_ from: FeedPlace, _ to: FeedPlace) -> CursorAcknowledgement {
    CursorAcknowledgement(number: number, epoch: epoch, from: from, to: to)
  }
}

/// A cursor as a list of them shows it.
package struct KnownCursor: Sendable {
  package let number: UInt32
  package let record: CursorRecord
  /// Whether a living process has it.
  package let isHeld: Bool
}
