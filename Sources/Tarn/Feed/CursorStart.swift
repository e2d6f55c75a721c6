/// Where a new cursor begins.
public enum CursorStart: Sendable, Hashable {
  /// With the changes after the newest version: for consumers that need no earlier state.
  case newest
  /// With the objects of a snapshot: the first batch says ``StartAnewReason/snapshot``.
  case snapshot
}
