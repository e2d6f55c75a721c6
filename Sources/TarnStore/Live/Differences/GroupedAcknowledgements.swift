/// A cursor whose acknowledgements take effect at once in this process and are made durable later,
/// several together: for consumers that acknowledge more often than the disk allows.
///
/// Changes whose acknowledgements were not flushed before the process dies are delivered again. Any
/// thread.
package final class GroupedAcknowledgements: FeedKeeper {
  private struct Content {
    /// The position acknowledged here; nil if the file has it.
    var ahead: FeedPlace?
    /// The position in the file.
    var durable: FeedPlace
  }

  private let held: HeldCursor
  private let content: Lock<Content>
  private let flushing = Lock<Void>(())

  package init(_ held: HeldCursor, in snapshot: Snapshot) throws(StorageError) {
    self.held = held
    content = Lock(Content(durable: try held.state(in: snapshot).acknowledged))
  }

  package var number: UInt32 { held.number }

  package func state(in snapshot: Snapshot) throws(StorageError) -> FeedState {
    let state = try held.state(in: snapshot)
    // An acknowledgement here clears a reason for a full resync, as in the file.
    return content.withLock { $0.ahead }.map { FeedState(acknowledged: $0, reason: nil) } ?? state
  }

  package func acknowledge(from: FeedPlace, to: FeedPlace) throws(StorageError) {
    let known = content.withLock { $0.ahead ?? $0.durable }
    guard known == from else { return try held.acknowledge(from: from, to: to) }
    content.withLock { $0.ahead = to }
  }

  package func acknowledge(
    from: FeedPlace, to: FeedPlace, in session: WriteSession, owns: Bool
  ) throws(StorageError) {
    try flush()
    try held.acknowledge(from: from, to: to, in: session, owns: owns)
  }

  /// Makes all acknowledgements until now durable.
  package func flush() throws(StorageError) {
    try flushing.withLock { _ throws(StorageError) in
      let (ahead, durable) = content.withLock { ($0.ahead, $0.durable) }
      guard let ahead else { return }
      try held.acknowledge(from: durable, to: ahead)
      content.withLock { content in
        content.durable = ahead
        if content.ahead == ahead { content.ahead = nil }
      }
    }
  }

  package func own(_ session: WriteSession) { held.own(session) }

  package func release() {
    try? flush()
    held.release()
  }

  package func releaseDone() {
    try? flush()
    held.releaseDone()
  }
}
