/// The objects of one class before some commits, as far as change records keep them.
package struct ClassOldValues: Equatable, Sendable {
  package let id: ClassID
  /// How much is kept: the lowest level of all commits.
  package internal(set) var level: OldValueLevel
  /// The objects that existed before and were deleted or replaced.
  package internal(set) var deleted = KeySet()
  /// The primary keys of deleted objects, if no other values of them are kept: see
  /// `primaryKey(of:)`.
  package internal(set) var primaryKeys: OldColumn?
  /// In the order of the columns. A deleted object without a value in a column had null there, or,
  /// if the column is not optional, zero.
  package internal(set) var columns: [OldColumn] = []
  /// In the order of the names. A collection of a deleted object without an entry was empty.
  package internal(set) var sequences: [OldSequence] = []

  init(_ id: ClassID, _ level: OldValueLevel) {
    self.id = id
    self.level = level
  }

  /// The former value of a property, if it is kept.
  package func value(of column: ColumnID, at key: ObjectKey) -> OldValue? {
    columns[column: column]?[key]
  }

  /// The primary key of a deleted object. Nil for a class without one, and if it is unknown.
  package func primaryKey(of key: ObjectKey, _ described: ClassSchema) -> OldValue? {
    guard let column = described.primaryKey, deleted.contains(key), level >= .keys else {
      return nil
    }
    if described.keyIsPrimary { return .value(.int(key.rawValue)) }
    return primaryKeys?[key] ?? value(of: column, at: key) ?? .value(.null)
  }
}

extension ClassOldValues {
  /// Adds the values that a later commit kept, if their objects existed before the first one.
  ///
  /// - Parameter changes: the changes of the class up to the later commit.
  mutating func merge(_ later: ClassOldValues, after changes: ClassChanges?) {
    level = min(level, later.level)
    let (inserted, gone) = (changes?.inserted ?? KeySet(), deleted)
    // Values of an object inserted meanwhile do not count; those of a deleted object are complete.
    func counts(_ key: ObjectKey) -> Bool { !inserted.contains(key) && !gone.contains(key) }
    deleted.formUnion(later.deleted.subtracting(inserted))
    if let others = later.primaryKeys {
      primaryKeys = (primaryKeys ?? OldColumn(others.column)).merging(others, where: counts)
    }
    columns = columns.merging(later.columns, where: counts)
    var merged: [OldSequence] = []
    var mine = sequences[...]
    for theirs in later.sequences where counts(theirs.name.key) {
      while let next = mine.first, next.name < theirs.name { merged.append(mine.removeFirst()) }
      let earlier = mine.first?.name == theirs.name ? mine.removeFirst() : nil
      var both = theirs.before(changes?.script(of: theirs.name), earlier)
      // Whether it is complete must not depend on how the commits are grouped.
      both.isWhole = both.elements.count == both.oldCount
      // Elements inserted only meanwhile are dropped.
      if !both.elements.isEmpty { merged.append(both) }
    }
    sequences = merged + mine
  }
}
