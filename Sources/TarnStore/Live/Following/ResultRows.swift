/// The ordered rows of results at one version: all of them, or a range.
package struct ResultRows: LiveContent {
  /// All rows, as far as they are known. The larger and rarer contents are elsewhere in memory.
  enum All: Sendable {
    case root(OrderedRoot)
    indirect case elements(ElementsModel.Content)
    indirect case values(ValuesModel.Content)
    /// Some objects, without a state that a step could begin from.
    case keys([ObjectKey])

    fileprivate var count: Int {
      switch self {
      case .root(let root): root.count
      case .elements(let content): content.rows.count
      case .values(let content): content.rows.values.count
      case .keys(let keys): keys.count
      }
    }
  }

  var all: All
  /// The positions shown among all rows, as far as there are rows; nil for all.
  let window: Range<Int>?

  init(_ all: All, _ window: Range<Int>? = nil) {
    self.all = all
    self.window = window
  }

  /// All rows of a query over a class.
  package init(_ root: OrderedRoot) { self.init(.root(root)) }

  /// The rows, if they are all rows of a query over a class.
  package var root: OrderedRoot? {
    if window == nil, case .root(let root) = all { root } else { nil }
  }

  package var isOwnerGone: Bool {
    switch all {
    case .root, .keys: false
    case .elements(let content): content.isOwnerGone
    case .values(let content): content.isOwnerGone
    }
  }

  package var hasState: Bool { if case .keys = all { false } else { true } }

  package var baseline: LiveBaseline { LiveBaseline(count: count, root: root) }

  package var count: Int { window.map { $0.clamped(to: 0..<all.count).count } ?? all.count }

  /// The position of the first row among all.
  private var start: Int { window.map { $0.clamped(to: 0..<all.count).lowerBound } ?? 0 }

  /// The elements of results of values; nil for objects.
  package var values: ValueRows? {
    guard case .values(let content) = all else { return nil }
    return window == nil ? content.rows : content.rows[start..<start + count]
  }

  /// The element at a position, for values; nil for objects.
  package func value(at position: Int) -> Value? {
    if case .values(let content) = all { content.rows.values[start + position] } else { nil }
  }

  package func key(at position: Int) -> ObjectKey {
    switch all {
    case .root(let root): root.key(at: start + position)
    case .elements(let content): content.rows.key(at: start + position)
    case .values: trap("internal error: values have no keys")
    case .keys(let keys): keys[start + position]
    }
  }

  package func keys(in range: Range<Int>) -> [ObjectKey] {
    let range = start + range.lowerBound..<start + range.upperBound
    return switch all {
    case .root(let root): root.keys(in: range)
    case .elements(let content): content.rows.keys(in: range)
    case .values: trap("internal error: values have no keys")
    case .keys(let keys): Array(keys[range])
    }
  }

  /// The first position of an object.
  package func position(of key: ObjectKey) -> Int? {
    switch all {
    case .root(let root):
      guard let position = root.position(of: key) else { return nil }
      let found = position - start
      return found >= 0 && found < count ? found : nil
    case .elements, .keys: return keys(in: 0..<count).firstIndex(of: key)
    case .values: return nil
    }
  }

  /// The objects, each once, in any order.
  package var objects: [ObjectKey] {
    switch all {
    case .root: keys(in: 0..<count)
    case .elements, .keys: Set(keys(in: 0..<count)).sorted()
    case .values: []
    }
  }
}
