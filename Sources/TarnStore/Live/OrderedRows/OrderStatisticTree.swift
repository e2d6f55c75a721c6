/// A counted B+tree with value semantics: entries in the order of a key, each with a weight, and on
/// every branch the sum of the weights below it, so that the entry at a position and the position
/// of an entry are both found on one path from the root to a leaf.
///
/// A tree never changes. `applying` a batch of edits makes a new one that shares every node without
/// edits; the old one stays valid for every holder, on any thread. A batch visits a node once: one
/// edit copies one path, a hundred thousand edits are nearly a linear merge. Leaves are only as
/// long as their entries require, so half-full ones waste no memory.
struct OrderStatisticTree<Entry: OrderStatisticEntry>: Sendable {
  enum Node: Sendable {
    case leaf(ContiguousArray<Entry>)
    case inner(ContiguousArray<Child>)
  }

  struct Child: Sendable {
    /// The first entry below. A key before that of a first child is still looked up there.
    var first: Entry
    var weight: Int
    var node: Node
  }

  private(set) var root: Node
  /// The sum of all weights.
  private(set) var weight: Int
  /// The number of branches on a path to a leaf.
  private(set) var height: Int

  static var innerCapacity: Int { 16 }

  init() {
    root = .leaf([])
    weight = 0
    height = 0
  }

  /// Takes entries in ascending order. Nodes are left an eighth empty, so that the first edits do
  /// not split each of them.
  init(ascending entries: ContiguousArray<Entry>) {
    self.init(count: entries.count) { entries[$0] }
  }

  /// The same for `count` entries; `entry` is called once for each of 0, 1, 2 …
  @inline(__always)
  init(count: Int, entry: (Int) -> Entry) {
    self.init()
    var children: ContiguousArray<Child> = []
    let leafSize = Entry.leafCapacity - Entry.leafCapacity / 8
    children.reserveCapacity(count / leafSize + 1)
    var start = 0
    while start < count {
      let end = Self.end(of: start, in: count, size: leafSize)
      children.append(
        Self.child(
          unsafe ContiguousArray(unsafeUninitializedCapacity: end - start) { leaf, filled in
            for index in start..<end {
              unsafe leaf.initializeElement(at: index - start, to: entry(index))
            }
            filled = end - start
          }))
      start = end
    }
    self.init(children: children, height: 0, size: Self.innerCapacity - Self.innerCapacity / 8)
  }

  /// A tree over nodes of equal height, in order.
  init(children: ContiguousArray<Child>, height: Int, size: Int = OrderStatisticTree.innerCapacity)
  {
    var level = children
    self.height = height
    while level.count > 1 {
      var next: ContiguousArray<Child> = []
      next.reserveCapacity(level.count / size + 1)
      Self.appendInner(level, size: size, to: &next)
      level = next
      self.height += 1
    }
    root = level.first?.node ?? .leaf([])
    weight = level.first?.weight ?? 0
    if level.isEmpty { self.height = 0 }
    // A branch with one child is removed.
    while case .inner(let only) = root, only.count == 1 {
      root = only[0].node
      self.height -= 1
    }
  }

  var isEmpty: Bool { weight == 0 }

  static func child(_ entries: ContiguousArray<Entry>) -> Child {
    var weight = entries.count
    if !Entry.isUnit {
      weight = 0
      for entry in entries { weight += entry.weight }
    }
    return Child(first: entries[0], weight: weight, node: .leaf(entries))
  }

  static func child(_ children: ContiguousArray<Child>) -> Child {
    var weight = 0
    for child in children { weight += child.weight }
    return Child(first: children[0].first, weight: weight, node: .inner(children))
  }

  /// Branches over the nodes, each with at most `size` of them, evenly distributed.
  static func appendInner(
    _ children: ContiguousArray<Child>, size: Int, to result: inout ContiguousArray<Child>
  ) {
    if children.isEmpty { return }
    if children.count <= size {
      result.append(child(children))
      return
    }
    let parts = (children.count + size - 1) / size
    var start = 0
    for part in 1...parts {
      let end = children.count * part / parts
      result.append(child(ContiguousArray(children[start..<end])))
      start = end
    }
  }

  /// The end of a group of about `size` that leaves no tiny group after it.
  private static func end(of start: Int, in count: Int, size: Int) -> Int {
    let rest = count - start
    return rest <= size ? count : rest < size * 2 ? start + rest / 2 : start + size
  }
}

/// An entry of an `OrderStatisticTree`.
protocol OrderStatisticEntry: Sendable {
  associatedtype Order: Comparable & Sendable
  var order: Order { get }
  var weight: Int { get }
  /// True if every weight is 1.
  static var isUnit: Bool { get }
  /// An edit copies a leaf and retains its sibling leaves: longer leaves make the first expensive,
  /// shorter ones the second.
  static var leafCapacity: Int { get }
}

/// Two words: a label and its key, or a key and its label.
struct LabelPair: OrderStatisticEntry, BitwiseCopyable, Equatable {
  var order: UInt64
  var value: UInt64
  var weight: Int { 1 }
  static var isUnit: Bool { true }
  static var leafCapacity: Int { 64 }
}

/// A row of a sorted root: its label, its biased key, and a prefix of its sort value, a number that
/// never descends from row to row. If the numbers of two rows differ, they decide which one comes
/// first, so that finding a row's position rarely reads another row.
struct OrderedRow: OrderStatisticEntry, BitwiseCopyable, Equatable {
  var order: UInt64
  var value: UInt64
  var prefix: UInt64
  var weight: Int { 1 }
  static var isUnit: Bool { true }
  static var leafCapacity: Int { 64 }
}

/// Sixty-four adjacent keys, with a bit for each that is in the set.
struct LabelBlock: OrderStatisticEntry, BitwiseCopyable, Equatable {
  var order: UInt64
  var bits: UInt64
  var weight: Int { bits.nonzeroBitCount }
  static var isUnit: Bool { false }
  static var leafCapacity: Int { 32 }
}

extension OrderStatisticTree {
  /// Traps if the tree is inconsistent. For tests.
  func checkInvariants() {
    var last: Entry.Order?
    let sum = Self.check(root, height, isRoot: true, &last)
    require(sum == weight)
  }

  private static func check(
    _ node: Node, _ height: Int, isRoot: Bool, _ last: inout Entry.Order?
  ) -> Int {
    switch node {
    case .leaf(let entries):
      require(height == 0 && entries.count <= Entry.leafCapacity)
      require(isRoot || !entries.isEmpty)
      for entry in entries {
        require(entry.weight > 0)
        if let last { require(last < entry.order) }
        last = entry.order
      }
      return entries.reduce(0) { $0 + $1.weight }
    case .inner(let children):
      require(height > 0 && children.count <= innerCapacity && !children.isEmpty)
      require(!isRoot || children.count > 1)
      var sum = 0
      for (index, child) in children.enumerated() {
        if let last, index > 0 { require(last < child.first.order) }
        let before = last
        require(check(child.node, height - 1, isRoot: false, &last) == child.weight)
        require(last != before)
        sum += child.weight
      }
      return sum
    }
  }
}
