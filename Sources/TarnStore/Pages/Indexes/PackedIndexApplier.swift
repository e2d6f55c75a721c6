/// The state of one walk of changes over an index.
struct PackedIndexApplier {
  /// How many changes are applied at once, so that a bulk insertion is not entirely unpacked in
  /// memory.
  private static let changeCountMax = 65_536
  private static let sparseByteCount = IndexPage.byteCountMax / 4
  private static let neighbourByteCountMax = IndexPage.byteCountMax / 2

  let index: PackedIndex
  let changes: SortedChanges
  private var edits: [IndexPageEdit] = []

  init(index: PackedIndex, changes: SortedChanges) {
    self.index = index
    self.changes = changes
  }

  /// Applies the changes from `first` on that belong to one page, and returns the index of the next
  /// change.
  mutating func step(
    from first: Int, _ cursor: inout Cursor, _ transaction: borrowing WriteTransaction
  ) throws(StorageError) -> Int {
    guard try unsafe index.seek(changes.key(first), changes.object(first), &cursor) else {
      let end = min(changes.count, first + Self.changeCountMax)
      let merge = IndexPageMerge()
      for change in first..<end where changes.isAddition(change) {
        unsafe merge.append(
          IndexItem(key: changes.key(change), object: changes.object(change)))
      }
      try write(merge, replacing: [], filling: true, transaction)
      return end
    }
    let (page, key) = try loadPage(cursor)
    var end = try endOfPage(from: first + 1, &cursor)
    try page.edits(changes, first..<end, into: &edits)
    guard !edits.isEmpty else { return end }
    if let size = page.splicedByteCount(edits, changes),
      size >= Self.sparseByteCount || edits.allSatisfy(\.isInsertion)
    {
      try splice(page, key, size, transaction)
      return end
    }
    let merge = IndexPageMerge()
    try merge.append(page, edits, changes)
    var keys = [key]
    let isAppending = edits.allSatisfy { $0.isInsertion && $0.position == page.count }
    // Only if no change of this page remains.
    if edits.contains(where: { !$0.isInsertion }), end - first <= Self.changeCountMax {
      end = try takeNeighbours(of: merge, &keys, end, &cursor)
    }
    try write(merge, replacing: keys, filling: isAppending, transaction)
    return end
  }

  /// The page at the cursor and its key, with the checks that an edit needs.
  private func loadPage(
    _ cursor: borrowing Cursor
  ) throws(StorageError) -> (IndexPage, IndexPageKey) {
    let page = try unsafe IndexPage(validating: cursor.value)
    try page.verify()
    guard let key = unsafe IndexPageKey(copying: cursor.key, of: index) else {
      throw IndexPage.damaged("it is stored under an impossible key")
    }
    guard try page.treeKey(in: index) == key else {
      throw IndexPage.damaged("it is stored under another entry's key")
    }
    return (page, key)
  }

  /// The first change from `low` on that belongs to a later page than the one at the cursor, which
  /// moves forward.
  private func endOfPage(
    from low: Int, _ cursor: inout Cursor
  ) throws(StorageError) -> Int {
    let high = min(changes.count, low + Self.changeCountMax)
    guard low < high, try cursor.next(),
      let bound = unsafe IndexPageKey(copying: cursor.key, of: index)
    else { return high }
    return (low..<high).partitioningIndex { number in
      unsafe IndexPageKey(index, changes.key(number), changes.object(number)) >= bound
    }
  }

  private func splice(
    _ page: IndexPage, _ oldKey: IndexPageKey, _ size: Int,
    _ transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    var storage = InlineArray<4_096, UInt8>(repeating: 0)
    try unsafe withUnsafeMutableBytes(of: &storage) { target throws(StorageError) in
      try unsafe page.splice(edits, changes, byteCount: size, to: target.baseAddress!)
      let bytes = unsafe UnsafeRawBufferPointer(rebasing: target[..<size])
      try unsafe put(bytes, replacing: oldKey, transaction)
    }
  }

  private func put(
    _ bytes: UnsafeRawBufferPointer, replacing oldKey: IndexPageKey,
    _ transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    var newKey = oldKey
    // The first entry changes only if an edit concerns a position before the second.
    if edits[0].position == 0 {
      newKey = try unsafe IndexPage(validating: bytes).treeKey(in: index)
      if !(newKey == oldKey) { try delete(oldKey, transaction) }
    }
    try unsafe newKey.withBytes { key throws(StorageError) in
      try unsafe transaction.put(bytes, forKey: key)
    }
  }

  private func delete(
    _ key: IndexPageKey, _ transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    _ = try unsafe key.withBytes { key throws(StorageError) -> Bool in
      try unsafe transaction.delete(key)
    }
  }

  /// While the merged entries are few, adds those of the next page, with its changes from `end` on,
  /// or otherwise of the page before. Returns the index of the next change.
  private mutating func takeNeighbours(
    of merge: IndexPageMerge, _ keys: inout [IndexPageKey], _ end: Int, _ cursor: inout Cursor
  ) throws(StorageError) -> Int {
    var end = end
    while !merge.isEmpty, merge.byteCount < Self.sparseByteCount {
      guard try seek(keys[keys.count - 1], &cursor), try cursor.next(), isSmallPage(cursor)
      else { break }
      let (page, key) = try loadPage(cursor)
      let next = try endOfPage(from: end, &cursor)
      try page.edits(changes, end..<next, into: &edits)
      try merge.append(page, edits, changes)
      keys.append(key)
      end = next
    }
    guard !merge.isEmpty, merge.byteCount < Self.sparseByteCount,
      try seek(keys[0], &cursor), try cursor.previous(), isSmallPage(cursor)
    else { return end }
    let (page, key) = try loadPage(cursor)
    try merge.prepend(page)
    keys.append(key)
    return end
  }

  /// True if the cursor is at a page of the index with room for another page's rest.
  private func isSmallPage(_ cursor: borrowing Cursor) -> Bool {
    unsafe index.owns(cursor.key) && cursor.value.count <= Self.neighbourByteCountMax
  }

  /// Moves the cursor to the page with exactly that key.
  private func seek(
    _ key: IndexPageKey, _ cursor: inout Cursor
  ) throws(StorageError) -> Bool {
    try unsafe key.withBytes { key throws(StorageError) -> Bool in
      try unsafe cursor.seek(atOrAfter: key)
    }
  }

  /// Packs the entries and replaces the pages with the old keys.
  private func write(
    _ merge: IndexPageMerge, replacing oldKeys: [IndexPageKey], filling: Bool,
    _ transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    guard merge.isSorted else { throw IndexPage.damaged("its entries are out of order") }
    let firstKey = unsafe merge.items.first.map { unsafe IndexPageKey(index, $0.key, $0.object) }
    for key in oldKeys {
      if let firstKey, firstKey == key { continue }
      try delete(key, transaction)
    }
    var storage = InlineArray<4_096, UInt8>(repeating: 0)
    try unsafe merge.items.withUnsafeBufferPointer { items throws(StorageError) in
      var start = 0
      for end in unsafe IndexPageEncoder.cuts(items, filling: filling) {
        let first = unsafe items[start]
        try unsafe withUnsafeMutableBytes(of: &storage) { target throws(StorageError) in
          let size = unsafe IndexPageEncoder.encode(items[start..<end], to: target)
          let bytes = unsafe UnsafeRawBufferPointer(rebasing: target[..<size])
          let key = unsafe IndexPageKey(index, first.key, first.object)
          try unsafe key.withBytes { key throws(StorageError) in
            try unsafe transaction.put(bytes, forKey: key)
          }
        }
        start = end
      }
    }
  }
}

/// Applying changes to an index. They are sorted, so pages are visited from first to last, each
/// once:
///
/// 1. find the page of the next change and, from the page after it, which changes belong to it;
/// 2. mostly they fit the packed page: runs of entries are copied around them (splice);
/// 3. otherwise the page's entries are unpacked, merged with the changes, and packed into as many
///    pages as needed; a page less than a quarter full after removals is packed together with a
///    neighbour that is at most half full;
/// 4. a page whose first entry changed gets another key; an empty one is removed.
extension PackedIndex {
  /// Adds and removes entries. Adding an existing one or removing a missing one does nothing.
  /// - Throws: `.corrupted` if a page that the changes concern is damaged. The transaction must
  ///   then be aborted, as after any other error: earlier pages have been written.
  package func apply(
    _ changes: PackedIndexChanges, in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    guard !changes.isEmpty else { return }
    var cursor = try Cursor(transaction)
    try changes.withSorted { changes throws(StorageError) in
      var applier = PackedIndexApplier(index: self, changes: changes)
      var next = 0
      while next < changes.count {
        next = try applier.step(from: next, &cursor, transaction)
      }
    }
  }

  /// Removes all entries.
  package func removeAll(in transaction: borrowing WriteTransaction) throws(StorageError) {
    try unsafe IndexPageKey(beforeAllOf: self).withBytes { start throws(StorageError) in
      try unsafe transaction.deleteAll(from: start) { unsafe owns($0) }
    }
  }
}
