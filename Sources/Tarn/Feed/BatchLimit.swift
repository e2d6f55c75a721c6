import TarnStore

/// How many commits a batch merges at most.
public struct BatchLimit: Sendable, Hashable {
  /// The most commits; nil for any number.
  public var commits: Int?
  /// The most bytes of change records; at least one commit is reported, however large. Nil for any
  /// size.
  public var bytes: Int?

  /// Everything up to the newest version.
  public static let none = BatchLimit()
  /// Each commit apart. Commits that change nothing that is selected are passed over.
  public static let everyCommit = BatchLimit(commits: 1)

  /// A limit of commits, of bytes, or of both. Traps for a limit below 1.
  public init(commits: Int? = nil, bytes: Int? = nil) {
    require(commits ?? 1 > 0 && bytes ?? 1 > 0, "A batch has at least one commit and one byte.")
    self.commits = commits
    self.bytes = bytes
  }

  var stored: FeedRange.Limit {
    FeedRange.Limit(commits: commits ?? .max, bytes: bytes ?? .max)
  }
}
