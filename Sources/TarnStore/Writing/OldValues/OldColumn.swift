/// The former values of one column, by ascending object keys.
package struct OldColumn: Equatable, Sendable {
  package let column: ColumnID
  package private(set) var keys: [ObjectKey] = []
  package private(set) var values: [OldValue] = []

  package init(_ column: ColumnID) { self.column = column }

  package var isEmpty: Bool { keys.isEmpty }

  /// - Precondition: the key follows all others.
  mutating func append(_ key: ObjectKey, _ value: OldValue) {
    assert(keys.last.map { $0 < key } ?? true)
    keys.append(key)
    values.append(value)
  }

  package subscript(key: ObjectKey) -> OldValue? {
    let index = keys.partitioningIndex { $0 >= key }
    return index < keys.count && keys[index] == key ? values[index] : nil
  }

  /// These values, followed by the values of a later commit for objects for which `counts` is true.
  func merging(_ later: OldColumn, where counts: (ObjectKey) -> Bool) -> OldColumn {
    var result = OldColumn(column)
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

extension [OldColumn] {
  /// The values of a column; nil without any.
  package subscript(column column: ColumnID) -> OldColumn? {
    let index = partitioningIndex { $0.column >= column }
    return index < count && self[index].column == column ? self[index] : nil
  }

  func merging(_ later: [OldColumn], where counts: (ObjectKey) -> Bool) -> [OldColumn] {
    if later.isEmpty { return self }
    var result: [OldColumn] = []
    var mine = 0
    for theirs in later {
      while mine < count, self[mine].column < theirs.column {
        result.append(self[mine])
        mine += 1
      }
      let isShared = mine < count && self[mine].column == theirs.column
      let merged = (isShared ? self[mine] : OldColumn(theirs.column))
        .merging(theirs, where: counts)
      if isShared { mine += 1 }
      if !merged.isEmpty { result.append(merged) }
    }
    return result + self[mine...]
  }
}

/// A value before a commit, as a change record has it.
package enum OldValue: Hashable, Sendable {
  /// A nested list or map keeps the id that it had.
  case value(Value)
  /// A string or data stored apart from the record of that version.
  case long(Version, number: UInt32, byteCount: Int, isString: Bool)

  /// A longer string or data is stored apart.
  static let inlineBytesMax = 256

  /// The bytes of a value that must be stored apart; nil for others.
  var longBytes: (bytes: [UInt8], isString: Bool)? {
    switch self {
    case .value(.string(let text)) where text.utf8.count > Self.inlineBytesMax:
      (Array(text.utf8), true)
    case .value(.data(let bytes)) where bytes.count > Self.inlineBytesMax: (bytes, false)
    case .value, .long: nil
    }
  }

  /// The value itself; a long one is read.
  package func resolved(in transaction: ReadTransaction) throws(StorageError) -> Value {
    switch self {
    case .value(let value): return value
    case .long(let version, let number, let byteCount, let isString):
      var cursor = try Cursor(transaction)
      let bytes = try Pieces.oldValue(version, number).read(byteCount: byteCount, &cursor)
      return isString ? .string(String(decoding: bytes, as: UTF8.self)) : .data(bytes)
    }
  }

  /// Reads a long value and compares its checksum.
  package func check(in transaction: ReadTransaction) throws(StorageError) {
    guard case .long(let version, let number, let byteCount, _) = self else { return }
    var cursor = try Cursor(transaction)
    _ = try Pieces.oldValue(version, number).check(byteCount: byteCount, &cursor)
  }
}
