extension PackedIndex {
  /// A problem of the pages, as a sentence; nil if each is stored under the key of its first entry
  /// and all entries of the index are in order. Reads every byte.
  ///
  /// - Throws: `.corrupted` for a damaged page.
  package func problem(_ cursor: inout Cursor) throws(StorageError) -> String? {
    guard try seekFirst(&cursor) else { return nil }
    var last: IndexPageKey?
    repeat {
      let page = try unsafe IndexPage(validating: cursor.value)
      try page.verify()
      for index in 0..<page.count {
        let entry = try page.treeKey(in: self, ofEntry: index)
        if index == 0,
          unsafe IndexPageKey(copying: cursor.key, of: self).map({ $0 == entry }) != true
        {
          return "a page is stored under another entry's key"
        }
        if let last, !(last < entry) { return "its entries are out of order" }
        last = entry
      }
    } while try unsafe cursor.next() && owns(cursor.key)
    return nil
  }
}
