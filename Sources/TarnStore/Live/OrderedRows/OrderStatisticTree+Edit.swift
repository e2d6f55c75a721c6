extension OrderStatisticTree {
  /// Inserts an entry, replacing one with the same order, or removes one if it exists.
  struct Edit {
    var entry: Entry
    var isRemoval: Bool
    init(put entry: Entry) {
      self.entry = entry
      isRemoval = false
    }
    init(remove entry: Entry) {
      self.entry = entry
      isRemoval = true
    }
  }

  /// The tree after the edits, which are ascending, with distinct orders.
  func applying(_ edits: ContiguousArray<Edit>) -> OrderStatisticTree {
    if edits.isEmpty { return self }
    assert(zip(edits, edits.dropFirst()).allSatisfy { $0.entry.order < $1.entry.order })
    var nodes: ContiguousArray<Child> = []
    Self.apply(edits, 0..<edits.count, to: root, into: &nodes)
    return OrderStatisticTree(children: nodes, height: height)
  }

  /// Appends the result of editing the node: none, one or several nodes of the same height.
  private static func apply(
    _ edits: ContiguousArray<Edit>, _ range: Range<Int>, to node: Node,
    into result: inout ContiguousArray<Child>
  ) {
    switch node {
    case .leaf(let entries): applyToLeaf(edits, range, entries, into: &result)
    case .inner(let children):
      var changed: ContiguousArray<Child> = []
      changed.reserveCapacity(children.count + 1)
      var next = range.lowerBound
      var hasSmall = false
      for index in children.indices {
        let start = next
        if index + 1 == children.count {
          next = range.upperBound
        } else {
          let bound = children[index + 1].first.order
          while next < range.upperBound && edits[next].entry.order < bound { next += 1 }
        }
        if start == next {
          changed.append(children[index])
          continue
        }
        let before = changed.count
        apply(edits, start..<next, to: children[index].node, into: &changed)
        for position in before..<changed.count where isSmall(changed[position].node) {
          hasSmall = true
        }
      }
      if hasSmall { joinSmall(&changed) }
      appendInner(changed, size: innerCapacity, to: &result)
    }
  }

  private static func applyToLeaf(
    _ edits: ContiguousArray<Edit>, _ range: Range<Int>, _ entries: ContiguousArray<Entry>,
    into result: inout ContiguousArray<Child>
  ) {
    let merged = merge(edits, range, entries)
    if merged.isEmpty { return }
    if merged.count <= Entry.leafCapacity {
      result.append(child(merged))
      return
    }
    // Entries added only at the end fill leaf after leaf; otherwise they are distributed evenly.
    let isAppend = entries.last.map { $0.order < edits[range.lowerBound].entry.order } ?? true
    let parts = (merged.count + Entry.leafCapacity - 1) / Entry.leafCapacity
    var start = 0
    for part in 1...parts {
      let end =
        isAppend
        ? min(start + Entry.leafCapacity, merged.count) : merged.count * part / parts
      result.append(child(ContiguousArray(merged[start..<end])))
      start = end
    }
  }

  private static func merge(
    _ edits: ContiguousArray<Edit>, _ range: Range<Int>, _ entries: ContiguousArray<Entry>
  ) -> ContiguousArray<Entry> {
    var room = entries.count
    for index in range where !edits[index].isRemoval { room += 1 }
    return unsafe ContiguousArray(unsafeUninitializedCapacity: room) { buffer, count in
      unsafe entries.withUnsafeBufferPointer { old in
        var from = 0
        for index in range {
          let edit = edits[index]
          let stop = unsafe firstIndex(in: old, from: from, notBefore: edit.entry.order)
          count = unsafe copy(old, from..<stop, to: buffer, at: count)
          from = stop
          if from < old.count, unsafe old[from].order == edit.entry.order { from += 1 }
          if !edit.isRemoval {
            unsafe buffer.initializeElement(at: count, to: edit.entry)
            count += 1
          }
        }
        count = unsafe copy(old, from..<old.count, to: buffer, at: count)
      }
    }
  }

  private static func copy(
    _ old: UnsafeBufferPointer<Entry>, _ range: Range<Int>,
    to buffer: UnsafeMutableBufferPointer<Entry>, at start: Int
  ) -> Int {
    if range.isEmpty { return start }
    unsafe (buffer.baseAddress! + start).initialize(
      from: old.baseAddress! + range.lowerBound, count: range.count)
    return start + range.count
  }

  static func firstIndex(
    in entries: UnsafeBufferPointer<Entry>, from start: Int, notBefore order: Entry.Order
  ) -> Int {
    (start..<entries.count).partitioningIndex { unsafe entries[$0].order >= order }
  }

  private static func size(_ node: Node) -> (used: Int, capacity: Int) {
    switch node {
    case .leaf(let entries): (entries.count, Entry.leafCapacity)
    case .inner(let children): (children.count, innerCapacity)
    }
  }

  private static func isSmall(_ node: Node) -> Bool {
    let (used, capacity) = size(node)
    return used * 4 < capacity
  }

  /// Joins nodes that shrank to less than a quarter with a neighbour that has room, so that a tree
  /// from which most entries were removed does not keep the height and the nodes of a large one.
  private static func joinSmall(_ nodes: inout ContiguousArray<Child>) {
    var result: ContiguousArray<Child> = []
    result.reserveCapacity(nodes.count)
    for node in nodes {
      guard let last = result.last else {
        result.append(node)
        continue
      }
      let (used, capacity) = size(node.node)
      let lastUsed = size(last.node).used
      let isEitherSmall = used * 4 < capacity || lastUsed * 4 < capacity
      guard isEitherSmall && used + lastUsed <= capacity * 3 / 4 else {
        result.append(node)
        continue
      }
      switch (last.node, node.node) {
      case (.leaf(let a), .leaf(let b)): result[result.count - 1] = child(a + b)
      case (.inner(let a), .inner(let b)): result[result.count - 1] = child(a + b)
      default: trap("internal error: neighbours of different heights")
      }
    }
    nodes = result
  }
}
