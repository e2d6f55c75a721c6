import TarnStore

/// A move to a newer version, and the results computed for it in advance.
struct PreparedMove {
  let snapshot: Snapshot
  /// The changes since the current version.
  let changes: ChangeSet
  /// The sources that it can concern; nil to look for them. A source added since is not followed
  /// yet, and one whose last observer has ended is not followed any more: neither needs the move.
  var concerned: [any ObservedSource]?
  /// The results that a worker has computed for these sources.
  var prepared: PreparedSteps = [:]
}
