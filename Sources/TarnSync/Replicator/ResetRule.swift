import TarnStore

/// The rule for a reset: the server is another one, was restored, or no longer has deletions that
/// the file does not know, so that all objects are compared.
package struct ResetRule: Sendable {
  package enum Mode: Sendable {
    /// Unsent commits are kept and sent.
    case recover
    /// The file gets the server's state.
    case discard
    /// The session waits.
    case wait
  }

  package let mode: Mode
  /// Called before and after, on the session's thread.
  let before: @Sendable () throws -> Void
  let after: @Sendable () throws -> Void
  /// Whether a session that waits may discard the unsent commits of its file.
  let permission: ResetPermission?

  package static let standard = ResetRule(.recover)
  /// The code of the error with which a session waits.
  static let waitState = "TN003"

  package init(
    _ mode: Mode, before: @escaping @Sendable () throws -> Void = {},
    after: @escaping @Sendable () throws -> Void = {}, permission: ResetPermission? = nil
  ) {
    self.permission = permission
    self.mode = mode
    self.before = before
    self.after = after
  }

  /// Runs the comparison between calls of the rule's blocks.
  func run(_ replicator: Replicator, _ comparison: () throws -> Void) throws {
    let isAllowed = permission?.isGiven ?? false
    if mode == .wait, !isAllowed {
      throw ServerError(
        state: Self.waitState, Replicator.operation,
        "the server is another one, was restored, or has forgotten deletions",
        hint: "Choose another ClientResetMode, or make a new file.")
    }
    try before()
    if mode == .discard || isAllowed { try discardUnsent(replicator) }
    try comparison()
    permission?.end()
    try after()
  }

  /// Records all commits as sent, and makes the comparison fetch every row.
  private func discardUnsent(_ replicator: Replicator) throws {
    let replica = replicator.replica
    try replica.edit { edit, next throws(StorageError) in
      for one in replicator.downloaded { try edit.discardUnsent(one) }
      next.isStale = true
      next.joinedTime = 0
    }
    let head = try replica.store.newestSnapshot().head
    var next = replica.state
    next.done = FeedPlace(
      historyID: head.historyID, version: head.version, commitID: head.commitID)
    next.hasUploads = false
    try replica.keep(next, acknowledging: next.done)
  }
}

/// Lets a session that waits for a person's decision carry out one reset. Threading: any.
package final class ResetPermission: Sendable {
  private let given = Lock(false)

  package init() {}

  var isGiven: Bool { given.withLock { $0 } }
  func give() { given.withLock { $0 = true } }
  /// The reset is complete; the next one waits again.
  func end() { given.withLock { $0 = false } }
}
