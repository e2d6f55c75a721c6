/// An index of a file: over a column, or of a unique rule.
package enum IndexName: Hashable, Sendable {
  case column(ClassID, ColumnID)
  case rule(ClassID, Int)

  package var classID: ClassID {
    switch self {
    case .column(let id, _), .rule(let id, _): id
    }
  }

  package var packed: PackedIndex {
    switch self {
    case .column(let id, let column): PackedIndex(id, column)
    case .rule(let id, let number): PackedIndex(id, uniqueRule: number)
    }
  }
}

/// The entries that the rows of a class require in its indexes.
extension SnapshotReader {
  /// The indexes of a class: those over columns, then those of unique rules.
  package func indexNames(of id: ClassID) -> [IndexName] {
    schema.indexed(in: id).map { .column(id, $0.id) }
      + schema[id].uniqueRules.indices.map { .rule(id, $0) }
  }

  /// Calls `body` with each entry of an object in an index, and the count for a link that an object
  /// may have more than once.
  func forEachEntry(
    of key: ObjectKey, in index: IndexName,
    _ body: (OrderKey, (link: LinkName, count: UInt64)?) throws(StorageError) -> Void
  ) throws(StorageError) {
    switch index {
    case .rule(let id, let number):
      let rule = schema[id].uniqueRules[number]
      if let found = try uniqueKey(of: key, in: id, rule) { try body(found.order, nil) }
    case .column(let id, let column):
      let described = schema[id][column]
      if described.mayRepeatLinks || described.collection != .none {
        for (target, count) in try links(from: described, at: key, in: id) {
          let name = LinkName(classID: id, column: column, owner: key, target: target)
          try body(orderKey(of: target, described), (name, count))
        }
      }
      guard described.collection == .none else { return }
      let value = try value(of: column, at: key, in: id) ?? .null
      if let order = described.ownOrder(of: value) { try body(order, nil) }
    }
  }

  /// True if two objects have equal values under a unique rule, or the same primary key.
  func areDoubles(
    _ first: ObjectKey, _ second: ObjectKey, in index: IndexName
  ) throws(StorageError) -> Bool {
    guard let columns = uniqueColumns(of: index),
      let mine = try uniqueKey(of: first, in: index.classID, columns)
    else { return false }
    return try uniqueKey(of: second, in: index.classID, columns) == mine
  }

  /// The columns whose values must be unique; nil for another kind of index.
  func uniqueColumns(of index: IndexName) -> [ColumnID]? {
    switch index {
    case .rule(let id, let number): schema[id].uniqueRules[number]
    case .column(let id, let column): schema[id].primaryKey == column ? [column] : nil
    }
  }

  /// The name of an index in messages.
  package func title(of index: IndexName) -> String {
    let described = schema[index.classID]
    switch index {
    case .rule(_, let number):
      let names = described.uniqueRules[number].map { described[$0].name }.joined(separator: ", ")
      return "the unique rule of class \(described.name) over \(names)"
    case .column(_, let column):
      return "the index over \(described.name).\(described[column].name)"
    }
  }
}

extension ColumnSchema {
  /// The key of a value in the index over its column; nil if it has no separate entry. Entries of
  /// links in columns that may have several come from the links.
  fileprivate func ownOrder(of value: Value) -> OrderKey? {
    switch value {
    case .object, .list, .map: nil
    case .null where type == .link: nil
    default: type != .any || filesAll ? OrderKey(value, type: type) : nil
    }
  }
}
