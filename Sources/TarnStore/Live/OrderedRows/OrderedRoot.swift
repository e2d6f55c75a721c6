/// The rows of an incrementally maintained result in order, as a value.
///
/// A root never changes; `applying` makes the next one, which shares all unchanged parts with it.
/// So observers, instances and workers can hold roots of different versions of one result at the
/// cost of their differences, and the old root gives the old position of a row.
///
/// There are two kinds. In a *keyed* root the order is that of the object keys, as in unsorted
/// results: about one bit per row. In a *sorted* root each row has a 64-bit label, greater than
/// those of all rows before it: one tree stores (label, key), another finds a key's label. Neither
/// searches by value, so a row is found however often its value has changed. Labels have no meaning
/// outside and may change from root to root.
package struct OrderedRoot: Sendable {
  enum Storage: Sendable {
    /// `order` is the upper 58 bits of the biased key.
    case keyed(OrderStatisticTree<LabelBlock>)
    /// `rows` has the biased key under the label, `labels` the label under the biased key.
    case sorted(rows: OrderStatisticTree<OrderedRow>, labels: OrderStatisticTree<LabelPair>)
  }

  let storage: Storage

  init(_ storage: Storage) { self.storage = storage }

  /// A root in the order of the keys.
  package init(keyed keys: KeySet) {
    var blocks: ContiguousArray<LabelBlock> = []
    for run in keys.runs { Self.append(run, to: &blocks) }
    storage = .keyed(OrderStatisticTree(ascending: blocks))
  }

  /// A root in the order given.
  ///
  /// - Parameter prefixes: for each key a prefix of its sort value, never descending; empty if they
  ///   are unknown. Then no later update may have them either.
  /// - Precondition: no key occurs twice.
  package init(sorted keys: [ObjectKey], prefixes: [UInt64] = []) {
    require(prefixes.isEmpty || prefixes.count == keys.count)
    self.init(count: keys.count) { offset in
      (Self.biased(keys[offset]), prefixes.isEmpty ? 0 : prefixes[offset])
    }
  }

  /// The same rows sorted by descending keys, which are the values of an integer property.
  func reversedByKeys() -> OrderedRoot {
    let keys = keys
    return OrderedRoot(count: keys.count) { offset in
      let key = keys[keys.count - 1 - offset]
      return (Self.biased(key), OrderPrefix(key.rawValue).reversed(if: true).high)
    }
  }

  /// A sorted root of `count` rows; `row` gives their biased keys and prefixes by position.
  init(count: Int, row: (Int) -> (key: UInt64, prefix: UInt64)) {
    let stride = Self.labelStride(for: count)
    let first = Self.firstLabel(for: count)
    var (least, greatest) = (UInt64.max, UInt64.min)
    let rows = OrderStatisticTree<OrderedRow>(count: count) { offset in
      let (key, prefix) = row(offset)
      least = min(least, key)
      greatest = max(greatest, key)
      return OrderedRow(order: first + UInt64(offset) * stride, value: key, prefix: prefix)
    }
    let isDense = count > 0 && greatest - least < UInt64(count) * 4
    let labels = isDense ? Self.labels(of: rows, from: least, to: greatest) : nil
    storage = .sorted(rows: rows, labels: labels ?? Self.labels(of: rows))
  }

  /// The labels by key, for keys that are close together: each is stored at the index of its key.
  /// Nil for keys that occur twice, as in a damaged file.
  private static func labels(
    of rows: OrderStatisticTree<OrderedRow>, from least: UInt64, to greatest: UInt64
  ) -> OrderStatisticTree<LabelPair>? {
    // No label is zero.
    var orders = ContiguousArray<UInt64>(repeating: 0, count: Int(greatest - least) + 1)
    var overwritten: UInt64 = 0
    unsafe orders.withUnsafeMutableBufferPointer { orders in
      rows.forEachLeaf { leaf in
        for row in leaf.entries {
          let offset = Int(row.value - least)
          overwritten |= unsafe orders[offset]
          unsafe orders[offset] = row.order
        }
        return true
      }
    }
    if overwritten != 0 { return nil }
    var next = 0
    return OrderStatisticTree(count: rows.weight) { _ in
      while orders[next] == 0 { next += 1 }
      defer { next += 1 }
      return LabelPair(order: least + UInt64(next), value: orders[next])
    }
  }

  private static func labels(of rows: OrderStatisticTree<OrderedRow>) -> OrderStatisticTree<
    LabelPair
  > {
    var pairs: ContiguousArray<LabelPair> = []
    pairs.reserveCapacity(rows.weight)
    rows.forEachLeaf { leaf in
      for row in leaf.entries { pairs.append(LabelPair(order: row.value, value: row.order)) }
      return true
    }
    radixSort(&pairs) { $0.order }
    return OrderStatisticTree(ascending: pairs)
  }

  package var count: Int {
    switch storage {
    case .keyed(let blocks): blocks.weight
    case .sorted(let rows, _): rows.weight
    }
  }

  package var isEmpty: Bool { count == 0 }

  /// Traps if the root is inconsistent. For tests.
  package func checkInvariants() {
    switch storage {
    case .keyed(let blocks): blocks.checkInvariants()
    case .sorted(let rows, let labels):
      rows.checkInvariants()
      labels.checkInvariants()
      require(rows.weight == labels.weight)
      var cursor = OrderStatisticTree<LabelPair>.Cursor(labels)
      var last: UInt64 = 0
      rows.forEachLeaf { leaf in
        for row in leaf.entries {
          require(last <= row.prefix)
          last = row.prefix
          let (index, isFound) = cursor.seek(row.value)
          require(isFound && cursor.entries[index].value == row.order)
        }
        return true
      }
    }
  }

  // Keys as unsigned numbers in the same order.
  static func biased(_ key: ObjectKey) -> UInt64 { UInt64(bitPattern: key.rawValue) ^ (1 << 63) }
  static func key(biased: UInt64) -> ObjectKey { ObjectKey(Int64(bitPattern: biased ^ (1 << 63))) }
}

/// The distribution of labels.
extension OrderedRoot {
  /// The distance of labels in a root built at once: large enough for any insertions, and small
  /// enough to leave half of all labels at the ends.
  static func labelStride(for count: Int) -> UInt64 {
    min(1 << 40, (1 << 62) / UInt64(max(count, 1)))
  }
  static func firstLabel(for count: Int) -> UInt64 {
    (1 << 63) - labelStride(for: count) * UInt64(count / 2)
  }
  /// The distance of labels added at an end.
  static var endStride: UInt64 { 1 << 32 }
  /// Between two rows, new rows follow the first one at this distance, or at even distances if
  /// there is less room: rows are usually inserted at the end of a group of equal ones, one after
  /// another, and halving the remaining room would use it up after forty of them.
  static var innerStrideMax: UInt64 { 1 << 20 }
}

/// Reading.
extension OrderedRoot {
  /// The key at a position in 0..<`count`.
  package func key(at position: Int) -> ObjectKey {
    require(position >= 0 && position < count, "the position is out of the bounds of the result")
    switch storage {
    case .sorted(let rows, _):
      let leaf = rows.leaf(at: position)
      return Self.key(biased: leaf.entries[position - leaf.start].value)
    case .keyed(let blocks):
      let leaf = blocks.leaf(at: position)
      var rest = position - leaf.start
      for block in leaf.entries {
        if rest < block.weight { return Self.key(in: block, at: rest) }
        rest -= block.weight
      }
      trap("internal error: a leaf is lighter than its weight")
    }
  }

  /// The position of a row, or nil if the key is not in the result.
  package func position(of key: ObjectKey) -> Int? {
    var lookup = Lookup(self)
    return lookup.position(of: key)
  }

  package func contains(_ key: ObjectKey) -> Bool {
    var lookup = Lookup(self)
    return lookup.contains(key)
  }

  static func bit(_ key: ObjectKey) -> UInt64 { 1 << (UInt64(bitPattern: key.rawValue) & 63) }

  static func key(in block: LabelBlock, at position: Int) -> ObjectKey {
    var bits = block.bits
    for _ in 0..<position { bits &= bits - 1 }
    return key(biased: block.order << 6 | UInt64(bits.trailingZeroBitCount))
  }

  private static func append(_ run: KeyRun, to blocks: inout ContiguousArray<LabelBlock>) {
    var first = biased(ObjectKey(run.first))
    let last = biased(ObjectKey(run.last))
    while true {
      let order = first >> 6
      let lastHere = min(last, order << 6 | 63)
      let bits = (UInt64.max << (first & 63)) & (UInt64.max >> (63 - lastHere & 63))
      if let block = blocks.last, block.order == order {
        blocks[blocks.count - 1].bits |= bits
      } else {
        blocks.append(LabelBlock(order: order, bits: bits))
      }
      if lastHere == last { return }
      first = lastHere + 1
    }
  }

  /// Finds rows; cheap for ascending keys.
  package struct Lookup {
    private let isKeyed: Bool
    private var blocks: OrderStatisticTree<LabelBlock>.Cursor
    private var rows: OrderStatisticTree<OrderedRow>.Cursor
    private var labels: OrderStatisticTree<LabelPair>.Cursor

    package init(_ root: OrderedRoot) {
      switch root.storage {
      case .keyed(let blocks):
        isKeyed = true
        self.blocks = .init(blocks)
        rows = .init(OrderStatisticTree())
        labels = .init(OrderStatisticTree())
      case .sorted(let rows, let labels):
        isKeyed = false
        blocks = .init(OrderStatisticTree())
        self.rows = .init(rows)
        self.labels = .init(labels)
      }
    }

    package mutating func contains(_ key: ObjectKey) -> Bool {
      if !isKeyed { return labels.seek(OrderedRoot.biased(key)).isFound }
      let (index, isFound) = blocks.seek(OrderedRoot.biased(key) >> 6)
      return isFound && blocks.entries[index].bits & OrderedRoot.bit(key) != 0
    }

    package mutating func position(of key: ObjectKey) -> Int? {
      if isKeyed { return OrderedRoot.position(of: key, &blocks) }
      let (index, isFound) = labels.seek(OrderedRoot.biased(key))
      guard isFound else { return nil }
      let (offset, _) = rows.seek(labels.entries[index].value)
      return rows.start + offset
    }
  }

  static func position(
    of key: ObjectKey, _ cursor: inout OrderStatisticTree<LabelBlock>.Cursor
  ) -> Int? {
    let (index, isFound) = cursor.seek(biased(key) >> 6)
    guard isFound, cursor.entries[index].bits & bit(key) != 0 else { return nil }
    var position = cursor.start
    for offset in 0..<index { position += cursor.entries[offset].weight }
    return position + (cursor.entries[index].bits & (bit(key) - 1)).nonzeroBitCount
  }
}

/// Iterating.
extension OrderedRoot {
  /// Passes the keys at the positions in order, until `body` returns false.
  package func forEachKey(in range: Range<Int>, _ body: (ObjectKey) -> Bool) {
    require(range.lowerBound >= 0 && range.upperBound <= count)
    if range.isEmpty { return }
    var skip = 0
    var rest = range.count
    switch storage {
    case .sorted(let rows, _):
      rows.forEachLeaf(from: range.lowerBound) { leaf in
        let first = max(range.lowerBound - leaf.start, 0)
        let end = min(leaf.entries.count, first + rest)
        for index in first..<end {
          if !body(Self.key(biased: leaf.entries[index].value)) { return false }
        }
        rest -= end - first
        return rest > 0
      }
    case .keyed(let blocks):
      blocks.forEachLeaf(from: range.lowerBound) { leaf in
        skip = max(range.lowerBound - leaf.start, 0)
        for block in leaf.entries {
          var bits = block.bits
          if skip >= block.weight {
            skip -= block.weight
            continue
          }
          while skip > 0 {
            bits &= bits - 1
            skip -= 1
          }
          while bits != 0 {
            let key = Self.key(biased: block.order << 6 | UInt64(bits.trailingZeroBitCount))
            if !body(key) { return false }
            rest -= 1
            if rest == 0 { return false }
            bits &= bits - 1
          }
        }
        return true
      }
    }
  }

  /// The keys at the positions, in order.
  package func keys(in range: Range<Int>) -> [ObjectKey] {
    var keys: [ObjectKey] = []
    keys.reserveCapacity(range.count)
    forEachKey(in: range) { key in
      keys.append(key)
      return true
    }
    return keys
  }

  /// All keys, in order.
  package var keys: [ObjectKey] { keys(in: 0..<count) }
}
