/// Reads indexes, including the entries of an open write.
///
/// A write keeps its new entries in an unordered list. So within a write an index leads to more
/// rows than requested: all rows in which the write set that column are included, and each has to
/// be tested.
extension StoreRows {
  /// False in a migration, whose rows are not those of the file.
  var hasIndexes: Bool { session == nil || session?.schema === reader.schema }

  /// True if the open write has touched the class.
  func isEdited(_ id: ClassID) -> Bool { session?.classes[Int(id.rawValue)] != nil }

  func edit(_ entries: IndexEntries) -> ClassEdit? {
    session?.classes[Int(entries.index.classID.rawValue)]
  }

  /// The maximum number of rows that the entries lead to; may stop counting above `most`.
  func count(of entries: IndexEntries, atMost most: Int) throws(StorageError) -> Int {
    var sum = 0
    if let edit = edit(entries) {
      // Entries of unique rules are made only at the end.
      guard entries.index.isOfColumn else { return .max }
      sum = edit.indexes[entries.columns[0].index]?.changes.count ?? 0
      if edit.isCleared { return sum }
    }
    for range in entries.ranges where sum <= most {
      sum += try reader.withCursor { cursor throws(StorageError) in
        try entries.index.count(in: range, atMost: most - sum, &cursor)
      }
    }
    return sum
  }

  /// Calls `body` with the rows that the entries lead to, some more than once.
  func forEachKey(
    of entries: IndexEntries, _ body: (ObjectKey) -> Void
  ) throws(StorageError) {
    if let edit = edit(entries) {
      edit.indexes[entries.columns[0].index]?.changes.forEachAdded(body)
      if edit.isCleared { return }
    }
    for range in entries.ranges {
      try reader.withCursor { cursor throws(StorageError) in
        try entries.index.forEachKey(in: range, &cursor) { key in
          body(key)
          return true
        }
      }
    }
  }
}
