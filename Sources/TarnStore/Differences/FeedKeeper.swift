/// What keeps the state of a cursor: the file. Any thread.
package protocol FeedKeeper: Sendable {
  /// The number by which commits are marked that belong to the cursor.
  var number: UInt32 { get }
  /// Whether what was delivered before, without an acknowledgement, counts as repeated.
  var notesDeliveries: Bool { get }
  /// The state in a snapshot.
  func state(in snapshot: Snapshot) throws(StorageError) -> FeedState
  /// Makes an acknowledgement durable, in a commit of its own that changes nothing else. An
  /// acknowledgement ends the reason to start over.
  func acknowledge(from: FeedPlace, to: FeedPlace) throws(StorageError)
  /// Adds an acknowledgement to a write, of which it becomes part.
  ///
  /// - Parameter owns: whether the commit belongs to the cursor, which then leaves it out.
  func acknowledge(
    from: FeedPlace, to: FeedPlace, in session: WriteSession, owns: Bool
  ) throws(StorageError)
  /// Marks a write as one that belongs to the cursor.
  func own(_ session: WriteSession)
  /// Lets another process have the cursor.
  func release()
  /// The same for a consumer that has acknowledged all that it was given: the next one need not be
  /// told that changes may be repeated.
  func releaseDone()
}

extension FeedKeeper {
  package var notesDeliveries: Bool { true }
}

extension HeldCursor: FeedKeeper {}
