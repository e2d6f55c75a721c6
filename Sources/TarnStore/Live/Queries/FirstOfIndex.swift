/// The first rows in the order of an index, read from one end of it without the others.
///
/// If the entries do not determine which rows match, each row is tested. That pays off while many
/// of them match: it ends as soon as a scan is expected to take less time.
struct FirstOfIndex {
  private let entries: IndexEntries
  private let isAscending: Bool
  private let count: Int
  private let predicate: ResolvedPredicate
  /// The maximum number of rows to test; nil if all entries match.
  private let testsMost: Int?
  private let rows: Rows

  private var found: [ObjectKey] = []
  private var tested = 0

  /// - Parameter entries: the entries of an index over one column, in ascending ranges.
  init(
    _ count: Int, of entries: IndexEntries, isAscending: Bool, testing predicate: ResolvedPredicate,
    atMost testsMost: Int?, _ rows: Rows
  ) {
    self.count = count
    self.entries = entries
    self.isAscending = isAscending
    self.predicate = predicate
    self.testsMost = testsMost
    self.rows = rows
  }

  /// Nil if the index has a truncated value, or too few rows match.
  mutating func keys() throws(StorageError) -> [ObjectKey]? {
    let ranges = entries.ranges
    for range in isAscending ? ranges : ranges.reversed() where found.count < count {
      guard try isAscending ? ascend(range) : descend(range) else { return nil }
    }
    return Array(found.prefix(count))
  }

  /// Adds matches until there are enough; false if it was abandoned.
  private mutating func ascend(_ range: PackedIndexRange) throws(StorageError) -> Bool {
    var rest = range
    while let batch = try batch(of: rest, descending: false) {
      for entry in batch where found.count < count {
        if entry.value.isTruncated { return false }
        if try matches(entry.key) { found.append(entry.key) }
      }
      guard let last = batch.last, found.count < count else { break }
      rest = rest.beyond(last.value, last.key, descending: false)
      if !isWorthwhile { return false }
    }
    return true
  }

  /// The same from the other end. Rows with equal values are ordered by ascending key in either
  /// direction, so those of one value are reversed when it ends.
  private mutating func descend(_ range: PackedIndexRange) throws(StorageError) -> Bool {
    var rest = range
    var value: OrderKey?
    var start = found.count
    while let batch = try batch(of: rest, descending: true) {
      for entry in batch {
        if entry.value.isTruncated { return false }
        if entry.value != value {
          found[start...].reverse()
          if found.count >= count { return true }
          (value, start) = (entry.value, found.count)
        }
        if try matches(entry.key) { found.append(entry.key) }
        if found.count > count {
          // One value has more rows than are missing: the wanted ones are at its other end.
          found.removeSubrange(start...)
          return try ascend(.equal(entry.value))
        }
      }
      guard let last = batch.last else { break }
      rest = rest.beyond(last.value, last.key, descending: true)
      if !isWorthwhile { return false }
    }
    found[start...].reverse()
    return true
  }

  private func batch(
    of range: PackedIndexRange, descending: Bool
  ) throws(StorageError) -> [IndexEntry]? {
    let most = testsMost == nil ? min(count, 1023) + 1 : 64
    let batch = try entries.index.entries(
      in: range, descending: descending, most: most, rows.reader)
    return batch.isEmpty ? nil : batch
  }

  private mutating func matches(_ key: ObjectKey) throws(StorageError) -> Bool {
    if testsMost == nil { return true }
    tested += 1
    return try predicate.matches(key, in: rows)
  }

  /// False if, at the rate of matches so far, more rows than allowed would have to be tested. The
  /// first rows are not representative: rows with equal values often have much in common.
  private var isWorthwhile: Bool {
    guard let testsMost else { return true }
    return 4 * tested <= testsMost || tested * count <= testsMost * (found.count + 1)
  }
}

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
