/// The result of rebuilding indexes.
package struct Reindexing: Sendable {
  /// The number of entries in the rebuilt indexes.
  package fileprivate(set) var entries = 0
  /// Sentences about objects that violate a unique rule, or have the same primary key. If there are
  /// any, nothing was written.
  package fileprivate(set) var doubles: [String] = []
}

extension Store {
  /// How many entries are collected before they are written, at some forty bytes each plus the
  /// bytes of their values, 128 at most.
  private static let batch = 1 << 20

  /// Rebuilds indexes from the rows, in one commit. The caller has the write lock.
  ///
  /// This makes neither a version nor a change record: no object changed, so observers are not
  /// called. Readers of an older state keep using the indexes of that state.
  ///
  /// - Throws: nothing was written, unless the code is `.outcomeUnknown`.
  package func reindex(_ indexes: [IndexName]) throws(StorageError) -> Reindexing {
    try environment.checkIdentityBeforeCommit()
    let snapshot = try newestSnapshot()
    let reader = try SnapshotReader(snapshot)
    var result = Reindexing()
    do throws(StorageError) {
      try environment.write { transaction throws(StorageError) in
        FaultPoint.hit("reindex.begun")
        let found = try HeadRecord.read(from: transaction)
        guard found.isSameCommit(as: snapshot.head) else { throw conflict(found) }
        for index in indexes {
          try Self.rebuild(index, reader, transaction)
          var cursor = try Cursor(transaction)
          result.entries += try index.packed.count(&cursor)
          try IndexDoubles.find(in: index, reader, &cursor) { first, other throws(StorageError) in
            result.doubles.append(try reader.sentence(about: first, other, doubledIn: index))
          }
        }
        FaultPoint.hit("reindex.rows")
        guard result.doubles.isEmpty else {
          throw StorageError(.notUnique, operation: "reindex", path: path, detail: "")
        }
      }
    } catch {
      guard error.code == .notUnique else { throw error }
    }
    FaultPoint.hit("reindex.done")
    return result
  }

  private static func rebuild(
    _ index: IndexName, _ reader: SnapshotReader, _ transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    switch index {
    case .column(let id, let column): try transaction.deleteIndex(id, column)
    case .rule: try index.packed.removeAll(in: transaction)
    }
    var changes = PackedIndexChanges()
    func put() throws(StorageError) {
      changes.sort()
      try index.packed.apply(changes, in: transaction)
      changes = PackedIndexChanges()
    }
    for key in try reader.allKeys(in: index.classID) {
      try reader.forEachEntry(of: key, in: index) { order, link throws(StorageError) in
        changes.add(order, key)
        if let (link, count) = link { try LinkCounts.put(count, of: link, in: transaction) }
      }
      if changes.count >= batch { try put() }
    }
    try put()
  }
}

extension SnapshotReader {
  fileprivate func sentence(
    about first: ObjectKey, _ other: ObjectKey, doubledIn index: IndexName
  ) throws(StorageError) -> String {
    let described = schema[index.classID]
    var values: [String] = []
    for column in uniqueColumns(of: index) ?? [] {
      let text = try value(of: column, at: first, in: index.classID)?.predicateText ?? ""
      values.append("\(described[column].name) \(text.count > 80 ? text.prefix(80) + "…" : text)")
    }
    return "two objects of class \(described.name), those with the object keys \(first.rawValue) "
      + "and \(other.rawValue), have the same \(values.joined(separator: ", "))"
  }
}
