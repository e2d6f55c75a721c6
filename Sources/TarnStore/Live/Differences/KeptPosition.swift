/// A position in a file's history that the consumer stores instead of the file: for consumers that
/// cannot write the file, and for many consumers of the records that one cursor retains.
///
/// Nothing is retained for it. Once the records after it are removed, it needs a full resync. Any
/// thread.
package final class KeptPosition: FeedKeeper {
  private let current: Lock<FeedState>
  private let keep: @Sendable (FeedPlace) throws(StorageError) -> Void

  /// - Parameters:
  ///   - place: the consumer's position; nil for one that has nothing yet.
  ///   - reason: why the consumer needs a full resync, if the caller knows that.
  ///   - isConfirmed: whether this process has seen the commit of the position in the file.
  ///     Otherwise the file must show it, because it may have been restored since.
  ///   - snapshot: a snapshot of the file.
  ///   - keep: stores a new position, before it counts as acknowledged.
  package init(
    at place: FeedPlace?, because reason: FeedReason? = nil, isConfirmed: Bool = false,
    in snapshot: Snapshot,
    keep: @escaping @Sendable (FeedPlace) throws(StorageError) -> Void = { _ in }
  ) throws(StorageError) {
    var state = FeedState(
      acknowledged: place ?? FeedPlace(snapshot.head),
      reason: reason ?? (place == nil ? .snapshot : nil))
    if let place, reason == nil, !isConfirmed { state.reason = try place.fault(in: snapshot) }
    current = Lock(state)
    self.keep = keep
  }

  /// No commit belongs to it: files number their cursors from 1.
  package var number: UInt32 { 0 }

  package func state(in snapshot: Snapshot) throws(StorageError) -> FeedState {
    var state = current.withLock { $0 }
    let place = state.acknowledged
    guard state.reason == nil, place.version < snapshot.version,
      place.historyID == snapshot.head.historyID
    else { return state }
    let oldest = try ChangeLog.oldestVersion(in: snapshot.transaction)
    if oldest.map({ $0 > place.version.next }) ?? true { state.reason = .expired }
    return state
  }

  package func acknowledge(from: FeedPlace, to: FeedPlace) throws(StorageError) {
    let known = current.withLock { $0.acknowledged }
    guard known == from else {
      throw StorageError(
        .conflict, operation: "acknowledge", path: "",
        detail: "the acknowledged version is \(known.version.rawValue), not "
          + "\(from.version.rawValue)")
    }
    try keep(to)
    current.withLock { $0 = FeedState(acknowledged: to, reason: nil) }
  }

  /// An acknowledgement is stored elsewhere, so it cannot be part of a write to the file.
  package func acknowledge(
    from: FeedPlace, to: FeedPlace, in session: WriteSession, owns: Bool
  ) throws(StorageError) {
    throw StorageError(
      .invalidInput, operation: "acknowledge",
      path: session.reader.snapshot.transaction.environment.path,
      detail: "this position is kept outside of the file: acknowledge it outside of a write")
  }

  package func own(_ session: WriteSession) {}
  package func release() {}
  package func releaseDone() {}
}

/// Stores the state of a cursor: the file does. Any thread.
package protocol FeedKeeper: Sendable {
  /// The number with which commits that belong to the cursor are marked.
  var number: UInt32 { get }
  /// Whether changes that were delivered before, without an acknowledgement, count as repeated.
  var notesDeliveries: Bool { get }
  /// The state in a snapshot.
  func state(in snapshot: Snapshot) throws(StorageError) -> FeedState
  /// Makes an acknowledgement durable by a commit that changes nothing else. It also clears the
  /// reason for a full resync.
  func acknowledge(from: FeedPlace, to: FeedPlace) throws(StorageError)
  /// Adds an acknowledgement to a write, of which it becomes part.
  ///
  /// - Parameter owns: whether the commit belongs to the cursor, which then does not report it.
  func acknowledge(
    from: FeedPlace, to: FeedPlace, in session: WriteSession, owns: Bool
  ) throws(StorageError)
  /// Marks a write as one that belongs to the cursor.
  func own(_ session: WriteSession)
  /// Releases the cursor, so that another process can take it.
  func release()
  /// Releases the cursor of a consumer that has acknowledged everything that it received: the next
  /// batch need not count as repeated.
  func releaseDone()
}

extension FeedKeeper {
  package var notesDeliveries: Bool { true }
}

extension HeldCursor: FeedKeeper {}
