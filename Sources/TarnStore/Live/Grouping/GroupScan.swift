/// Groups rows, cluster by cluster or one by one, and computes the aggregates of each group. Used
/// once, on one thread.
///
/// In a cluster, each column is decoded at once: first the grouping column, which gives each row
/// the number of its group, then the aggregated columns. A struct, because every access to a class
/// would be checked at run time.
@safe struct GroupScan {
  private let query: GroupQuery
  private let rows: Rows
  private var numbers = GroupNumbers()
  private var columns: [ScannedColumn]
  /// The number of rows of each group.
  private var counts: ContiguousArray<Int> = []
  private let scratch = ScanScratch(bitmapCount: 1)

  /// The number of each row's group. No dates are decoded here, so their memory is free.
  private var groups: UnsafeMutablePointer<Int32> { unsafe scratch.fines }

  /// - Parameter isOnce: true if the groups are not updated later.
  init(_ query: GroupQuery, _ rows: Rows, isOnce: Bool) {
    self.query = query
    self.rows = rows
    columns = query.columns.map { ScannedColumn($0, isOnce: isOnce) }
    if query.path == nil { _ = numbers.number(of: .null) }
  }

  /// Adds the rows of a cluster that have a bit in `matches`.
  mutating func append(
    _ image: ClusterImage, _ matches: UnsafePointer<UInt64>
  ) throws(StorageError) {
    scratch.reserve(rows: image.rowCount)
    let groups = unsafe self.groups
    if let path = query.path {
      try unsafe assign(path, image, matches)
    } else {
      unsafe groups.update(repeating: 0, count: image.rowCount)
    }
    makeRoom()
    unsafe counts.withUnsafeMutableBufferPointer { counts in
      unsafe Bitmap.forEachSlot(matches, image.rowCount) { slot in
        unsafe counts[Int(groups[slot])] &+= 1
      }
    }
    for index in columns.indices {
      let mask = unsafe valued(columns[index].column.path, image, matches)
      unsafe columns[index].append(image, matches, valued: mask, groups, scratch)
    }
  }

  /// Adds one row.
  mutating func append<Cluster: RowReading>(_ row: Cluster, _ slot: Int) throws(StorageError) {
    let number = Int(numbers.number(of: try query.group(of: row, slot, rows)))
    makeRoom()
    counts[number] += 1
    for index in columns.indices {
      columns[index].append(row.scalar(columns[index].column.path, slot), number)
    }
  }

  private mutating func makeRoom() {
    let missing = numbers.count - counts.count
    if missing == 0 { return }
    counts.append(contentsOf: repeatElement(0, count: missing))
    for index in columns.indices { columns[index].makeRoom(for: numbers.count) }
  }

  /// The groups of all added rows.
  mutating func table() -> GroupTable {
    makeRoom()
    let entries = numbers.groups.enumerated().map { number, group in
      GroupTable.Entry(
        order: group,
        state: query.state(
          group, count: counts[number],
          columns.map { $0.totals(of: number, rowCount: counts[number]) }))
    }
    return query.table(entries)
  }

  // MARK: - Groups of rows

  /// The bits of rows that have a value in the column.
  private func valued(
    _ path: ColumnPath, _ image: ClusterImage, _ matches: UnsafePointer<UInt64>
  ) -> UnsafePointer<UInt64> {
    let nulls = unsafe scratch.nulls
    guard path.isOptional, unsafe image.decodeNulls(path.column, into: nulls) else {
      return unsafe matches
    }
    for word in 0..<image.bitmapWords { unsafe nulls[word] = matches[word] & ~nulls[word] }
    return unsafe UnsafePointer(nulls)
  }

  /// Notes the group of each row.
  private mutating func assign(
    _ path: ColumnPath, _ image: ClusterImage, _ matches: UnsafePointer<UInt64>
  ) throws(StorageError) {
    guard path.links.isEmpty else { return try unsafe assignEach(image, matches) }
    let mask = unsafe valued(path, image, matches)
    switch path.type {
    case .int:
      let ints = unsafe scratch.ints
      unsafe image.decodeInts(path.column, into: ints)
      unsafe numbers.assign(ints, image.rowCount, mask, to: groups)
    case .string, .data:
      if let dictionary = image.dictionary(path.column) {
        try unsafe assign(dictionary, mask, image.rowCount)
      } else {
        try unsafe assignTexts(path, image, mask)
      }
    default: try unsafe assignEach(image, mask)
    }
    // Last: integers are looked up in all slots, with or without a value.
    if unsafe mask != matches { unsafe assignNull(matches, mask, image.rowCount) }
  }

  private mutating func assignNull(
    _ matches: UnsafePointer<UInt64>, _ mask: UnsafePointer<UInt64>, _ rowCount: Int
  ) {
    var number: Int32 = -1
    for index in 0..<(rowCount + 63) >> 6 {
      var word = unsafe matches[index] & ~mask[index]
      while word != 0 {
        if number < 0 { number = numbers.number(of: .null) }
        unsafe groups[index << 6 + word.trailingZeroBitCount] = number
        word &= word - 1
      }
    }
  }

  /// Each dictionary entry is looked up at the first row that has it.
  private mutating func assign(
    _ dictionary: ClusterDictionary, _ mask: UnsafePointer<UInt64>, _ rowCount: Int
  ) throws(StorageError) {
    var known = InlineArray<256, Int32>(repeating: -1)
    let (codes, groups) = unsafe (dictionary.codes, self.groups)
    try unsafe Bitmap.forEachSlot(mask, rowCount) { (slot) throws(StorageError) in
      let code = unsafe Int(codes[slot])
      var number = known[code]
      if number < 0 {
        guard code < dictionary.count else {
          throw ClusterImage.corrupted("a column has a code without an entry")
        }
        number = unsafe numbers.number(of: try dictionary.entry(code))
        known[code] = number
      }
      unsafe groups[slot] = number
    }
  }

  private mutating func assignTexts(
    _ path: ColumnPath, _ image: ClusterImage, _ mask: UnsafePointer<UInt64>
  ) throws(StorageError) {
    try unsafe Bitmap.forEachSlot(mask, image.rowCount) { (slot) throws(StorageError) in
      unsafe groups[slot] = try rows.withText(image, slot, path) { bytes in
        guard let bytes = unsafe bytes else { return numbers.number(of: .null) }
        return unsafe numbers.number(of: bytes)
      }
    }
  }

  private mutating func assignEach(
    _ image: ClusterImage, _ mask: UnsafePointer<UInt64>
  ) throws(StorageError) {
    try unsafe Bitmap.forEachSlot(mask, image.rowCount) { (slot) throws(StorageError) in
      unsafe groups[slot] = numbers.number(of: try query.group(of: image, slot, rows))
    }
  }
}

extension Bitmap {
  /// Like `forEach`, but faster if the bits of a word are one run from its first bit.
  @inline(__always)
  static func forEachSlot<E: Error>(
    _ bits: UnsafePointer<UInt64>, _ rowCount: Int, _ body: (Int) throws(E) -> Void
  ) throws(E) {
    for index in 0..<(rowCount + 63) >> 6 {
      var word = unsafe bits[index]
      if word & (word &+ 1) == 0 {
        let first = index << 6
        for slot in first..<first + word.nonzeroBitCount { try body(slot) }
        continue
      }
      while word != 0 {
        try body(index << 6 + word.trailingZeroBitCount)
        word &= word - 1
      }
    }
  }
}
