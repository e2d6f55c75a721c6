/// An event of a session, for its owner.
package enum SyncEvent {
  /// Another process has the session of the file.
  case isElsewhere(String)
  /// It is connected, and downloads.
  case connected
  /// All commits of the file are on the server, and all changes of the server are in the file.
  case isUpToDate
  /// A commit that the server refused was taken back.
  case refused(RefusedCommit)
  /// Unsent commits have become too many, and are one from now on. Told once until they are sent.
  case joined
  /// Something about values. Told once.
  case notice(SyncNotice)
  /// Something that stops the session for some time, after which it tries again.
  case waits(any Error, Duration)
  /// It was stopped, and does nothing any more.
  case ended

  package static let joinedText =
    "the server was away for so long that unsent commits are joined: they will be sent as one"
}
