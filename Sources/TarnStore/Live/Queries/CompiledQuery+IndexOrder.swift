/// Rows in the order of an index: sorting by one indexed property needs no sort.
extension CompiledQuery {
  /// The rows in an order, if the entries of an index are exactly the matches, in that order.
  func walkingIndex(
    in order: ResolvedOrder, _ plan: QueryPlan, _ rows: Rows
  ) throws(StorageError) -> OrderedRoot? {
    guard !rows.isEdited(classID), let entries = orderedEntries(by: order, plan.access, rows) else {
      return nil
    }
    var walk = IndexWalk(type: order.terms[0].path.type)
    for range in entries.ranges where walk.isComplete {
      try rows.reader.withCursor { cursor throws(StorageError) in
        try unsafe entries.index.forEach(in: range, &cursor) { bytes, key in
          unsafe walk.append(bytes, key)
        }
      }
    }
    return walk.isComplete ? walk.root(isAscending: order.terms[0].isAscending) : nil
  }

  /// The entries of the index over the sorted property, if they are exactly the matches; without
  /// those of an open write.
  func orderedEntries(
    by order: ResolvedOrder, _ access: QueryPlan.Access, _ rows: Rows
  ) -> IndexEntries? {
    guard let column = indexedColumn(of: order), rows.hasIndexes else { return nil }
    let index = PackedIndex(classID, column)
    if isUnfiltered { return IndexEntries(index: index, columns: [column], ranges: [.all]) }
    // Even if finding the rows this way costs more: sorting them is saved.
    guard let option = self.access(rows.schema), option.isExact,
      case .entries(let entries) = option.access, entries.index == index
    else { return nil }
    return entries
  }

  /// The sorted property, if it is the only one and its index has the same order.
  func indexedColumn(of order: ResolvedOrder) -> ColumnID? {
    guard order.terms.count == 1, order.terms[0].path.links.isEmpty,
      orderIsIndexed, IndexWalk.knows(order.terms[0].path.type)
    else { return nil }
    return order.terms[0].path.column
  }

  /// The first row in the query's order, or the last: found without the others if an index has the
  /// order, the first one also if the order is that of the keys. `.some(nil)` if no row matches,
  /// nil if all rows are needed to find it, or are worth finding.
  package func end(isLast: Bool, _ rows: Rows) throws(StorageError) -> ObjectKey?? {
    if isUnfiltered, order.terms.isEmpty || orderIsThatOfKeysReversed {
      return .some(try rows.end(of: classID, isLast: isLast == order.terms.isEmpty))
    }
    guard let entries = orderedEntries(by: order, .scan(QueryPlan.everyKey), rows),
      entries.ranges.count == 1, let term = order.terms.first
    else { return try isLast ? nil : firstOnly(rows) }
    return try EndOfIndex(entries, isAscending: term.isAscending, isLast: isLast, rows).key()
  }
}

/// Rows in the order of an index, with the prefixes that sorting would have given them.
private struct IndexWalk {
  private let type: ColumnType
  private var keys: [ObjectKey] = []
  private var prefixes: [UInt64] = []
  /// The positions at which another value begins.
  private var starts: [Int] = []
  private var last = InlineArray<128, UInt8>(repeating: 0)
  private var lastCount = 0
  /// False once a truncated value was found in the index.
  private(set) var isComplete = true

  /// The types whose order keys contain the first word of the prefix unchanged.
  static func knows(_ type: ColumnType) -> Bool {
    switch type {
    case .int, .double, .date, .string, .data, .objectID: true
    case .bool, .float, .decimal, .uuid, .link, .any: false
    }
  }

  init(type: ColumnType) { self.type = type }

  mutating func append(_ bytes: UnsafeRawBufferPointer, _ key: ObjectKey) -> Bool {
    guard bytes.count < OrderKey.byteCountMax else {
      isComplete = false
      return false
    }
    if unsafe !isLast(bytes) {
      starts.append(keys.count)
      lastCount = bytes.count
      unsafe withUnsafeMutableBytes(of: &last) { unsafe $0.copyMemory(from: bytes) }
    }
    keys.append(key)
    unsafe prefixes.append(Self.prefix(bytes))
    return true
  }

  private func isLast(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count == lastCount else { return false }
    return unsafe withUnsafeBytes(of: last) {
      unsafe compareBytes(UnsafeRawBufferPointer(rebasing: $0[..<lastCount]), bytes) == 0
    }
  }

  /// The eight bytes after the tag, padded with zeros: null's are zeros as well.
  private static func prefix(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    if bytes.count >= 9 {
      return unsafe UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
    }
    var word: UInt64 = 0
    for index in 1..<9 {
      word = word << 8 | (unsafe index < bytes.count ? UInt64(bytes[index]) : 0)
    }
    return word
  }

  /// Descending order reverses the values; rows with one value keep their order.
  consuming func root(isAscending: Bool) -> OrderedRoot {
    if isAscending { return OrderedRoot(sorted: keys, prefixes: prefixes) }
    var (reversed, words): ([ObjectKey], [UInt64]) = ([], [])
    reversed.reserveCapacity(keys.count)
    words.reserveCapacity(keys.count)
    var end = keys.count
    for start in starts.reversed() {
      reversed += keys[start..<end]
      for position in start..<end { words.append(~prefixes[position]) }
      end = start
    }
    return OrderedRoot(sorted: reversed, prefixes: words)
  }
}
