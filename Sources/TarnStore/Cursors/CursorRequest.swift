/// How to open a cursor.
package struct CursorRequest: Sendable {
  package var name: String
  /// Nil for the whole file.
  package var selection: [FeedSelectionName]?
  package var level: BeforeLevel
  /// The names of further classes that the selection reads; see `CursorRecord.related`.
  package var related: [String] = []
  /// Nil for those that the cursor has, and for the standard ones of a new one.
  package var limits: CursorLimits?
  package var kept: CursorLimits?
  /// Whether a new cursor begins with a snapshot; if not, with the changes from now on.
  package var startsWithSnapshot: Bool
  /// Whether a cursor that another process has is taken from it.
  package var takes: Bool
  /// How long to wait for another process that has it.
  package var patience: Duration

  package init(
    _ name: String, selection: [FeedSelectionName]? = nil, level: BeforeLevel = .keys,
    limits: CursorLimits? = nil, kept: CursorLimits? = nil, startsWithSnapshot: Bool = false,
    takes: Bool = false, patience: Duration = .zero
  ) {
    self.name = name
    self.selection = selection
    self.level = level
    self.limits = limits
    self.kept = kept
    self.startsWithSnapshot = startsWithSnapshot
    self.takes = takes
    self.patience = patience
  }
}
