/// The index over one column of one class: sorted entries (order key of the value, object key),
/// some hundreds per page. Used for primary keys that are not plain integers, columns that the
/// model wants indexed, and backlinks, where the value is the link: the entries of one target are
/// the objects that link to it.
///
/// It only names the index and has no state: the pages are in the tree under `IndexPageKey`s. Pages
/// are in the order of their entries and never empty; one value may fill many pages, and a change
/// to it touches one.
///
/// Order keys of long values are truncated (`OrderKey.isTruncated`). A search for such a value
/// finds all objects with the same key, and the values must be compared in the rows.
///
/// Every function throws `.corrupted` for malformed bytes, besides the cursor's errors. Object keys
/// and bytes passed to a closure are valid only during the call.
package struct PackedIndex: Hashable, Sendable {
  package let classID: ClassID
  /// The tag of the pages' keys.
  let tag: TreeKey.Tag
  /// The column, or the unique rule.
  let number: UInt16

  package init(_ classID: ClassID, _ column: ColumnID) {
    self.classID = classID
    tag = .index
    number = column.rawValue
  }

  /// The entries of a unique rule: each has a combination of values instead of one.
  package init(_ classID: ClassID, uniqueRule: Int) {
    self.classID = classID
    tag = .unique
    number = UInt16(uniqueRule)
  }

  /// False for the entries of a unique rule.
  var isOfColumn: Bool { tag == .index }

  // MARK: - One value

  /// All objects with that value, in the order of their keys.
  package func lookup(
    _ key: borrowing OrderKey, _ cursor: inout Cursor
  ) throws(StorageError) -> [ObjectKey] {
    var found: [ObjectKey] = []
    try forEachKey(in: .equal(key), &cursor) { object in
      found.append(object)
      return true
    }
    return found
  }

  /// True if that object has that value.
  package func contains(
    _ key: borrowing OrderKey, _ object: ObjectKey, _ cursor: inout Cursor
  ) throws(StorageError) -> Bool {
    try unsafe key.withBytes { key throws(StorageError) -> Bool in
      guard try unsafe seek(key, object, &cursor) else { return false }
      let page = try unsafe IndexPage(validating: cursor.value)
      let position = try unsafe page.position(of: key, object, after: false)
      return try unsafe page.holds(key, object, at: position)
    }
  }

  // MARK: - Ranges

  /// The number of entries in the range: whole pages are counted, entries are read only at its
  /// ends. Stops once it has found more than `most`.
  package func count(
    in range: PackedIndexRange = .all, atMost most: Int = .max, _ cursor: inout Cursor
  ) throws(StorageError) -> Int {
    var total = 0
    try forEachRun(in: range, descending: false, &cursor) { _, run in
      total += run.count
      return total <= most
    }
    return total
  }

  /// The objects of the range in the order of their values, objects with the same value in the
  /// order of their keys. Stops when `body` returns false.
  package func forEachKey(
    in range: PackedIndexRange = .all, _ cursor: inout Cursor,
    _ body: (ObjectKey) throws(StorageError) -> Bool
  ) throws(StorageError) {
    try forEachRun(in: range, descending: false, &cursor) { page, run throws(StorageError) in
      for index in run { guard try body(page.objectKey(index)) else { return false } }
      return true
    }
  }

  /// Like `forEachKey`, with the order key of each entry, or all in reverse.
  package func forEach(
    in range: PackedIndexRange = .all, descending: Bool = false, _ cursor: inout Cursor,
    _ body: (UnsafeRawBufferPointer, ObjectKey) throws(StorageError) -> Bool
  ) throws(StorageError) {
    var storage = InlineArray<128, UInt8>(repeating: 0)
    try unsafe withUnsafeMutableBytes(of: &storage) { key throws(StorageError) in
      let base = key.baseAddress!
      try forEachRun(in: range, descending: descending, &cursor) {
        page, run throws(StorageError) in
        for step in 0..<run.count {
          let index = descending ? run.upperBound - 1 - step : run.lowerBound + step
          let count = try unsafe page.copyOrderKey(index, to: base)
          let bytes = unsafe UnsafeRawBufferPointer(start: base, count: count)
          guard try unsafe body(bytes, page.objectKey(index)) else { return false }
        }
        return true
      }
    }
  }

  /// The first entry of the range, or the last; nil if it has none.
  func end(
    in range: PackedIndexRange, descending: Bool, _ cursor: inout Cursor
  ) throws(StorageError) -> (value: OrderKey, key: ObjectKey)? {
    var end: (OrderKey, ObjectKey)?
    try unsafe forEach(in: range, descending: descending, &cursor) { bytes, key in
      end = (unsafe OrderKey(encoded: bytes), key)
      return false
    }
    return end
  }

  /// Calls `body` with each page that has entries in the range, and their positions.
  private func forEachRun(
    in range: PackedIndexRange, descending: Bool, _ cursor: inout Cursor,
    _ body: (IndexPage, Range<Int>) throws(StorageError) -> Bool
  ) throws(StorageError) {
    let start = descending ? range.upper : range.lower
    guard try seek(start, descending: descending, &cursor) else { return }
    repeat {
      let page = try unsafe IndexPage(validating: cursor.value)
      let low = try range.lower?.position(in: page) ?? 0
      let high = try range.upper?.position(in: page) ?? page.count
      if low < high, try !body(page, low..<high) { return }
      if descending ? low > 0 : high < page.count { return }
      guard try descending ? cursor.previous() : cursor.next() else { return }
    } while unsafe owns(cursor.key)
  }

  /// Throws `.corrupted` if a page is damaged or entries are not ascending across all pages. For
  /// tests.
  package func checkInvariants(_ cursor: inout Cursor) throws(StorageError) {
    var last: IndexPageKey?
    try forEachRun(in: .all, descending: false, &cursor) { page, run throws(StorageError) in
      try page.verify()
      for entry in run {
        let key = try page.treeKey(in: self, ofEntry: entry)
        if let last, last >= key { throw IndexPage.damaged("its entries do not ascend") }
        last = key
      }
      return true
    }
  }

  // MARK: - Finding pages

  private func seek(
    _ cut: PackedIndexRange.Cut?, descending: Bool, _ cursor: inout Cursor
  ) throws(StorageError) -> Bool {
    if let cut {
      return try unsafe cut.key.withBytes { key throws(StorageError) -> Bool in
        try unsafe seek(key, cut.bound, &cursor)
      }
    }
    guard descending else { return try seekFirst(&cursor) }
    let end = IndexPageKey(afterAllOf: self)
    return try unsafe end.withBytes { key throws(StorageError) -> Bool in
      try unsafe cursor.seek(atOrBefore: key) && owns(cursor.key)
    }
  }

  /// Moves the cursor to the page that contains that entry or would contain it: the last page that
  /// starts at or before it, otherwise the first. False if the index has no page.
  func seek(
    _ key: UnsafeRawBufferPointer, _ object: ObjectKey, _ cursor: inout Cursor
  ) throws(StorageError) -> Bool {
    let pageKey = unsafe IndexPageKey(self, key, object)
    let found = try unsafe pageKey.withBytes { key throws(StorageError) -> Bool in
      try unsafe cursor.seek(atOrBefore: key) && owns(cursor.key)
    }
    return found ? true : try seekFirst(&cursor)
  }

  func seekFirst(_ cursor: inout Cursor) throws(StorageError) -> Bool {
    let start = IndexPageKey(beforeAllOf: self)
    return try unsafe start.withBytes { key throws(StorageError) -> Bool in
      try unsafe cursor.seek(atOrAfter: key) && owns(cursor.key)
    }
  }
}

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
