/// How much of the state before a commit its change record keeps, of one class. Each level includes
/// the ones before it.
package enum BeforeLevel: UInt8, Sendable, CaseIterable, Comparable {
  case none = 0
  /// The primary keys of deleted objects.
  case keys = 1
  /// All values of deleted objects.
  case deletedObjects = 2
  /// The old values of modified properties, too.
  case oldValues = 3

  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
