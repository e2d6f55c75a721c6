/// Numbers filed under ranges of values: finds those whose range contains a value.
///
/// A treap, ordered by the lower bounds. Each node knows the greatest upper bound below it.
/// Filing and taking away take O(log n) on average, and finding O(log n) for each range found.
final class IntervalTree {
  typealias Bound = UInt128

  private final class Node {
    let low: Bound
    let high: Bound
    let priority: UInt64
    var numbers: [Int]
    /// The greatest upper bound of the ranges from here down.
    var greatest: Bound
    var left: Node?
    var right: Node?

    init(_ low: Bound, _ high: Bound, _ number: Int, priority: UInt64) {
      self.low = low
      self.high = high
      self.priority = priority
      numbers = [number]
      greatest = high
    }

    func isBefore(_ low: Bound, _ high: Bound) -> Bool { (self.low, self.high) < (low, high) }

    func update() {
      greatest = max(high, left?.greatest ?? high, right?.greatest ?? high)
    }
  }

  private var root: Node?
  /// The state of a generator of priorities.
  private var random: UInt64 = 0x9e37_79b9_7f4a_7c15

  var isEmpty: Bool { root == nil }

  private func nextPriority() -> UInt64 {
    random ^= random << 13
    random ^= random >> 7
    random ^= random << 17
    return random
  }

  // MARK: - Filing

  /// Files a number under the values from `low` to `high`.
  func insert(_ low: Bound, _ high: Bound, _ number: Int) {
    root = inserting(low, high, number, into: root)
  }

  private func inserting(
    _ low: Bound, _ high: Bound, _ number: Int, into node: Node?
  ) -> Node {
    guard let node else { return Node(low, high, number, priority: nextPriority()) }
    if node.low == low, node.high == high {
      node.numbers.file(number)
      return node
    }
    if node.isBefore(low, high) {
      let child = inserting(low, high, number, into: node.right)
      node.right = child
      if child.priority > node.priority {
        node.right = child.left
        child.left = node
        node.update()
        child.update()
        return child
      }
    } else {
      let child = inserting(low, high, number, into: node.left)
      node.left = child
      if child.priority > node.priority {
        node.left = child.right
        child.right = node
        node.update()
        child.update()
        return child
      }
    }
    node.update()
    return node
  }

  /// Takes away a number that was filed under exactly that range.
  func remove(_ low: Bound, _ high: Bound, _ number: Int) {
    root = removing(low, high, number, from: root)
  }

  private func removing(
    _ low: Bound, _ high: Bound, _ number: Int, from node: Node?
  ) -> Node? {
    guard let node else { trap("internal error: a range that was not filed") }
    if node.low == low, node.high == high {
      node.numbers.unfile(number)
      return node.numbers.isEmpty ? joined(node.left, node.right) : node
    }
    if node.isBefore(low, high) {
      node.right = removing(low, high, number, from: node.right)
    } else {
      node.left = removing(low, high, number, from: node.left)
    }
    node.update()
    return node
  }

  private func joined(_ left: Node?, _ right: Node?) -> Node? {
    guard let left else { return right }
    guard let right else { return left }
    if left.priority > right.priority {
      left.right = joined(left.right, right)
      left.update()
      return left
    }
    right.left = joined(left, right.left)
    right.update()
    return right
  }

  // MARK: - Finding

  /// Calls `body` with the numbers of each range that contains the value.
  func forEach(containing value: Bound, _ body: ([Int]) -> Void) {
    if let root { visit(root, value, body) }
  }

  private func visit(_ node: Node, _ value: Bound, _ body: ([Int]) -> Void) {
    guard value <= node.greatest else { return }
    if let left = node.left { visit(left, value, body) }
    guard node.low <= value else { return }
    if value <= node.high { body(node.numbers) }
    if let right = node.right { visit(right, value, body) }
  }
}

/// Numbers filed in one place, ascending.
extension [Int] {
  mutating func file(_ number: Int) {
    // Mostly the newest, which is the greatest.
    if let last, last < number { return append(number) }
    insert(number, at: partitioningIndex { $0 >= number })
  }

  mutating func unfile(_ number: Int) {
    let index = partitioningIndex { $0 >= number }
    require(index < count && self[index] == number, "internal error: a number that was not filed")
    remove(at: index)
  }
}
