/// Finds what hangs together in a circle: sets of nodes of which each reaches each other one.
struct Knots<Node: Hashable & Comparable> {
  private let next: [Node: Set<Node>]
  private var order: [Node: Int] = [:]
  /// The first node in `order` that a node is known to reach, of those in no set yet.
  private var lowest: [Node: Int] = [:]
  private var open: [Node] = []
  private var isOpen: Set<Node> = []
  private var found: [[Node]] = []

  /// The knots of two nodes and more, the largest first, the nodes of each in their order.
  static func all(in next: [Node: Set<Node>]) -> [[Node]] {
    var knots = Knots(next)
    for node in next.keys.sorted() where knots.order[node] == nil { knots.visit(node) }
    return knots.found.sorted { ($1.count, $0[0]) < ($0.count, $1[0]) }
  }

  private init(_ next: [Node: Set<Node>]) { self.next = next }

  /// Tarjan's algorithm. The recursion is as deep as there are nodes: files of a library.
  private mutating func visit(_ node: Node) {
    let number = order.count
    (order[node], lowest[node]) = (number, number)
    open.append(node)
    isOpen.insert(node)
    var low = number
    for other in (next[node] ?? []).sorted() {
      if let met = order[other] {
        if isOpen.contains(other) { low = min(low, met) }
      } else {
        visit(other)
        low = min(low, lowest[other] ?? low)
      }
    }
    lowest[node] = low
    guard low == number else { return }
    var knot: [Node] = []
    while let last = open.popLast() {
      isOpen.remove(last)
      knot.append(last)
      if last == node { break }
    }
    if knot.count > 1 { found.append(knot.sorted()) }
  }
}
