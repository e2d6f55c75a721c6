/// The first row in the order of an index, or the last: found among the entries at the end of the
/// index, and in an open write among the entries that it adds.
struct EndOfIndex {
  private let index: PackedIndex
  private let column: ColumnID
  private let range: PackedIndexRange
  private let isAscending: Bool
  private let isLast: Bool
  private let rows: Rows
  private let edit: ClassEdit?

  /// - Parameter entries: one range of an index over one column.
  init(_ entries: IndexEntries, isAscending: Bool, isLast: Bool, _ rows: Rows) {
    index = entries.index
    column = entries.columns[0]
    range = entries.ranges[0]
    self.isAscending = isAscending
    self.isLast = isLast
    self.rows = rows
    edit = rows.edit(entries)
  }

  /// `.some(nil)` without rows, nil if all rows are needed to find it.
  func key() throws(StorageError) -> ObjectKey?? {
    var end: IndexEntry?
    if edit?.isCleared != true {
      guard let stored = try storedEnd() else { return nil }
      end = stored.first
    }
    guard let changes = edit?.index(column)?.changes else { return .some(end?.key) }
    var isKnown = true
    try unsafe changes.forEachAddition { (bytes, key) throws(StorageError) in
      guard unsafe isKnown && range.contains(bytes) && isBeyond(end, bytes, key) else { return }
      isKnown = bytes.count < OrderKey.byteCountMax
      let value = unsafe OrderKey(encoded: bytes)
      if isKnown, try isCurrent(value, key) { end = IndexEntry(value: value, key: key) }
    }
    return isKnown ? .some(end?.key) : nil
  }

  /// The entry at the end of the index, in an array of none or one; nil for a truncated value.
  private func storedEnd() throws(StorageError) -> [IndexEntry]? {
    guard let found = try firstCurrent(in: range, descending: isAscending == isLast) else {
      return nil
    }
    guard let end = found.first, !isAscending else { return found }
    // Rows with equal values are ordered by ascending key in either direction.
    return try firstCurrent(in: .equal(end.value), descending: isLast)
  }

  /// The first entry in that direction whose row still has the value.
  private func firstCurrent(
    in range: PackedIndexRange, descending: Bool
  ) throws(StorageError) -> [IndexEntry]? {
    let delta = edit?.index(column)
    var rest = delta?.rest(of: range, descending: descending) ?? range
    var count = delta == nil ? 1 : 16
    while true {
      let entries = try index.entries(
        in: rest, descending: descending, most: count, rows.reader)
      for (number, entry) in entries.enumerated() {
        if entry.value.isTruncated { return nil }
        guard try isCurrent(entry.value, entry.key) else { continue }
        if number > 0 { pass(entries[number - 1]) }
        return [entry]
      }
      if let last = entries.last { pass(last) }
      if entries.count < count { return [] }
      count = min(4 * count, 4096)
    }

    func pass(_ entry: IndexEntry) {
      rest = rest.beyond(entry.value, entry.key, descending: descending)
      delta?.pass(to: rest, of: range, descending: descending)
    }
  }

  /// True if the row exists and has that value.
  private func isCurrent(_ value: OrderKey, _ key: ObjectKey) throws(StorageError) -> Bool {
    guard edit != nil, let session = rows.session else { return true }
    let id = index.classID
    guard let now = try session.value(of: column, at: key, in: id) else { return false }
    return OrderKey(now, type: rows.schema[id][column].type) == value
  }

  /// True if an entry is nearer to the end than the one found so far.
  private func isBeyond(
    _ end: IndexEntry?, _ bytes: UnsafeRawBufferPointer, _ key: ObjectKey
  ) -> Bool {
    guard let end else { return true }
    let order = unsafe end.value.withBytes { unsafe compareBytes(bytes, $0) }
    let comesFirst = order != 0 ? (order < 0) == isAscending : key < end.key
    return comesFirst != isLast
  }
}
