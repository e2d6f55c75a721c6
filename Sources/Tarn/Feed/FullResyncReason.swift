/// Why a cursor cannot report the changes: its consumer discards its copy and begins with the
/// objects of a snapshot.
public enum FullResyncReason: Sendable, Hashable, CaseIterable {
  /// The cursor was created with `startingAt: .snapshot`.
  case snapshot
  /// Records that the cursor needs were removed, because it had fallen behind its limit.
  case expired
  /// A change record that the cursor needs is damaged.
  case unreadable
  /// The position comes from another file: this one is a copy or was restored to an older state.
  case restored
  /// A migration changed classes or properties.
  case schema
  /// The cursor was opened with another selection than before.
  case selection
}
