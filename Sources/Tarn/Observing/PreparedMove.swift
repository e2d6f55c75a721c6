import TarnStore

/// A move to a newer version, and what is known of it before it is made.
struct PreparedMove {
  let snapshot: Snapshot
  /// The changes since the version that is shown.
  let changes: ChangeSet
  /// The sources that it can concern; nil if they have not been looked for yet. One that has come
  /// since is not followed yet, and one whose last observer has gone is not followed any more: both
  /// need not be told of the move.
  var concerned: [any ObservedSource]?
  /// The results that a worker has computed for these sources.
  var prepared: PreparedSteps = [:]
}
