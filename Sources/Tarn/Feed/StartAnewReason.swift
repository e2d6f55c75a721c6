/// Why a cursor cannot report what changed: its consumer drops what it has and begins with the
/// objects of a snapshot.
public enum StartAnewReason: Sendable, Hashable, CaseIterable {
  /// The cursor was made with `startingAt: .snapshot`.
  case snapshot
  /// What the cursor needs was removed, because it had fallen behind its limits.
  case expired
  /// A change record that the cursor needs is damaged.
  case unreadable
  /// The file is not the one that the position is from: a copy, or a restored older state of it.
  case restored
  /// A migration changed classes or properties.
  case schema
  /// The cursor was opened with another selection than before.
  case selection
}
