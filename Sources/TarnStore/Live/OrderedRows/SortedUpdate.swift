/// One update of a sorted root: removals, insertions, and labels for the inserted rows.
///
/// A new row gets a label between those of its neighbours. Without a free label, the rows around it
/// get new labels with room between them: in a window that doubles until its labels are sparse, in
/// the worst case all rows.
struct SortedUpdate {
  /// A row to be inserted, with a prefix of its sort value.
  struct Incoming {
    var key: ObjectKey
    var prefix: UInt64
  }

  private typealias Edits = ContiguousArray<OrderStatisticTree<OrderedRow>.Edit>
  /// Including removed rows, until `removeRows` or the end.
  private var rows: OrderStatisticTree<OrderedRow>
  /// Pending edits of `rows`, and the positions of these rows in it.
  private var outgoing: Edits = []
  private var removed = RemovedRows()
  private var labels: OrderStatisticTree<LabelPair>
  /// Pending edits of `labels`: removed keys.
  private var gone: ContiguousArray<OrderStatisticTree<LabelPair>.Edit> = []
  /// All removed or inserted keys, biased and ascending.
  private(set) var keys: ContiguousArray<UInt64> = []
  /// Their old and new positions, ascending, with their positions in `keys`.
  private(set) var oldRows: ContiguousArray<OrderedRoot.Ranked> = []
  private(set) var newRows: ContiguousArray<OrderedRoot.Ranked> = []

  init(_ rows: OrderStatisticTree<OrderedRow>, _ labels: OrderStatisticTree<LabelPair>) {
    self.rows = rows
    self.labels = labels
  }

  var result: OrderedRoot { OrderedRoot(.sorted(rows: rows, labels: labels)) }

  /// Removes those of these rows that are in the root.
  mutating func takeOut(_ removals: [ObjectKey], _ insertions: [ObjectKey]) {
    var all: ContiguousArray<UInt64> = []
    all.reserveCapacity(removals.count + insertions.count)
    for key in removals { all.append(OrderedRoot.biased(key)) }
    for key in insertions { all.append(OrderedRoot.biased(key)) }
    radixSort(&all) { $0 }
    keys.reserveCapacity(all.count)
    gone.reserveCapacity(all.count)
    // Labels with the positions of their keys.
    var out: ContiguousArray<LabelPair> = []
    out.reserveCapacity(all.count)
    var cursor = OrderStatisticTree.Cursor(labels)
    for key in all where key != keys.last {
      let (index, isFound) = cursor.seek(key)
      if isFound {
        let pair = cursor.entries[index]
        gone.append(.init(remove: pair))
        out.append(LabelPair(order: pair.value, value: UInt64(keys.count)))
      }
      keys.append(key)
    }
    radixSort(&out) { $0.order }
    oldRows.reserveCapacity(out.count)
    outgoing.reserveCapacity(out.count)
    removed.positions.reserveCapacity(out.count)
    var rowCursor = OrderStatisticTree.Cursor(rows)
    for pair in out {
      let offset = rowCursor.seek(pair.order).index
      oldRows.append(.init(position: rowCursor.start + offset, index: Int(pair.value)))
      outgoing.append(.init(remove: rowCursor.entries[offset]))
      removed.positions.append(rowCursor.start + offset)
    }
  }

  private mutating func removeRows() {
    rows = rows.applying(outgoing)
    outgoing = []
    removed = RemovedRows()
  }

  /// Inserts rows that are sorted and not in `rows`, and updates both trees. Calls
  /// `isOrderedBefore` only for rows with equal prefixes.
  mutating func putIn(
    _ ordered: [Incoming],
    _ isOrderedBefore: (ObjectKey, ObjectKey) throws(StorageError) -> Bool
  ) throws(StorageError) {
    var gaps = ContiguousArray<Int>(repeating: 0, count: ordered.count)
    try findGaps(ordered, 0..<ordered.count, 0..<rows.weight, isOrderedBefore, &gaps)
    for index in gaps.indices { gaps[index] -= removed.count(before: gaps[index]) }
    var new = labeled(ordered, gaps)
    var attempts = 0
    while new == nil {
      attempts += 1
      removeRows()
      makeRoom(gaps, everywhere: attempts > 3)
      new = labeled(ordered, gaps)
    }
    rows = rows.applying(rowEdits(new!))
    labels = labels.applying(labelEdits(new!))
    rank(ordered, gaps)
  }

  /// A new row's position: the number of rows before its gap, and of new ones before it.
  private mutating func rank(_ ordered: [Incoming], _ gaps: ContiguousArray<Int>) {
    newRows.reserveCapacity(ordered.count)
    for (ordinal, row) in ordered.enumerated() {
      let biased = OrderedRoot.biased(row.key)
      let index = unsafe keys.withUnsafeBufferPointer { keys in
        (0..<keys.count).partitioningIndex { unsafe keys[$0] >= biased }
      }
      newRows.append(.init(position: gaps[ordinal] + ordinal, index: index))
    }
  }

  /// The position before which each new row is inserted, the middle one first, so that it halves
  /// the range for the others. Removed rows still count.
  private func findGaps(
    _ ordered: [Incoming], _ part: Range<Int>, _ range: Range<Int>,
    _ isOrderedBefore: (ObjectKey, ObjectKey) throws(StorageError) -> Bool,
    _ gaps: inout ContiguousArray<Int>
  ) throws(StorageError) {
    if part.isEmpty { return }
    if range.isEmpty {
      for index in part { gaps[index] = range.lowerBound }
      return
    }
    let middle = part.lowerBound + part.count / 2
    let new = ordered[middle]
    let gap = try rows.partitionPoint(in: range) { (row) throws(StorageError) in
      if row.prefix != new.prefix { return row.prefix < new.prefix }
      guard let row = staying(at: row) else { return true }
      if row.prefix != new.prefix { return true }
      return try isOrderedBefore(OrderedRoot.key(biased: row.value), new.key)
    }
    gaps[middle] = gap
    try findGaps(
      ordered, part.lowerBound..<middle, range.lowerBound..<gap, isOrderedBefore, &gaps)
    try findGaps(
      ordered, middle + 1..<part.upperBound, gap..<range.upperBound, isOrderedBefore, &gaps)
  }

  /// The row itself if it stays, or else the last staying row before it: a removed row may have
  /// another value now and cannot be compared.
  private func staying(at row: OrderedRow) -> OrderedRow? {
    let index = outgoing.partitioningIndex { $0.entry.order >= row.order }
    guard index < outgoing.count, outgoing[index].entry.order == row.order else { return row }
    let gap = removed.positions[index] - index
    return gap == 0 ? nil : rows.entry(at: removed.position(ofStaying: gap - 1))
  }

  /// The new rows with labels, ascending, or nil if a gap has too few labels.
  private func labeled(
    _ ordered: [Incoming], _ gaps: ContiguousArray<Int>
  ) -> ContiguousArray<OrderedRow>? {
    var result: ContiguousArray<OrderedRow> = []
    result.reserveCapacity(ordered.count)
    var reader = RowReader(rows, removed)
    var start = 0
    while start < gaps.count {
      var end = start + 1
      while end < gaps.count && gaps[end] == gaps[start] { end += 1 }
      let (before, after) = reader.labels(around: gaps[start])
      guard let spread = Self.spread(end - start, after: before, before: after) else { return nil }
      var label = spread.first
      for index in start..<end {
        let row = ordered[index]
        result.append(
          OrderedRow(order: label, value: OrderedRoot.biased(row.key), prefix: row.prefix))
        label &+= spread.stride
      }
      start = end
    }
    return result
  }

  /// `count` labels between two, or nil if there are fewer.
  private static func spread(
    _ count: Int, after low: UInt64?, before high: UInt64?
  ) -> (first: UInt64, stride: UInt64)? {
    let count = UInt64(count)
    switch (low, high) {
    case (nil, nil):
      return (
        OrderedRoot.firstLabel(for: Int(count)), OrderedRoot.labelStride(for: Int(count))
      )
    case (let low?, nil):
      let stride = min(OrderedRoot.endStride, (UInt64.max - low) / count)
      return stride == 0 ? nil : (low + stride, stride)
    case (nil, let high?):
      let stride = min(OrderedRoot.endStride, high / count)
      return stride == 0 ? nil : (high - stride * count, stride)
    case (let low?, let high?):
      let stride = min(OrderedRoot.innerStrideMax, (high - low) / (count + 1))
      return stride == 0 ? nil : (low + stride, stride)
    }
  }

  /// The edits of `rows`: the removed rows, and the new ones, which may have the label of a removed
  /// one.
  private func rowEdits(_ new: ContiguousArray<OrderedRow>) -> Edits {
    Self.merging(outgoing, ContiguousArray(new.map { .init(put: $0) }))
  }

  /// The edits of `labels`: the removed keys, unless they were inserted again.
  private func labelEdits(
    _ new: ContiguousArray<OrderedRow>
  ) -> ContiguousArray<OrderStatisticTree<LabelPair>.Edit> {
    var pairs = ContiguousArray(new.map { LabelPair(order: $0.value, value: $0.order) })
    radixSort(&pairs) { $0.order }
    return Self.merging(gone, ContiguousArray(pairs.map { .init(put: $0) }))
  }

  /// All edits in order, without removals of entries that are put again.
  private static func merging<Entry>(
    _ removals: ContiguousArray<OrderStatisticTree<Entry>.Edit>,
    _ puts: ContiguousArray<OrderStatisticTree<Entry>.Edit>
  ) -> ContiguousArray<OrderStatisticTree<Entry>.Edit> {
    var edits: ContiguousArray<OrderStatisticTree<Entry>.Edit> = []
    edits.reserveCapacity(removals.count + puts.count)
    var index = 0
    for removal in removals {
      while index < puts.count && puts[index].entry.order < removal.entry.order {
        edits.append(puts[index])
        index += 1
      }
      if index == puts.count || puts[index].entry.order != removal.entry.order {
        edits.append(removal)
      }
    }
    edits.append(contentsOf: puts[index...])
    return edits
  }
}

/// Rows that were removed from a tree but are still in it, by their positions.
private struct RemovedRows {
  /// Ascending.
  var positions: ContiguousArray<Int> = []

  func count(before position: Int) -> Int { positions.partitioningIndex { $0 >= position } }

  /// The position of the row that is preceded by that many staying rows.
  func position(ofStaying number: Int) -> Int {
    number + positions.indices.partitioningIndex { positions[$0] - $0 > number }
  }
}

/// Makes room where labels ran out.
extension SortedUpdate {
  private mutating func makeRoom(_ gaps: ContiguousArray<Int>, everywhere: Bool) {
    var start = 0
    var relabelled = 0
    while start < gaps.count {
      var end = start + 1
      while end < gaps.count && gaps[end] == gaps[start] { end += 1 }
      var reader = RowReader(rows)
      let (before, after) = reader.labels(around: gaps[start])
      if everywhere || Self.spread(end - start, after: before, before: after) == nil {
        relabelled += everywhere ? rows.weight : relabel(around: gaps[start], end - start)
      }
      if relabelled >= rows.weight / 8 {
        relabelAll()
        return
      }
      start = end
    }
  }

  /// Gives the rows around the gap new labels, with room for `count` between them. Returns the
  /// number of rows.
  private mutating func relabel(around gap: Int, _ count: Int) -> Int {
    var reach = 16
    while reach < rows.weight {
      let first = max(gap - reach, 0)
      let end = min(gap + reach, rows.weight)
      var reader = RowReader(rows)
      let ends = OrderedRoot.endStride * UInt64(reach)
      let firstLabel = reader.label(at: first)
      let low = first == 0 ? firstLabel - min(ends, firstLabel) : reader.label(at: first - 1)
      let lastLabel = reader.label(at: end - 1)
      let high =
        end == rows.weight
        ? lastLabel + min(ends, UInt64.max - lastLabel) : reader.label(at: end)
      let stride = (high - low) / UInt64(end - first + count + 1)
      if stride >= 1 << 12 {
        relabel(first..<end, gap, count, from: low + stride, stride)
        return end - first
      }
      reach *= 2
    }
    relabelAll()
    return rows.weight
  }

  private mutating func relabel(
    _ range: Range<Int>, _ gap: Int, _ count: Int, from first: UInt64, _ stride: UInt64
  ) {
    var old: ContiguousArray<OrderedRow> = []
    var new: ContiguousArray<OrderedRow> = []
    var reader = RowReader(rows)
    for position in range {
      let row = reader.row(at: position)
      let rank = UInt64(position - range.lowerBound + (position >= gap ? count : 0))
      old.append(row)
      new.append(row)
      new[new.count - 1].order = first + rank * stride
    }
    rows = rows.applying(
      Self.merging(
        ContiguousArray(old.map { .init(remove: $0) }), ContiguousArray(new.map { .init(put: $0) }))
    )
    var pairs = ContiguousArray(new.map { LabelPair(order: $0.value, value: $0.order) })
    radixSort(&pairs) { $0.order }
    labels = labels.applying(ContiguousArray(pairs.map { .init(put: $0) }))
  }

  /// Gives all rows new labels, as if built at once. `labels` keeps removed rows until the update
  /// ends.
  private mutating func relabelAll() {
    var all: ContiguousArray<OrderedRow> = []
    all.reserveCapacity(rows.weight)
    rows.forEachLeaf { leaf in
      all.append(contentsOf: leaf.entries)
      return true
    }
    let root = OrderedRoot(count: all.count) { (all[$0].value, all[$0].prefix) }
    guard case .sorted(let rows, let labels) = root.storage else { return }
    self.rows = rows
    self.labels = labels
    gone = []
  }
}

/// Reads rows by position, cheap for neighbours.
private struct RowReader {
  private let rows: OrderStatisticTree<OrderedRow>
  private let removed: RemovedRows
  private var leaf: OrderStatisticTree<OrderedRow>.Leaf

  init(_ rows: OrderStatisticTree<OrderedRow>, _ removed: RemovedRows = RemovedRows()) {
    self.rows = rows
    self.removed = removed
    leaf = .init(entries: [], start: 0)
  }

  mutating func row(at position: Int) -> OrderedRow {
    if position < leaf.start || position >= leaf.start + leaf.entries.count {
      leaf = rows.leaf(at: position)
    }
    return leaf.entries[position - leaf.start]
  }

  mutating func label(at position: Int) -> UInt64 { row(at: position).order }

  /// The labels on both sides of a gap among the staying rows, nil at an end.
  mutating func labels(around gap: Int) -> (UInt64?, UInt64?) {
    let before = gap > 0 ? label(at: removed.position(ofStaying: gap - 1)) : nil
    let after = removed.position(ofStaying: gap)
    return (before, after < rows.weight ? label(at: after) : nil)
  }
}
