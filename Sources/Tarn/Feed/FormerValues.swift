import TarnStore

/// How much of the state before a commit its change record keeps for a cursor, from the opening of
/// the cursor on. Each level includes the ones before it, and makes commits and records larger.
public enum FormerValues: Sendable, Hashable, CaseIterable {
  /// The primary keys of deleted objects.
  case keys
  /// All values of deleted objects.
  case deletedObjects
  /// The old values of modified properties, too. With them an object is told as left only if it
  /// met the cursor's condition before.
  case all

  var level: BeforeLevel {
    switch self {
    case .keys: .keys
    case .deletedObjects: .deletedObjects
    case .all: .oldValues
    }
  }
}
