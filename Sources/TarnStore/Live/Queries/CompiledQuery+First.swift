/// Finds only the first rows of an order.
extension CompiledQuery {
  /// The minimum number of rows to keep before they are sorted and cut; in the order of the keys,
  /// the number of rows to test.
  private static let rowsAtOnce = 16_384

  /// The first rows in the query's order, at most `count`: read from an index that has the order,
  /// else found without keeping all rows.
  ///
  /// Nil if the order is that of the keys and the first keys have too few matches: all rows are
  /// then worth finding, because they can be updated incrementally.
  func first(_ count: Int, _ rows: Rows) throws(StorageError) -> [ObjectKey]? {
    if isOrderedByKeys { return try firstByKey(count, rows) }
    if let keys = try firstByIndex(count, rows) { return keys }
    let buffer = SortBuffer(order, source: rows)
    let most = max(4 * count, Self.rowsAtOnce)
    func cut() throws(StorageError) {
      guard buffer.count > most else { return }
      for key in try buffer.sort().prefix(count) {
        _ = try rows.withRow(classID, key) { (row, slot) throws(StorageError) in
          try buffer.append(row, slot)
        }
      }
    }
    try unsafe forEachMatch(
      try plan(rows), rows, reading: order.terms.map(\.path),
      cluster: { (image, matches) throws(StorageError) in
        unsafe try buffer.append(image, matches)
        try cut()
      },
      row: { (row, slot) throws(StorageError) in
        try buffer.append(row, slot)
        try cut()
      })
    return Array(try buffer.sort().prefix(count))
  }

  /// The first row if it is found quickly; `.some(nil)` if no row matches. Within a write that
  /// changed the class all rows are worth finding, because they can be updated incrementally.
  func firstOnly(_ rows: Rows) throws(StorageError) -> ObjectKey?? {
    guard !rows.isEdited(classID) else { return nil }
    if !isOrderedByKeys { return try firstByIndex(1, rows).map(\.first) }
    // An access usually leads to few rows, which are found as quickly.
    return access(rows.schema) == nil ? try firstByKey(1, rows).map(\.first) : nil
  }

  private var isOrderedByKeys: Bool { isUnsorted || orderIsThatOfKeysReversed }

  /// The keys to scan for the first rows; nil if an index or the primary key leads to them, or if a
  /// write has changed the class and the last rows are wanted.
  private func keysToScan(_ rows: Rows) throws(StorageError) -> ClosedRange<ObjectKey>? {
    if orderIsThatOfKeysReversed, rows.isEdited(classID) { return nil }
    guard case .scan(let keys) = try plan(rows).access else { return nil }
    return keys
  }

  /// Nil if the rows with the first keys have too few matches.
  private func firstByKey(
    _ count: Int, _ rows: Rows
  ) throws(StorageError) -> [ObjectKey]? {
    guard let range = try keysToScan(rows) else { return nil }
    let isReversed = orderIsThatOfKeysReversed
    let scan = PredicateScan(predicate, source: rows)
    var (keys, looked) = ([ObjectKey](), 0)
    func look(at image: ClusterImage) throws(StorageError) -> Bool {
      if try scan.evaluate(image) > 0 {
        let before = keys.count
        scan.forEachMatch { slot in keys.append(image.key(at: slot)) }
        if isReversed { keys[before...].reverse() }
      }
      looked += image.rowCount
      return keys.count < count && looked < Self.rowsAtOnce
    }
    if isReversed {
      try rows.reader.forEachClusterBackwards(in: classID, holding: range) {
        (found) throws(StorageError) in try look(at: found.image)
      }
    } else {
      try rows.forEachImage(in: classID, holding: range, look)
    }
    return keys.count < count ? nil : Array(keys.prefix(count))
  }

  /// Nil if no index has the order, if it has a truncated value, or if it leads to too few matches.
  private func firstByIndex(
    _ count: Int, _ rows: Rows
  ) throws(StorageError) -> [ObjectKey]? {
    guard let way = try wayOfFirst(rows) else { return nil }
    var first = FirstOfIndex(
      count, of: way.entries, isAscending: order.terms[0].isAscending,
      testing: predicate, atMost: way.testsMost, rows)
    return try first.keys()
  }

  /// The index that has the order, unless other indexes lead to few rows; and the maximum number of
  /// rows to test, nil if its entries are exactly the matches. Nil to read all rows.
  private func wayOfFirst(
    _ rows: Rows
  ) throws(StorageError) -> (entries: IndexEntries, testsMost: Int?)? {
    guard !rows.isEdited(classID) else { return nil }
    if let entries = orderedEntries(by: order, .scan(QueryPlan.everyKey), rows) {
      return (entries, nil)
    }
    guard let column = indexedColumn(of: order), rows.hasIndexes else { return nil }
    let plan = try plan(rows)
    guard case .scan = plan.access else { return nil }
    let all = IndexEntries(
      index: PackedIndex(classID, column), columns: [column], ranges: [.all])
    return (all, plan.lookupsInstead(testing: predicate))
  }

  /// How that many first rows are found if no others are read; nil if all rows are found as for the
  /// whole results.
  func explanation(ofFirst count: Int, _ rows: Rows) throws(StorageError) -> String? {
    if isOrderedByKeys {
      guard try keysToScan(rows) != nil else { return nil }
      let end = orderIsThatOfKeysReversed ? "last" : "first"
      return "read: a scan from the \(end) key until \(count) are found; "
        + "all of them if \(Self.rowsAtOnce) objects are not enough"
    }
    guard let way = try wayOfFirst(rows) else { return nil }
    let index = QueryPlan.Leaf.entries(way.entries).description(rows.schema[classID], rows.schema)
    let start = order.terms[0].isAscending ? "beginning" : "end"
    let walk = "read: from the \(start) of \(index) until \(count) are found"
    guard let testsMost = way.testsMost else { return "\(walk), and only those" }
    return "\(walk), each tested; a scan if about \(testsMost) are not enough"
  }
}
