extension CompiledQuery {
  /// The rows that match now, in order.
  ///
  /// Without a condition their number is the one in the class's record, or the file is damaged: the
  /// number is returned without reading the rows until they are needed.
  package func evaluate(_ rows: Rows) throws(StorageError) -> OrderedRoot {
    let root = try evaluated(by: order, rows)
    if isUnfiltered, try rows.count(of: classID) != root.count {
      throw StorageError(
        .corrupted, operation: "read class record", path: "",
        detail: "The record of a class is damaged: its number of objects is wrong."
      )
    }
    return root
  }

  /// The rows that match, in an order.
  func evaluated(
    by order: ResolvedOrder, _ rows: Rows
  ) throws(StorageError) -> OrderedRoot {
    let plan = try plan(rows)
    if order.terms.isEmpty { return try keyed(plan, rows) }
    if order.isThatOfKeysReversed(rows.schema[classID]) {
      return try keyed(plan, rows).reversedByKeys()
    }
    if let walked = try walkingIndex(in: order, plan, rows) { return walked }
    let buffer = SortBuffer(order, source: rows)
    try unsafe forEachMatch(
      plan, rows, reading: order.terms.map(\.path),
      cluster: { (image, matches) throws(StorageError) in unsafe try buffer.append(image, matches)
      },
      row: { (row, slot) throws(StorageError) in try buffer.append(row, slot) })
    let (keys, prefixes) = try buffer.sortWithPrefixes()
    return OrderedRoot(sorted: keys, prefixes: prefixes)
  }

  /// The rows that match, in the order of their keys.
  func keyed(_ plan: QueryPlan, _ rows: Rows) throws(StorageError) -> OrderedRoot {
    if case .candidates(let leaves) = plan.access {
      let candidates = try rows.keys(of: leaves, in: classID)
      if plan.isExact { return OrderedRoot(keyed: KeySet(candidates)) }
      var matching: [ObjectKey] = []
      for key in candidates where try predicate.matches(key, in: rows) { matching.append(key) }
      return OrderedRoot(keyed: KeySet(matching))
    }
    var builder = KeyedRootBuilder()
    try unsafe forEachMatch(
      plan, rows,
      cluster: { image, matches in unsafe builder.append(image, matches) },
      row: { _, _ in trap("internal error: a scan delivers clusters, not rows") })
    return builder.root()
  }

  /// Passes all matching rows, in the order of their keys: whole clusters with a bit for each
  /// match, or single rows.
  ///
  /// - Parameter paths: the columns that are read of the matches.
  func forEachMatch(
    _ plan: QueryPlan, _ rows: Rows, reading paths: [ColumnPath] = [],
    cluster: (ClusterImage, UnsafePointer<UInt64>) throws(StorageError) -> Void,
    row: (RowCluster, Int) throws(StorageError) -> Void
  ) throws(StorageError) {
    switch plan.access {
    case .scan(let keys):
      let scan = PredicateScan(predicate, source: rows)
      let columns = columns(ofScanReading: paths)
      try rows.forEachImage(in: classID, holding: keys, reading: columns) {
        (image) throws(StorageError) in
        if try scan.evaluate(image) > 0 { unsafe try cluster(image, scan.matches) }
        return true
      }
    case .candidates(let leaves):
      for key in try rows.keys(of: leaves, in: classID) {
        _ = try rows.withRow(classID, key) { (found, slot) throws(StorageError) -> Void in
          if !plan.isExact, try !predicate.matches(found, slot, in: rows) { return }
          try row(found, slot)
        }
      }
    }
  }

  /// The columns of a row that a scan of the class reads. Those of `paths` are omitted if there is
  /// a condition, because few rows may match.
  private func columns(ofScanReading paths: [ColumnPath]) -> [ColumnID] {
    var columns: [ColumnID] = []
    for dependency in predicate.dependencies where dependency.origin == nil {
      columns.append(dependency.links.first?.column ?? dependency.column)
    }
    if columns.isEmpty { columns = paths.map { $0.links.first?.column ?? $0.column } }
    return Array(Set(columns))
  }
}

extension Rows {
  /// The rows that accesses lead to, each once, in the order of their keys.
  func keys(
    of leaves: [QueryPlan.Leaf], in id: ClassID
  ) throws(StorageError) -> [ObjectKey] {
    var keys: [ObjectKey] = []
    for leaf in leaves {
      switch leaf {
      case .keys(let ranges):
        for range in ranges {
          for key in range {
            let key = ObjectKey(key)
            if try contains(ObjectRef(classID: id, key: key)) { keys.append(key) }
          }
        }
      case .entries(let entries): try forEachKey(of: entries) { key in keys.append(key) }
      }
    }
    // Entries of one value are in this order already.
    let isAscending = zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }
    return isAscending ? keys : Array(KeySet(keys))
  }
}

/// Makes a keyed root of a scan's matches, which are bitmaps like those of the root: if a cluster's
/// keys have no gaps, sixty-four rows are added at once.
package struct KeyedRootBuilder {
  private var blocks: ContiguousArray<LabelBlock> = []
  /// False if clusters were out of order, as in a damaged file.
  private var isAscending = true

  package init() {}

  /// Adds the rows of a cluster that have a bit in `matches`; clusters are in order.
  package mutating func append(_ image: ClusterImage, _ matches: UnsafePointer<UInt64>) {
    let words = image.bitmapWords
    guard image.hasDenseKeys else {
      unsafe Bitmap.forEach(matches, words) { slot in
        let key = OrderedRoot.biased(image.key(at: slot))
        append(key >> 6, 1 << (key & 63))
      }
      return
    }
    let first = OrderedRoot.biased(image.key(at: 0))
    let shift = first & 63
    for index in 0..<words {
      let word = unsafe matches[index]
      if word == 0 { continue }
      let order = (first >> 6) &+ UInt64(index)
      append(order, word << shift)
      if shift > 0 { append(order &+ 1, word >> (64 &- shift)) }
    }
  }

  @inline(__always)
  private mutating func append(_ order: UInt64, _ bits: UInt64) {
    if bits == 0 { return }
    if let last = blocks.last, last.order >= order {
      if last.order == order {
        blocks[blocks.count - 1].bits |= bits
        return
      }
      isAscending = false
    }
    blocks.append(LabelBlock(order: order, bits: bits))
  }

  package consuming func root() -> OrderedRoot {
    if !isAscending {
      radixSort(&blocks) { $0.order }
      var merged: ContiguousArray<LabelBlock> = []
      for block in blocks {
        if merged.last?.order == block.order {
          merged[merged.count - 1].bits |= block.bits
        } else {
          merged.append(block)
        }
      }
      blocks = merged
    }
    return OrderedRoot(.keyed(OrderStatisticTree(ascending: blocks)))
  }
}
