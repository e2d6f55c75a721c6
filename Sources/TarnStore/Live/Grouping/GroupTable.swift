/// One group: its number of rows, and their aggregates. Never changes.
final class GroupState: Sendable {
  /// The common value of the rows; null for one group of all rows.
  let key: Value
  let count: Int
  let columns: [ColumnTotals]
  /// The requested aggregates, in order.
  let values: [Value]

  init(key: Value, count: Int, _ columns: [ColumnTotals], values: [Value]) {
    self.key = key
    self.count = count
    self.columns = columns
    self.values = values
  }

  /// True if both show the same elements: the form of an aggregate depends on the order in which
  /// rows were added and removed.
  fileprivate func shows(_ other: GroupState) -> Bool {
    count == other.count
      && values.elementsEqual(other.values) { $0.isSameElement(as: $1) }
  }
}

/// The groups at one version, in the order of their keys. Never changes; tables share their equal
/// parts.
package final class GroupTable: Sendable {
  struct Entry: OrderStatisticEntry {
    var order: GroupValue
    var state: GroupState
    var weight: Int { 1 }
    static var isUnit: Bool { true }
    static var leafCapacity: Int { 16 }
  }

  private let tree: OrderStatisticTree<Entry>

  init(_ tree: OrderStatisticTree<Entry>) { self.tree = tree }

  /// No groups.
  package convenience init() { self.init(OrderStatisticTree()) }

  /// The number of groups.
  package var count: Int { tree.weight }
  /// The value that the rows of a group have in common.
  package func key(at position: Int) -> Value { state(at: position).key }
  /// The number of rows of a group.
  package func rowCount(at position: Int) -> Int { state(at: position).count }
  /// The requested aggregates of a group, in order.
  package func values(at position: Int) -> [Value] { state(at: position).values }

  private func state(at position: Int) -> GroupState { tree.entry(at: position).state }

  /// The position of the group with a key as it is stored in a column; nil if the group does not
  /// exist.
  package func position(of key: Value) -> Int? { GroupValue(key).flatMap(position) }

  private func position(of group: GroupValue) -> Int? {
    var cursor = OrderStatisticTree<Entry>.Cursor(tree)
    let (index, isFound) = cursor.seek(group)
    return isFound ? cursor.start + index : nil
  }

  func state(of group: GroupValue) -> GroupState? {
    position(of: group).map { state(at: $0) }
  }

  /// The table after groups were added, changed or removed (nil).
  func applying(_ changes: [GroupValue: GroupState?], _ none: GroupState) -> GroupTable {
    if changes.isEmpty { return self }
    let edits = changes.sorted { $0.key < $1.key }.map {
      (group, state) -> OrderStatisticTree<Entry>.Edit in
      guard let state else { return .init(remove: Entry(order: group, state: none)) }
      return .init(put: Entry(order: group, state: state))
    }
    return GroupTable(tree.applying(ContiguousArray(edits)))
  }

  // MARK: - Differences

  /// The changes of groups from this table to a later one.
  ///
  /// - Parameter touched: the only groups that may differ; nil if unknown.
  func difference(to later: GroupTable, touched: Set<GroupValue>?) -> IndexChanges {
    if self === later { return IndexChanges() }
    guard let touched else { return difference(toAll: later) }
    var changes = IndexChanges()
    for group in touched.sorted() {
      note(position(of: group), later.position(of: group), later, in: &changes)
    }
    return changes
  }

  private func difference(toAll later: GroupTable) -> IndexChanges {
    var (old, new) = (0, 0)
    var changes = IndexChanges()
    while old < count || new < later.count {
      let before = old < count ? tree.entry(at: old).order : nil
      let now = new < later.count ? later.tree.entry(at: new).order : nil
      let isOld = now.map { now in before.map { $0 <= now } ?? false } ?? true
      let isNew = before.map { before in now.map { $0 <= before } ?? false } ?? true
      note(isOld ? old : nil, isNew ? new : nil, later, in: &changes)
      if isOld { old += 1 }
      if isNew { new += 1 }
    }
    return changes
  }

  private func note(
    _ old: Int?, _ new: Int?, _ later: GroupTable, in changes: inout IndexChanges
  ) {
    switch (old, new) {
    case (nil, nil): break
    case (let old?, nil): changes.deletions.append(old)
    case (nil, let new?): changes.insertions.append(new)
    case (let old?, let new?):
      let (before, now) = (state(at: old), later.state(at: new))
      if before === now || before.shows(now) { return }
      changes.modifications.append(old)
      changes.modificationsNew.append(new)
    }
  }
}

extension GroupValue {
  /// Nil for a value that is not stored in a column.
  fileprivate init?(_ value: Value) {
    switch value {
    case .string(let text): self = .bytes(Array(text.utf8))
    case .data(let bytes): self = .bytes(bytes)
    default:
      guard let scalar = Scalar(value) else { return nil }
      self = .scalar(scalar)
    }
  }
}

/// The order of groups: null, NaN, then by value, strings byte by byte, as rows are sorted. All NaN
/// are one group, and so are 0 and -0, and equal decimals.
extension GroupValue: Comparable {
  static let null = GroupValue.scalar(.null)

  static func < (a: GroupValue, b: GroupValue) -> Bool {
    switch (a, b) {
    case (.scalar(let a), .scalar(let b)): Scalar.compare(a, b) < 0
    case (.bytes(let a), .bytes(let b)): a.lexicographicallyPrecedes(b)
    // A column of strings has only null besides strings.
    case (.scalar, .bytes): true
    case (.bytes, .scalar): false
    case (.any, _), (_, .any): trap("internal error: groups by a mixed column")
    }
  }

  /// The value for a column of that type; equal group values always give the same one.
  func value(of type: ColumnType) -> Value {
    switch (self, type) {
    case (.bytes(let bytes), .string): .string(String(decoding: bytes, as: UTF8.self))
    case (.bytes(let bytes), _): .data(bytes)
    case (.any(let key), _): key.value
    case (.scalar(.double(let number)), .float): .float(Float(Self.only(number)))
    case (.scalar(.double(let number)), _): .double(Self.only(number))
    case (.scalar(.decimal(let number)), _): .decimal(number.shortest.cell)
    case (.scalar(let scalar), _): scalar.value
    }
  }

  private static func only(_ number: Double) -> Double {
    number.isNaN ? .nan : number == 0 ? 0 : number
  }
}
