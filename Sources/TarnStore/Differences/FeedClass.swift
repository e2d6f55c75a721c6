/// What a difference between two versions says of one class of a selection. The sets have no key in
/// common, except that `gone` and `deleted` may.
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
  /// Objects that came, and match.
  package var inserted = KeySet()
  /// Objects that have the primary key of a deleted one, and match.
  package var replaced = KeySet()
  /// Objects that changed within the selection, and match.
  package var modified = KeySet()
  /// Objects that match and may not have matched before, because of something else: of what they
  /// link to, or of a property that is not reported.
  package var entered = KeySet()
  /// Objects that exist and do not match, and may have matched before.
  package var left = KeySet()
  /// Objects that do not exist any more, and whose primary key no other object got.
  package var deleted = KeySet()
  /// Objects that came or changed, and are not in the newest version any more.
  package var gone = KeySet()
  /// All objects that existed before are deleted; `deleted` has those that are known.
  package var isCleared = false
  /// The primary keys of objects that do not exist any more, as far as they are known.
  package var primaryKeys: [ObjectKey: Value] = [:]
  /// What was assigned in modified objects, in the order of the columns. Objects embedded in a
  /// property belong to it.
  package var assigned: [Assigned] = []
  /// The same for a selection with paths.
  package var along: [AlongPath] = []
  /// How the collections of modified objects changed, in the order of their names.
  package var sequences: [SequenceChange] = []

  /// Conditions were tested in the newest version, and objects that do not exist there are gone.
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
