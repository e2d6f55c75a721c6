/// Sorts many rows at once. A scan appends the matches of each cluster; `sort` then gives all
/// keys in order:
///
///     let buffer = SortBuffer(order, source: source)
///     for each cluster: try scan.evaluate(image); try buffer.append(image, scan.matches)
///     let keys = try buffer.sort()
///
/// Needs about 20 to 50 bytes per row, most of them while sorting. Used on one thread, for one
/// version; at most 2^32 - 1 rows.
@safe package final class SortBuffer {
  package let order: ResolvedOrder
  let source: Rows
  /// The rows in the order of `append`.
  var keys: [Int64] = []
  /// One for each term.
  var columns: [SortColumn]
  let scratch = ScanScratch(bitmapCount: 1)
  /// Whether the keys were appended in ascending order so far.
  private var isAscending = true

  package init(_ order: ResolvedOrder, source: Rows) {
    self.order = order
    self.source = source
    columns = order.terms.map(SortColumn.init)
  }

  /// The number of rows appended so far.
  package var count: Int { keys.count }

  /// Appends rows of a stored cluster: those with a bit in `matches`, or all.
  package func append(
    _ image: ClusterImage, _ matches: UnsafePointer<UInt64>? = nil
  ) throws(StorageError) {
    guard image.rowCount > 0 else { return }
    scratch.reserve(rows: image.rowCount)
    let mask = unsafe scratch.bitmap(0)
    if let matches = unsafe matches {
      unsafe mask.update(from: matches, count: image.bitmapWords)
    } else {
      unsafe Bitmap.fill(mask, rows: image.rowCount)
    }
    for index in columns.indices {
      try unsafe extract(index, image, mask)
    }
    unsafe image.decodeKeys(into: scratch.ints)
    unsafe appendKeys(mask, image.bitmapWords)
  }

  /// Appends one row, stored or under edit.
  package func append<Cluster: RowReading>(_ cluster: Cluster, _ slot: Int) throws(StorageError) {
    for index in columns.indices {
      columns[index].append(try source.orderPrefix(cluster, slot, order.terms[index]))
    }
    append(cluster.key(at: slot).rawValue)
  }

  private func append(_ key: Int64) {
    isAscending = isAscending && (keys.last.map { $0 <= key } ?? true)
    keys.append(key)
  }

  /// A cluster's keys ascend: the order can break only between two clusters.
  private func appendKeys(_ mask: UnsafeMutablePointer<UInt64>, _ words: Int) {
    let all = unsafe scratch.ints
    let kept = unsafe Bitmap.compact(all, mask, words)
    guard kept > 0 else { return }
    isAscending = isAscending && (keys.last.map { unsafe $0 <= all[0] } ?? true)
    unsafe keys.append(contentsOf: UnsafeBufferPointer(start: all, count: kept))
  }

  /// The keys of all rows, in order. The buffer is empty afterwards. Throws errors of reading whole
  /// values, for rows with equal prefixes.
  package func sort() throws(StorageError) -> [ObjectKey] { try sortWithPrefixes().keys }

  /// The same keys, with the first number of each row's sort value, unless there are no sort terms.
  package func sortWithPrefixes() throws(StorageError) -> (keys: [ObjectKey], prefixes: [UInt64]) {
    let (keys, columns, areKeysSorted) = takeRows()
    if keys.count <= 1 { return (keys.map { ObjectKey($0) }, columns.first?.highs ?? []) }
    let prefixCount = columns.isEmpty ? 0 : keys.count
    var sorted: [ObjectKey] = []
    let prefixes = unsafe try [UInt64](unsafeUninitializedCapacity: prefixCount) {
      (prefixes, count) throws(StorageError) in
      let rows = unsafe try self.sorted(
        keys, columns, byKeyFirst: !areKeysSorted, prefixes: prefixes.baseAddress)
      sorted = unsafe Self.keys(keys, of: rows)
      unsafe rows.deallocate()
      count = prefixCount
    }
    return (sorted, prefixes)
  }

  private static func keys(_ keys: [Int64], of rows: UnsafeMutablePointer<UInt32>) -> [ObjectKey] {
    let first = keys[0]
    // Keys of rows that were never deleted are dense and need no look-up.
    let isDense = keys.indices.allSatisfy { keys[$0] &- first == Int64($0) }
    return unsafe [ObjectKey](unsafeUninitializedCapacity: keys.count) { result, count in
      for position in 0..<keys.count {
        let row = unsafe Int(rows[position])
        let key = isDense ? first &+ Int64(row) : keys[row]
        unsafe result.initializeElement(at: position, to: ObjectKey(key))
      }
      count = keys.count
    }
  }

  /// The indices of the appended rows, in order; equal rows stay in the order in which they were
  /// appended, whatever their keys, which may repeat. Otherwise like `sort`.
  package func sortAsAppended() throws(StorageError) -> [Int] {
    let (keys, columns, _) = takeRows()
    if keys.count <= 1 { return Array(keys.indices) }
    let rows = unsafe try sorted(keys, columns, byKeyFirst: false, prefixes: nil)
    defer { unsafe rows.deallocate() }
    return keys.indices.map { unsafe Int(rows[$0]) }
  }

  /// The appended rows; the buffer is empty afterwards.
  private func takeRows() -> (keys: [Int64], columns: [SortColumn], areKeysSorted: Bool) {
    defer {
      keys = []
      columns = order.terms.map(SortColumn.init)
      isAscending = true
    }
    return (keys, columns, isAscending)
  }

  /// The indices of the rows in order, in memory that the caller frees.
  ///
  /// - Parameter prefixes: receives the first number of each row's sort value, in that order.
  private func sorted(
    _ keys: [Int64], _ columns: [SortColumn], byKeyFirst: Bool,
    prefixes: UnsafeMutablePointer<UInt64>?
  ) throws(StorageError) -> UnsafeMutablePointer<UInt32> {
    require(keys.count < UInt32.max, "too many rows to sort at once")
    let rows = UnsafeMutablePointer<UInt32>.allocate(capacity: keys.count)
    for row in 0..<keys.count { unsafe rows[row] = UInt32(truncatingIfNeeded: row) }
    do {
      var sorter = unsafe try Sorter(
        rows: rows, keys: keys, columns: columns,
        comparator: OrderComparator(order, source: source))
      defer { sorter.end() }
      if byKeyFirst { sorter.sortByKey(0..<keys.count) }
      unsafe sorter.radix.leaveNumbers(in: prefixes)
      try sorter.sort(0..<keys.count, term: 0)
    } catch {
      unsafe rows.deallocate()
      throw error
    }
    return unsafe rows
  }
}

/// A term's prefixes: two numbers per row, or one if the other would be the same for all.
struct SortColumn {
  let path: ColumnPath
  let isAscending: Bool
  var highs: [UInt64] = []
  /// Empty if the high word suffices: values without null that fit it.
  var lows: [UInt64] = []
  let hasLows: Bool
  /// False if some prefix is not exact.
  var isExact = true

  init(_ term: ResolvedOrder.Term) {
    path = term.path
    isAscending = term.isAscending
    switch path.type {
    case .int, .link: hasLows = path.mayBeNull
    // Null and values behind a nil link have their own high words.
    case .bool: hasLows = false
    case .float, .double: hasLows = path.mayBeNull
    case .date, .string, .data, .objectID, .uuid, .decimal, .any: hasLows = true
    }
  }

  /// Appends a prefix that is already inverted for a descending term.
  @inline(__always)
  mutating func append(_ prefix: OrderPrefix) {
    highs.append(prefix.high)
    if hasLows { lows.append(prefix.low) }
    if !prefix.isExact { isExact = false }
  }
}

/// Sorts the rows of a `SortBuffer` once all were appended.
@safe private struct Sorter {
  let rows: UnsafeMutablePointer<UInt32>
  let keys: [Int64]
  let columns: [SortColumn]
  let comparator: OrderComparator
  var radix: SortRadix

  init(
    rows: UnsafeMutablePointer<UInt32>, keys: [Int64], columns: [SortColumn],
    comparator: OrderComparator
  ) throws(StorageError) {
    unsafe self.rows = unsafe rows
    self.keys = keys
    self.columns = columns
    self.comparator = comparator
    radix = try SortRadix(capacity: keys.count)
  }

  func end() { radix.end() }

  mutating func sortByKey(_ range: Range<Int>) {
    let numbers = keys.map { UInt64(bitPattern: $0) ^ (1 << 63) }
    unsafe numbers.withUnsafeBufferPointer { numbers in
      unsafe radix.sort(rows, range, by: numbers.baseAddress.unsafelyUnwrapped) { _, _ in }
    }
  }

  /// Sorts a range of rows that are equal in all terms before `term`.
  mutating func sort(_ range: Range<Int>, term: Int) throws(StorageError) {
    guard term < columns.count, range.count > 1 else { return }
    var radix = self.radix
    defer { self.radix = radix }
    try sort(&radix, range, term)
  }

  private func sort(
    _ radix: inout SortRadix, _ range: Range<Int>, _ term: Int
  ) throws(StorageError) {
    guard term < columns.count else { return }
    let column = columns[term]
    try sort(&radix, range, by: column.highs) { (radix, range) throws(StorageError) in
      guard column.hasLows else {
        try sort(&radix, range, term + 1)
        return
      }
      try sort(&radix, range, by: column.lows) { (radix, range) throws(StorageError) in
        try sortWhole(&radix, range, term)
      }
    }
  }

  private func sort(
    _ radix: inout SortRadix, _ range: Range<Int>, by numbers: [UInt64],
    _ run: (inout SortRadix, Range<Int>) throws(StorageError) -> Void
  ) throws(StorageError) {
    // The array's memory stays while the array is held; a closure would lose the error's type.
    let memory = numbers.span
    try unsafe memory.withUnsafeBufferPointer { (numbers) throws(StorageError) in
      try unsafe radix.sort(rows, range, by: numbers.baseAddress.unsafelyUnwrapped, run)
    }
  }

  /// Sorts rows with equal prefixes: by their whole values if those may differ, then by the next
  /// term.
  private func sortWhole(
    _ radix: inout SortRadix, _ range: Range<Int>, _ term: Int
  ) throws(StorageError) {
    let column = columns[term]
    if column.isExact || !mayDiffer(range, column) {
      try sort(&radix, range, term + 1)
      return
    }
    try sortByWhole(range, term)
    var start = range.lowerBound
    for position in range.lowerBound + 1...range.upperBound {
      let isEqual = position < range.upperBound ? try compare(start, position, term) == 0 : false
      if isEqual { continue }
      if position - start > 1 { try sort(&radix, start..<position, term + 1) }
      start = position
    }
  }

  /// Whether equal prefixes of a range may belong to different values.
  private func mayDiffer(_ range: Range<Int>, _ column: SortColumn) -> Bool {
    let row = unsafe Int(rows[range.lowerBound])
    var (high, low) = (column.highs[row], column.lows[row])
    if !column.isAscending { (high, low) = (~high, ~low) }
    let isNullOrBroken = (high == 0 && low == 0) || (high == .max && low == .max)
    if column.path.type == .uuid || column.path.type == .any { return !isNullOrBroken }
    // Strings of 16 bytes and more: the last byte of the prefix is its length plus one.
    return low & 0xff == 17
  }

  private func compare(_ a: Int, _ b: Int, _ term: Int) throws(StorageError) -> Int {
    let (a, b) = unsafe (keys[Int(rows[a])], keys[Int(rows[b])])
    return try comparator.compareWhole(ObjectKey(a), ObjectKey(b), term)
  }

  /// Sorts a range by whole values, stably.
  private func sortByWhole(_ range: Range<Int>, _ term: Int) throws(StorageError) {
    if let collator = comparator.order.terms[term].collator {
      return try sortByCollation(range, term, collator)
    }
    var part = unsafe Array(
      UnsafeBufferPointer(start: rows + range.lowerBound, count: range.count))
    try mergeSort(&part) { (a, b) throws(StorageError) in
      try comparator.compareWhole(ObjectKey(keys[Int(a)]), ObjectKey(keys[Int(b)]), term) < 0
    }
    for (index, row) in part.enumerated() { unsafe rows[range.lowerBound + index] = row }
  }

  /// The same with keys that are expensive to create: one for each row, and not two per comparison.
  private func sortByCollation(
    _ range: Range<Int>, _ term: Int, _ collator: Collator
  ) throws(StorageError) {
    let (path, isAscending) = (columns[term].path, columns[term].isAscending)
    let before = range.map { unsafe rows[$0] }
    var texts: [[UInt8]] = []
    texts.reserveCapacity(range.count)
    for row in before {
      texts.append(
        try comparator.collationKey(of: ObjectKey(keys[Int(row)]), path, collator))
    }
    var part = before.indices.map { UInt32(truncatingIfNeeded: $0) }
    // Positions decide between equal ones, so the sort need not be stable.
    part.sort { a, b in
      let order = unsafe texts[Int(a)].withUnsafeBytes { a in
        unsafe texts[Int(b)].withUnsafeBytes { b in unsafe compareBytes(a, b) }
      }
      return order == 0 ? a < b : (order < 0) == isAscending
    }
    for (index, position) in part.enumerated() {
      unsafe rows[range.lowerBound + index] = before[Int(position)]
    }
  }
}
