/// How to open a cursor.
package struct CursorRequest: Sendable {
  package enum Start: Sendable {
    /// With the changes from now on.
    case newest
    /// With the oldest version after which all changes are in the file.
    case oldest
    /// With a snapshot.
    case snapshot
  }

  package var name: String
  /// Nil for the whole file.
  package var selection: [FeedSelectionName]?
  package var level: OldValueLevel
  /// The names of further classes that the selection reads; see `CursorRecord.related`.
  package var related: [String] = []
  /// Nil to keep the cursor's limits, or for the standard ones of a new cursor.
  package var limits: CursorLimits?
  package var kept: CursorLimits?
  /// Where a new cursor begins.
  package var start: Start
  /// The place up to which the consumer has everything; nil if that is unknown. A new cursor
  /// without a snapshot begins there if the commits after it are in the file.
  package var place: FeedPlace?
  /// Whether to take the cursor from another process that holds it.
  package var takes: Bool
  /// How long to wait for another process that holds it.
  package var patience: Duration

  package init(
    _ name: String, selection: [FeedSelectionName]? = nil, level: OldValueLevel = .keys,
    limits: CursorLimits? = nil, kept: CursorLimits? = nil, start: Start = .newest,
    takes: Bool = false, patience: Duration = .zero
  ) {
    self.name = name
    self.selection = selection
    self.level = level
    self.limits = limits
    self.kept = kept
    self.start = start
    self.takes = takes
    self.patience = patience
  }
}
