extension OrderStatisticTree {
  /// A leaf and its start position.
  struct Leaf {
    var entries: ContiguousArray<Entry>
    /// The sum of the weights before the leaf.
    var start: Int
  }

  /// The leaf that holds the position, which is less than the tree's weight.
  func leaf(at position: Int) -> Leaf {
    assert(position >= 0 && position < weight)
    var rest = position
    var node = root
    while true {
      switch node {
      case .leaf(let entries): return Leaf(entries: entries, start: position - rest)
      case .inner(let children):
        var index = 0
        while rest >= children[index].weight {
          rest -= children[index].weight
          index += 1
        }
        node = children[index].node
      }
    }
  }

  /// The entry at the position, in a tree of unit weights.
  func entry(at position: Int) -> Entry {
    let leaf = leaf(at: position)
    return leaf.entries[position - leaf.start]
  }

  /// Looks up one order after another. Neighbours are found in the current leaf, so that each of
  /// several ascending orders costs a fraction of a path from the root.
  struct Cursor {
    private let tree: OrderStatisticTree
    private(set) var entries: ContiguousArray<Entry> = []
    /// The sum of the weights before the leaf.
    private(set) var start = 0
    /// The leaf is the one for orders from `low` on and below `end`; nil without such a bound.
    private var low: Entry.Order?
    private var end: Entry.Order?
    private var isPlaced = false

    init(_ tree: OrderStatisticTree) { self.tree = tree }

    /// Moves to the leaf that contains, or would contain, the order. Returns its position there and
    /// whether an entry with that order is at it.
    @inline(__always)
    mutating func seek(_ order: Entry.Order) -> (index: Int, isFound: Bool) {
      if !covers(order) { descend(order) }
      return unsafe entries.withUnsafeBufferPointer { entries in
        let index = unsafe OrderStatisticTree.firstIndex(in: entries, from: 0, notBefore: order)
        return (index, unsafe index < entries.count && entries[index].order == order)
      }
    }

    @inline(__always)
    private func covers(_ order: Entry.Order) -> Bool {
      if !isPlaced { return false }
      if let low, order < low { return false }
      if let end { return order < end }
      return true
    }

    @inline(never)
    private mutating func descend(_ order: Entry.Order) {
      var node = tree.root
      start = 0
      (low, end, isPlaced) = (nil, nil, true)
      while true {
        switch node {
        case .leaf(let entries):
          self.entries = entries
          return
        case .inner(let children):
          var index = 0
          while index + 1 < children.count && children[index + 1].first.order <= order {
            start += children[index].weight
            index += 1
          }
          if index > 0 { low = children[index].first.order }
          if index + 1 < children.count { end = children[index + 1].first.order }
          node = children[index].node
        }
      }
    }
  }

  /// The first position in the range for which `isBefore` is false; all positions for which it is
  /// true come first. Calls it for about as few entries as a binary search. For trees of unit
  /// weights.
  func partitionPoint(
    in range: Range<Int>, isBefore: (Entry) throws(StorageError) -> Bool
  ) throws(StorageError) -> Int {
    assert(Entry.isUnit && range.lowerBound >= 0 && range.upperBound <= weight)
    if range.isEmpty { return range.lowerBound }
    var node = root
    var start = 0
    // Never past the end of the node: the first entry after it is known not to be before.
    var upperBound = range.upperBound
    while true {
      switch node {
      case .leaf(let entries):
        let low = max(range.lowerBound - start, 0)
        let part = low..<max(low, min(upperBound - start, entries.count))
        let index = try part.partitioningIndex { index throws(StorageError) in
          try !isBefore(entries[index])
        }
        return start + index
      case .inner(let children):
        // The last child that begins inside the range with an entry for which it holds, else
        // the child in which the range begins.
        var low = 0
        while start + children[low].weight <= range.lowerBound {
          start += children[low].weight
          low += 1
        }
        var high = low
        var end = start + children[low].weight
        while end < upperBound {
          high += 1
          end += children[high].weight
        }
        let first = low
        low =
          try (first + 1..<high + 1).partitioningIndex { index throws(StorageError) in
            try !isBefore(children[index].first)
          } - 1
        for index in first..<low { start += children[index].weight }
        upperBound = min(upperBound, start + children[low].weight)
        node = children[low].node
      }
    }
  }

  /// Passes the leaves from the one at the position on, until `body` returns false.
  func forEachLeaf(from position: Int = 0, _ body: (Leaf) -> Bool) {
    var position = position
    while position < weight {
      let leaf = leaf(at: position)
      if !body(leaf) { return }
      if Entry.isUnit {
        position = leaf.start + leaf.entries.count
      } else {
        position = leaf.start + leaf.entries.reduce(0) { $0 + $1.weight }
      }
    }
  }
}
