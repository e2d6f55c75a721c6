/// An event of a session, for its owner.
package enum SyncEvent {
  /// Another process has the session of the file.
  case isElsewhere(String)
  /// It is connected, and downloads.
  case connected
  /// All commits of the file are on the server, and all changes of the server are in the file.
  case isUpToDate
  /// A commit that the server refused was rolled back.
  case refused(RefusedCommit)
  /// There were too many unsent commits, which were joined into one. Delivered once until they are
  /// sent.
  case joined
  /// A notice about values. Delivered once.
  case notice(SyncNotice)
  /// A problem that stops the session for some time, after which it tries again.
  case waits(any Error, Duration)
  /// It was stopped, and does nothing any more.
  case ended

  package static let joinedText =
    "the server was away for so long that the unsent commits were joined: they are sent as one"
}
