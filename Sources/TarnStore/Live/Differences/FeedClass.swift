/// The difference between two versions for one class of a selection. The sets are disjoint, except
/// that `gone` and `deleted` may overlap.
package struct FeedClass: Sendable {
  /// The properties of objects that changed through one column.
  package struct Assigned: Sendable {
    package var column: ColumnID
    package var keys: KeySet
  }

  /// The same for one path of the selection.
  package struct AlongPath: Sendable {
    package var path: ScopePath
    package var keys: KeySet
  }

  package let id: ClassID
  /// Objects that were added, and match.
  package var inserted = KeySet()
  /// Objects that have the primary key of a deleted one that may have matched, and match.
  package var replaced = KeySet()
  /// Objects that changed within the selection, match, and matched before.
  package var modified = KeySet()
  /// Objects that match and might not have matched before, whatever else changed in them.
  package var entered = KeySet()
  /// Objects that exist and do not match, and may have matched before.
  package var left = KeySet()
  /// Objects that no longer exist, and whose primary key no other object has.
  package var deleted = KeySet()
  /// Objects that were added or changed, and are no longer in the newest version.
  package var gone = KeySet()
  /// All objects that existed before are deleted; `deleted` has the known ones.
  package var isCleared = false
  /// The primary keys of objects that no longer exist, as far as known.
  package var primaryKeys: [ObjectKey: Value] = [:]
  /// The columns assigned in modified objects, in order. Embedded objects belong to the property
  /// that contains them.
  package var assigned: [Assigned] = []
  /// The paths with changes, for a selection with paths.
  package var along: [AlongPath] = []
  /// How the collections of modified objects changed, in the order of their names.
  package var sequences: [SequenceChange] = []

  /// Conditions were tested in the newest version, and objects that no longer exist there are
  /// `gone`.
  package var isOfNewest = false
  /// The version after the changes.
  package internal(set) var end = Version.zero

  package init(id: ClassID) { self.id = id }

  package var isEmpty: Bool {
    inserted.isEmpty && replaced.isEmpty && modified.isEmpty && entered.isEmpty && left.isEmpty
      && deleted.isEmpty && gone.isEmpty && !isCleared
  }

  /// The columns assigned in an object.
  package func columns(assignedIn key: ObjectKey) -> [ColumnID] {
    assigned.filter { $0.keys.contains(key) }.map(\.column)
  }

  /// The script of a collection of an object; nil if its positions did not change, or too much.
  package func script(of column: ColumnID, in key: ObjectKey) -> EditScript? {
    let name = SequenceName(column: column, key: key)
    let index = sequences.partitioningIndex { $0.name >= name }
    guard index < sequences.count, sequences[index].name == name else { return nil }
    return sequences[index].script
  }
}
