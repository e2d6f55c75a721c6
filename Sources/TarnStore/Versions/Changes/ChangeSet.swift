/// The changes between two versions, class by class, as sets of object keys.
///
/// A change set is a pure value. `merging` joins it with the next one and is associative, so a
/// reader that missed a thousand commits may fold their records in any grouping. In one write an
/// object can be inserted; deleted; touched in some columns; or, only if the integer primary key is
/// the object key, deleted *and* inserted: another object got the key. Such an object is replaced,
/// never modified. An object that is inserted and deleted again does not appear.
package struct ChangeSet: Equatable, Sendable {
  /// The version before the first change.
  package var from: Version
  /// The version after the last change: the set covers `(from, to]`.
  package var to: Version
  /// The classes with changes, in the order of their ids.
  package var classes: [ClassChanges]
  /// The schema changed incompatibly: everything counts as changed.
  package var schemaChanged: Bool

  package init(
    from: Version, to: Version, classes: [ClassChanges] = [], schemaChanged: Bool = false
  ) {
    assert(zip(classes, classes.dropFirst()).allSatisfy { $0.id < $1.id })
    self.from = from
    self.to = to
    self.classes = classes
    self.schemaChanged = schemaChanged
  }

  package var isEmpty: Bool { classes.isEmpty && !schemaChanged }

  /// True if objects of a class changed.
  package func contains(_ id: ClassID) -> Bool {
    let index = classes.firstIndex(ofID: id)
    return index < classes.count && classes[index].id == id
  }

  /// The changes of a class, nil if it has none.
  package subscript(id: ClassID) -> ClassChanges? {
    let index = classes.firstIndex(ofID: id)
    return index < classes.count && classes[index].id == id ? classes[index] : nil
  }
}

/// The changes of one class. Keys in `inserted` or `deleted` are in none of the other sets.
package struct ClassChanges: Equatable, Sendable {
  /// Keys with a changed value in one column.
  package struct Touched: Equatable, Sendable {
    package var column: ColumnID
    package var keys: KeySet
    package init(column: ColumnID, keys: KeySet) {
      self.column = column
      self.keys = keys
    }
  }

  /// Keys of this class to which a link in a column of a class (this one or another) was added or
  /// removed. Links of deleted objects count, so the deleted object need not be read.
  package struct BackTouched: Equatable, Sendable {
    package var origin: ClassID
    package var column: ColumnID
    package var keys: KeySet
    package init(origin: ClassID, column: ColumnID, keys: KeySet) {
      self.origin = origin
      self.column = column
      self.keys = keys
    }
  }

  package var id: ClassID
  package var inserted = KeySet()
  /// Empty if `isCleared`, which implies more.
  package var deleted = KeySet()
  /// In the order of the columns, none with an empty set.
  package var touched: [Touched] = []
  /// In the order of (origin, column), none with an empty set.
  package var backTouched: [BackTouched] = []
  /// How the positions moved in collections of objects that are touched in the collection's column.
  /// In the order of the names, without unchanged sequences: a column may be touched without a
  /// script.
  package var sequences: [SequenceChange] = []
  /// Every object that existed before was deleted; the existing ones are in `inserted`.
  package var isCleared = false

  package init(id: ClassID) { self.id = id }

  package var isEmpty: Bool {
    inserted.isEmpty && deleted.isEmpty && touched.isEmpty && backTouched.isEmpty
      && sequences.isEmpty && !isCleared
  }

  /// True if there are so many keys that the number of objects should be checked.
  var isLarge: Bool { keyCount > 4_096 }

  /// The number of keys inserted, deleted and, column by column, touched; `Int.max` on overflow.
  package var keyCount: Int {
    touched.reduce(saturatingSum(inserted.count, deleted.count)) {
      saturatingSum($0, $1.keys.count)
    }
  }

  /// The keys touched in that column.
  package func touchedKeys(in column: ColumnID) -> KeySet {
    for entry in touched where entry.column == column { return entry.keys }
    return KeySet()
  }

  /// The keys touched in any of the columns that the mask may contain. A mask does not distinguish
  /// high columns, so the result may be too large, never too small.
  package func touchedKeys(in columns: ColumnMask) -> KeySet {
    var result = KeySet()
    for entry in touched where columns.mayContain(entry.column) { result.formUnion(entry.keys) }
    return result
  }

  package func backTouchedKeys(from origin: ClassID, _ column: ColumnID) -> KeySet {
    for entry in backTouched where entry.origin == origin && entry.column == column {
      return entry.keys
    }
    return KeySet()
  }

  /// How that sequence changed; nil if its positions are unchanged and none was set.
  package func script(of name: SequenceName) -> EditScript? {
    let index = sequences.partitioningIndex { $0.name >= name }
    guard index < sequences.count, sequences[index].name == name else { return nil }
    return sequences[index].script
  }

  package var touchedColumns: ColumnMask {
    var mask = ColumnMask()
    for entry in touched { mask.insert(entry.column) }
    return mask
  }

  /// True if the key now identifies another object than before. In a cleared class this may apply
  /// to any inserted key.
  package func isReplaced(_ key: ObjectKey) -> Bool {
    inserted.contains(key) && (isCleared || deleted.contains(key))
  }
}

/// A set of columns in one word: exact for the first 63, one bit for all others.
package struct ColumnMask: Equatable, Sendable {
  package var bits: UInt64
  package init(bits: UInt64 = 0) { self.bits = bits }
  package static let all = ColumnMask(bits: .max)

  private static func bit(_ column: ColumnID) -> UInt64 {
    1 << UInt64(min(column.rawValue, 63))
  }
  package mutating func insert(_ column: ColumnID) { bits |= Self.bit(column) }
  package func mayContain(_ column: ColumnID) -> Bool { bits & Self.bit(column) != 0 }
  package mutating func formUnion(_ other: ColumnMask) { bits |= other.bits }
  package var isEmpty: Bool { bits == 0 }
}

extension [ClassChanges] {
  /// The position of that class, or where it would be inserted.
  func firstIndex(ofID id: ClassID) -> Int {
    partitioningIndex { $0.id >= id }
  }
}

extension ClassChanges {
  /// True if the object was touched or deleted, also with all of its class.
  package func concerns(_ key: ObjectKey) -> Bool {
    isCleared || deleted.contains(key) || touched.contains { $0.keys.contains(key) }
  }

  /// The objects touched or deleted, if iterating over them is faster than checking each of `count`
  /// known ones; otherwise nil.
  package func concernedKeys(ifFewerThan count: Int) -> KeySet? {
    if isCleared { return nil }
    let most = touched.reduce(deleted.count) { max($0, $1.keys.count) }
    if most >= count { return nil }
    var keys = deleted
    for entry in touched { keys.formUnion(entry.keys) }
    return keys.count < count ? keys : nil
  }
}

extension ChangeSet {
  /// Traps if the set is inconsistent. For tests.
  package func checkInvariants() {
    require(from <= to)
    requireAscending(classes.map(\.id))
    for entry in classes { entry.checkInvariants() }
  }
}

extension ClassChanges {
  fileprivate func checkInvariants() {
    require(!isEmpty, "a class in a change set has changes")
    require(!isCleared || deleted.isEmpty)
    inserted.checkInvariants()
    deleted.checkInvariants()
    let gone = inserted.union(deleted)
    requireAscending(touched.map(\.column))
    require(
      zip(backTouched, backTouched.dropFirst()).allSatisfy {
        ($0.origin, $0.column) < ($1.origin, $1.column)
      })
    for keys in touched.map(\.keys) + backTouched.map(\.keys) {
      keys.checkInvariants()
      require(!keys.isEmpty && !keys.intersects(gone))
    }
    requireAscending(sequences.map(\.name))
    for change in sequences {
      change.script.checkInvariants()
      require(!change.script.isIdentity, "a sequence in a change set has changes")
      require(touchedKeys(in: change.name.column).contains(change.name.key))
    }
  }
}

private func requireAscending<T: Comparable>(_ items: [T]) {
  require(zip(items, items.dropFirst()).allSatisfy { $0 < $1 })
}
