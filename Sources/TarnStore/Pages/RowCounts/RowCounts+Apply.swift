/// Applying sorted changes to row counts: each page that they concern is read once and written
/// once. A page that became too long is split: filled, if its new clusters are at its end,
/// otherwise halved. One that became short is merged with the page after it.
extension RowCounts {
  private static let sparseCount = RowCountPage.entryCountMax / 5
  private static let neighbourCountMax = RowCountPage.entryCountMax / 2

  /// Records new numbers of rows: 0 for a removed cluster. `changes` are sorted by cluster, each
  /// cluster once, unless rows of the file are in wrong clusters. A removed cluster that was never
  /// recorded does no harm.
  /// - Throws: `.corrupted` if a page that the changes concern is damaged; the transaction must
  ///   then be aborted, as after any other error.
  package func apply(
    _ changes: [RowCount], in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    guard zip(changes, changes.dropFirst()).allSatisfy({ $0.first < $1.first }) else {
      throw RowCountPage.damaged("clusters overlap")
    }
    guard !changes.isEmpty else { return }
    var cursor = try Cursor(transaction)
    var next = 0
    while next < changes.count {
      next = try step(changes, from: next, &cursor, transaction)
    }
  }

  /// Applies the changes from `first` on that belong to one page, and returns the index of the
  /// next.
  private func step(
    _ changes: [RowCount], from first: Int, _ cursor: inout Cursor,
    _ transaction: borrowing WriteTransaction
  ) throws(StorageError) -> Int {
    guard try seek(changes[first].first, &cursor) else {
      try write(changes.filter { $0.rows > 0 }, replacing: [], filling: true, transaction)
      return changes.count
    }
    var old = try load(cursor)
    var keys = [old[0].first]
    var end = try endOfPage(changes, from: first + 1, &cursor)
    let isAppending = changes[first].first > old[old.count - 1].first
    var entries = Self.merged(old, changes[first..<end])
    while entries.count < Self.sparseCount, entries.count < old.count, !entries.isEmpty {
      guard try seek(keys[keys.count - 1], &cursor), try cursor.next(),
        unsafe owns(cursor.key)
      else { break }
      old = try load(cursor)
      guard old.count <= Self.neighbourCountMax else { break }
      keys.append(old[0].first)
      let next = try endOfPage(changes, from: end, &cursor)
      let before = entries.count
      entries += Self.merged(old, changes[end..<next])
      end = next
      if entries.count >= before + old.count { break }
    }
    try write(entries, replacing: keys, filling: isAppending, transaction)
    return end
  }

  /// The clusters of the page under the cursor, checked.
  private func load(_ cursor: borrowing Cursor) throws(StorageError) -> [RowCount] {
    let page = try unsafe RowCountPage(validating: cursor.value)
    try page.verify()
    guard unsafe first(cursor.key) == page.first(0) else {
      throw RowCountPage.damaged("it is stored under another cluster's key")
    }
    return (0..<page.count).map { RowCount(first: page.first($0), rows: page.rows($0)) }
  }

  /// The first change from `low` on that belongs to a later page than the one at the cursor, which
  /// moves forward.
  private func endOfPage(
    _ changes: [RowCount], from low: Int, _ cursor: inout Cursor
  ) throws(StorageError) -> Int {
    guard low < changes.count, try cursor.next(), unsafe owns(cursor.key),
      let bound = unsafe first(cursor.key)
    else { return changes.count }
    return changes[low...].firstIndex { $0.first >= bound } ?? changes.count
  }

  private static func merged(
    _ old: [RowCount], _ changes: ArraySlice<RowCount>
  ) -> [RowCount] {
    var result: [RowCount] = []
    result.reserveCapacity(old.count + changes.count)
    var from = 0
    for change in changes {
      while from < old.count, old[from].first < change.first {
        result.append(old[from])
        from += 1
      }
      if from < old.count, old[from].first == change.first { from += 1 }
      if change.rows > 0 { result.append(change) }
    }
    result += old[from...]
    return result
  }

  private func write(
    _ entries: [RowCount], replacing keys: [ObjectKey], filling: Bool,
    _ transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    for key in keys where key != entries.first?.first {
      _ = try unsafe self.key(first: key).withBytes {
        key throws(StorageError) -> Bool in
        try unsafe transaction.delete(key)
      }
    }
    let pageCount = (entries.count + RowCountPage.entryCountMax - 1) / RowCountPage.entryCountMax
    guard pageCount > 0 else { return }
    let share = filling ? RowCountPage.entryCountMax : (entries.count + pageCount - 1) / pageCount
    for start in stride(from: 0, to: entries.count, by: share) {
      let run = entries[start..<min(start + share, entries.count)]
      let page = RowCountPage.encode(run)
      let treeKey = key(first: entries[start].first)
      try unsafe treeKey.withBytes { key throws(StorageError) in
        try unsafe page.withUnsafeBufferPointer { page throws(StorageError) in
          try unsafe transaction.put(UnsafeRawBufferPointer(page), forKey: key)
        }
      }
    }
  }
}
