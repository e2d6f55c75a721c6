/// Counts the rows of a class, and finds a row by its position: a list of the class's clusters with
/// their numbers of rows, in pages of some 250 clusters that start with a sum. Finding a position
/// reads each page's header and one page's entries.
///
/// The pages of a list, set or map are counted in the same way; clusters and first keys here are
/// then pages and their labels.
///
/// It only names the counts of one owner and has no state. Functions throw `.corrupted` for
/// malformed pages, besides the cursor's errors.
package struct RowCounts: Hashable, Sendable {
  private enum Owner: Hashable {
    case objects(ClassID)
    case sequence(CollectionID)
  }

  private let owner: Owner
  package init(_ classID: ClassID) { owner = .objects(classID) }
  /// The counts of the pages of a collection.
  package init(pagesOf id: CollectionID) { owner = .sequence(id) }

  /// The number of rows in all clusters.
  package func count(_ cursor: inout Cursor) throws(StorageError) -> Int {
    var total = 0
    try forEachPage(&cursor) { page in
      total += page.rows
      return true
    }
    return total
  }

  /// The cluster with the row at that position among all rows, the row's position within the
  /// cluster, and the cluster's number of rows; nil if the position is out of bounds.
  package func select(
    _ position: Int, _ cursor: inout Cursor
  ) throws(StorageError) -> (first: ObjectKey, offset: Int, rows: Int)? {
    require(position >= 0, "a position must not be negative")
    var rest = position
    var found: (first: ObjectKey, offset: Int, rows: Int)?
    try forEachPage(&cursor) { page throws(StorageError) in
      guard rest < page.rows else {
        rest -= page.rows
        return true
      }
      for index in 0..<page.count {
        let rows = page.rows(index)
        if rest < rows {
          found = (page.first(index), rest, rows)
          return false
        }
        rest -= rows
      }
      throw RowCountPage.damaged("its sum is wrong")
    }
    return found
  }

  /// The number of rows in clusters before the one that starts with that key, which need not exist.
  package func rank(
    _ first: ObjectKey, _ cursor: inout Cursor
  ) throws(StorageError) -> Int {
    // A page counts as a whole only if the next one is known to start at or before the key.
    var before = 0
    var last: (page: RowCountPage, found: Int)?
    try forEachPage(&cursor) { page in
      guard page.first(0) < first else { return false }
      before += last?.found ?? 0
      last = (page, page.rows)
      return true
    }
    guard let page = last?.page else { return 0 }
    for index in 0..<page.count where page.first(index) < first { before += page.rows(index) }
    return before
  }

  /// All clusters in order, until `body` returns false.
  package func forEach(
    _ cursor: inout Cursor, _ body: (RowCount) throws(StorageError) -> Bool
  ) throws(StorageError) {
    try forEachPage(&cursor) { page throws(StorageError) in
      for index in 0..<page.count {
        let entry = RowCount(first: page.first(index), rows: page.rows(index))
        guard try body(entry) else { return false }
      }
      return true
    }
  }

  /// All pages in order, until `body` returns false.
  func forEachPage(
    _ cursor: inout Cursor, _ body: (RowCountPage) throws(StorageError) -> Bool
  ) throws(StorageError) {
    guard try seekFirst(&cursor) else { return }
    repeat {
      guard try body(try unsafe RowCountPage(validating: cursor.value)) else { return }
      guard try cursor.next() else { return }
    } while unsafe owns(cursor.key)
  }

  /// A problem of the counts, as a sentence; nil if it lists exactly these ordered clusters.
  /// Reads every byte.
  package func problem(
    listing clusters: [RowCount], _ cursor: inout Cursor
  ) throws(StorageError) -> String? {
    var rest = clusters[...]
    guard try seekFirst(&cursor) else { return rest.isEmpty ? nil : "it has no page" }
    repeat {
      let page = try unsafe RowCountPage(validating: cursor.value)
      try page.verify()
      guard unsafe first(cursor.key) == page.first(0) else {
        return "a page is stored under another cluster's key"
      }
      for index in 0..<page.count {
        let entry = RowCount(first: page.first(index), rows: page.rows(index))
        guard rest.popFirst() == entry else {
          return "it lists \(entry.rows) objects from \(entry.first.rawValue) on"
        }
      }
    } while try unsafe cursor.next() && owns(cursor.key)
    return rest.first.map { "it does not list the cluster at \($0.first.rawValue)" }
  }

  private func seekFirst(_ cursor: inout Cursor) throws(StorageError) -> Bool {
    let start = key(first: .smallest)
    return try unsafe start.withBytes { key throws(StorageError) -> Bool in
      try unsafe cursor.seek(atOrAfter: key) && owns(cursor.key)
    }
  }

  /// Moves the cursor to the page that lists that cluster or would list it. False if the list
  /// has no page.
  func seek(_ first: ObjectKey, _ cursor: inout Cursor) throws(StorageError) -> Bool {
    let treeKey = key(first: first)
    let found = try unsafe treeKey.withBytes { key throws(StorageError) -> Bool in
      try unsafe cursor.seek(atOrBefore: key) && owns(cursor.key)
    }
    return found ? true : try seekFirst(&cursor)
  }

  func owns(_ key: UnsafeRawBufferPointer) -> Bool {
    unsafe first(key) != nil
  }

  /// The key of the page that starts with that cluster.
  func key(first: ObjectKey) -> TreeKey {
    switch owner {
    case .objects(let id): .rowCounts(id, first: first)
    case .sequence(let id): .sequenceRowCounts(id, first: first)
    }
  }

  /// The first cluster of the page under that key, nil if the page is not this owner's.
  func first(_ key: UnsafeRawBufferPointer) -> ObjectKey? {
    switch owner {
    case .objects(let id):
      guard let parsed = unsafe TreeKey.parseRowCounts(key), parsed.classID == id else {
        return nil
      }
      return parsed.first
    case .sequence(let id):
      guard let parsed = unsafe TreeKey.parseSequenceRowCounts(key), parsed.id == id else {
        return nil
      }
      return parsed.first
    }
  }
}
