/// How a value is added to a group's values, or removed.
enum CountStep {
  /// A scan finds it, before any value is added or removed.
  case found
  /// The same, in a scan without later updates: only the minimum and maximum are kept, not the
  /// values.
  case passing
  case added
  /// A value of the group.
  case removed
}

/// The values of a group in a column, for its minimum and maximum. Equal values are counted.
///
/// Values found by a scan are kept in the order in which they are found; later additions and
/// removals are kept sorted. The found values are sorted once their minimum or maximum is removed.
/// A value type.
struct CountedValues<Order: Comparable & Sendable>: Sendable {
  private struct Entry: OrderStatisticEntry {
    var order: Order
    /// Negative for values removed from the found ones.
    var count: Int
    var weight: Int { 1 }
    static var isUnit: Bool { true }
    static var leafCapacity: Int { 64 }
  }

  private struct End: Sendable {
    var order: Order
    var count = 1
  }

  /// In any order.
  private var found: ContiguousArray<Order>
  /// The minimum and maximum of these; nil without any.
  private var low: End?
  private var high: End?
  private var changes = OrderStatisticTree<Entry>()

  init(_ found: ContiguousArray<Order> = []) {
    self.found = found
    for order in found { note(order) }
  }

  private mutating func note(_ order: Order) {
    if let end = low, end.order <= order {
      if end.order == order { low?.count += 1 }
    } else {
      low = End(order: order)
    }
    if let end = high, end.order >= order {
      if end.order == order { high?.count += 1 }
    } else {
      high = End(order: order)
    }
  }

  /// The minimum or the maximum; nil without values.
  func end(_ isLeast: Bool) -> Order? {
    let changed =
      changes.isEmpty ? nil : changes.entry(at: isLeast ? 0 : changes.weight - 1).order
    guard let end = isLeast ? low?.order : high?.order else { return changed }
    guard let changed else { return end }
    return isLeast ? min(end, changed) : max(end, changed)
  }

  mutating func take(_ order: Order, _ step: CountStep) {
    switch step {
    case .found:
      note(order)
      found.append(order)
    case .passing: note(order)
    case .added: change(order, by: 1)
    case .removed: change(order, by: -1)
    }
  }

  private mutating func change(_ order: Order, by amount: Int) {
    let count = change(of: order) + amount
    let entry = Entry(order: order, count: count)
    changes = changes.applying([count == 0 ? .init(remove: entry) : .init(put: entry)])
    if let low, low.order == order, low.count + count == 0 { sortFound() }
    if let high, high.order == order, high.count + count == 0 { sortFound() }
  }

  private func change(of order: Order) -> Int {
    var cursor = OrderStatisticTree<Entry>.Cursor(changes)
    let (index, isFound) = cursor.seek(order)
    return isFound ? cursor.entries[index].count : 0
  }

  /// From here on all values are sorted.
  private mutating func sortFound() {
    var all: ContiguousArray<Entry> = []
    changes.forEachLeaf { leaf in
      all += leaf.entries
      return true
    }
    found.sort()
    for order in found { all.append(Entry(order: order, count: 1)) }
    all.sort { $0.order < $1.order }
    var merged: ContiguousArray<Entry> = []
    for entry in all {
      if merged.last?.order == entry.order {
        merged[merged.count - 1].count += entry.count
      } else {
        merged.append(entry)
      }
    }
    merged.removeAll { $0.count == 0 }
    changes = OrderStatisticTree(ascending: merged)
    (found, low, high) = ([], nil, nil)
  }
}
