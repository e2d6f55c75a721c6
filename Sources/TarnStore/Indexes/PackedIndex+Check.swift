extension PackedIndex {
  /// What is wrong with the pages as a sentence, nil if each of them lies under the key of its
  /// first entry and all entries of the index follow one another. Looks at every byte.
  ///
  /// - Throws: `.corrupted` for a page that is damaged in itself.
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
