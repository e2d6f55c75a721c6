/// The former values of one column, by ascending object keys.
package struct FormerColumn: Equatable, Sendable {
  package let column: ColumnID
  package private(set) var keys: [ObjectKey] = []
  package private(set) var values: [FormerValue] = []

  package init(_ column: ColumnID) { self.column = column }

  package var isEmpty: Bool { keys.isEmpty }

  /// - Precondition: the key follows all others.
  mutating func append(_ key: ObjectKey, _ value: FormerValue) {
    assert(keys.last.map { $0 < key } ?? true)
    keys.append(key)
    values.append(value)
  }

  package subscript(key: ObjectKey) -> FormerValue? {
    let index = keys.partitioningIndex { $0 >= key }
    return index < keys.count && keys[index] == key ? values[index] : nil
  }

  /// These values, followed by the values of a later commit for objects for which `counts` is true.
  func merging(_ later: FormerColumn, where counts: (ObjectKey) -> Bool) -> FormerColumn {
    var result = FormerColumn(column)
    var mine = 0
    for (key, value) in zip(later.keys, later.values) {
      while mine < keys.count, keys[mine] < key {
        result.append(keys[mine], values[mine])
        mine += 1
      }
      if mine < keys.count, keys[mine] == key { continue }
      if counts(key) { result.append(key, value) }
    }
    while mine < keys.count {
      result.append(keys[mine], values[mine])
      mine += 1
    }
    return result
  }
}

extension [FormerColumn] {
  /// The values of a column; nil without any.
  package subscript(column column: ColumnID) -> FormerColumn? {
    let index = partitioningIndex { $0.column >= column }
    return index < count && self[index].column == column ? self[index] : nil
  }

  func merging(_ later: [FormerColumn], where counts: (ObjectKey) -> Bool) -> [FormerColumn] {
    if later.isEmpty { return self }
    var result: [FormerColumn] = []
    var mine = 0
    for theirs in later {
      while mine < count, self[mine].column < theirs.column {
        result.append(self[mine])
        mine += 1
      }
      let isShared = mine < count && self[mine].column == theirs.column
      let merged = (isShared ? self[mine] : FormerColumn(theirs.column))
        .merging(theirs, where: counts)
      if isShared { mine += 1 }
      if !merged.isEmpty { result.append(merged) }
    }
    return result + self[mine...]
  }
}
