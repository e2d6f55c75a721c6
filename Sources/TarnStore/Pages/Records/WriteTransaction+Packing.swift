extension WriteTransaction {
  private typealias Entry = (key: [UInt8], value: [UInt8])
  /// The number of pages whose entries are removed. LMDB merges a page that becomes nearly empty
  /// with the one before it, so more than one is needed; usually these are all that follow.
  private static let pageCount = 8

  /// Runs `body`, which stores many new entries in the order of their keys, so that their pages
  /// become full.
  ///
  /// LMDB splits a full page in the middle, unless the new entry is the last one on it: if entries
  /// follow them, entries inserted in order leave each page less than half full. So those that may
  /// be on the page of the last one are removed first, and put back afterwards.
  ///
  /// - Parameter last: the last of the new keys.
  func packing(
    upTo last: TreeKey, _ body: () throws(StorageError) -> Void
  ) throws(StorageError) {
    let others = try entries(after: last)
    for (key, _) in others {
      _ = unsafe try TarnStore.withBytes(of: key) { key throws(StorageError) in
        unsafe try delete(key)
      }
    }
    try body()
    for (key, value) in others {
      unsafe try TarnStore.withBytes(of: key) { key throws(StorageError) in
        unsafe try TarnStore.withBytes(of: value) { value throws(StorageError) in
          unsafe try put(value, forKey: key)
        }
      }
    }
  }

  /// The entries after a key, as many as fit on some pages.
  private func entries(after last: TreeKey) throws(StorageError) -> [Entry] {
    let header = PageWalker.nodeHeaderByteCount
    var (entries, byteCount): ([Entry], Int) = ([], 0)
    var cursor = try Cursor(self)
    var isAt = unsafe try last.withBytes { last throws(StorageError) in
      guard unsafe try cursor.seek(atOrAfter: last) else { return false }
      return unsafe cursor.key.elementsEqual(last) ? try cursor.next() : true
    }
    while isAt, byteCount < Self.pageCount * environment.pageSize {
      unsafe entries.append((Array(cursor.key), Array(cursor.value)))
      // A large value is on a separate page.
      let size = unsafe header + cursor.key.count + cursor.value.count
      byteCount += size <= environment.pageSize / 2 ? size : unsafe header + cursor.key.count
      isAt = try cursor.next()
    }
    return entries
  }
}
