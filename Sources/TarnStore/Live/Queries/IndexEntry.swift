/// An entry of an index, as a copy that outlives the cursor's step.
struct IndexEntry {
  var value: OrderKey
  var key: ObjectKey
}

extension PackedIndex {
  /// The first entries of a range in a direction, at most a number of them. Rows can be read
  /// between two such walks, not within one: both need the reader's cursor.
  func entries(
    in range: PackedIndexRange, descending: Bool, most: Int, _ reader: SnapshotReader
  ) throws(StorageError) -> [IndexEntry] {
    var entries: [IndexEntry] = []
    try reader.withCursor { cursor throws(StorageError) in
      try unsafe forEach(in: range, descending: descending, &cursor) { bytes, key in
        entries.append(IndexEntry(value: unsafe OrderKey(encoded: bytes), key: key))
        return entries.count < most
      }
    }
    return entries
  }
}
