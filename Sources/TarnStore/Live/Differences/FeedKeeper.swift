/// Stores the state of a cursor: the file does. Any thread.
package protocol FeedKeeper: Sendable {
  /// The number with which commits that belong to the cursor are marked.
  var number: UInt32 { get }
  /// Whether changes that were delivered before, without an acknowledgement, count as repeated.
  var notesDeliveries: Bool { get }
  /// The state in a snapshot.
  func state(in snapshot: Snapshot) throws(StorageError) -> FeedState
  /// Makes an acknowledgement durable by a commit that changes nothing else. It also clears the
  /// reason to start over.
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
