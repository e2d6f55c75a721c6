/// The rows of a sequence of objects, such as a list, that match a query: in the query's order,
/// equal ones in that of the sequence. An object that is in the sequence twice is in here twice. A
/// value type.
package struct ElementRows: Sendable {
  private enum Storage: Sendable {
    case listed(keys: [ObjectKey], positions: [Int])
    case kept(KeptRows)
  }

  private let storage: Storage

  package init() { self.init([], []) }

  package init(_ keys: [ObjectKey], _ positions: [Int]) {
    storage = .listed(keys: keys, positions: positions)
  }

  init(_ kept: KeptRows) { storage = .kept(kept) }

  /// The rows in the form that steps update, if they have it.
  var kept: KeptRows? {
    if case .kept(let rows) = storage { rows } else { nil }
  }

  package var count: Int {
    switch storage {
    case .listed(let keys, _): keys.count
    case .kept(let rows): rows.root.count
    }
  }

  /// All objects in order, found by iterating unless they are stored so.
  package var keys: [ObjectKey] { keys(in: 0..<count) }

  package func key(at position: Int) -> ObjectKey {
    switch storage {
    case .listed(let keys, _): keys[position]
    case .kept(let rows): rows.key(rows.root.key(at: position))
    }
  }

  package func keys(in range: Range<Int>) -> [ObjectKey] {
    switch storage {
    case .listed(let keys, _): range.count == keys.count ? keys : Array(keys[range])
    case .kept(let rows): rows.root.keys(in: range).map(rows.key)
    }
  }

  /// For each row its position in the sequence; for maintained rows of a class, which have no
  /// sequence, the row's own position.
  var positions: [Int] {
    switch storage {
    case .listed(_, let positions): return positions
    case .kept(let rows):
      guard let elements = rows.elements else { return Array(0..<count) }
      var lookup = OrderedRoot.Lookup(elements.names)
      return rows.root.keys.map { lookup.position(of: $0)! }
    }
  }

  /// The script from older rows of the same query to these rows.
  ///
  /// A row is the same as before if it is the same object in the same element, wherever that is
  /// now; remaining rows are paired by their objects. So an object that was removed and inserted
  /// again has at most moved.
  ///
  /// - Parameters:
  ///   - moves: how the elements of the sequence moved; nil if unknown.
  ///   - isReplaced: whether a key identifies another object than before.
  package func script(
    from old: ElementRows, along moves: EditScript?, isReplaced: (ObjectKey) -> Bool
  ) -> EditScript {
    let (keys, positions) = (self.keys, self.positions)
    let oldKeys = old.keys
    var origins = [Int](repeating: -1, count: keys.count)
    var isLeft = [Bool](repeating: true, count: oldKeys.count)
    if let moves {
      moves.forEachKeptRow(from: old.positions, to: positions) { before, now in
        guard oldKeys[before] == keys[now], !isReplaced(keys[now]) else { return }
        origins[now] = before
        isLeft[before] = false
      }
    }
    Self.pairRest(oldKeys, keys, &origins, isLeft, isReplaced)
    let set = moves?.modified ?? KeySet()
    var builder = EditScript.Builder(oldCount: oldKeys.count)
    for (row, origin) in origins.enumerated() {
      if origin < 0 {
        builder.appendFresh()
      } else {
        builder.append(
          old: origin, isModified: set.contains(ObjectKey(Int64(positions[row]))))
      }
    }
    return builder.finish()
  }

  /// The positions of the rows of some objects.
  package func rows(of sought: KeySet) -> KeySet {
    var rows: [ObjectKey] = []
    for (row, key) in keys.enumerated() where sought.contains(key) {
      rows.append(ObjectKey(Int64(row)))
    }
    return KeySet(rows)
  }

  private static func pairRest(
    _ old: [ObjectKey], _ keys: [ObjectKey], _ origins: inout [Int], _ isLeft: [Bool],
    _ isReplaced: (ObjectKey) -> Bool
  ) {
    // The last one first, so that removing from the end gives the rows in order.
    var rest: [ObjectKey: [Int]] = [:]
    for row in isLeft.indices.reversed() where isLeft[row] {
      rest[old[row], default: []].append(row)
    }
    if rest.isEmpty { return }
    for row in origins.indices where origins[row] < 0 && !isReplaced(keys[row]) {
      origins[row] = rest[keys[row]]?.popLast() ?? -1
    }
  }
}

extension CompiledQuery {
  /// The objects of a sequence that match, in the query's order and through its stages. Reads every
  /// one of them.
  ///
  /// - Parameter source: the elements, nil for one that is not an object. All objects exist.
  package func evaluate(
    _ source: [ObjectKey?], _ rows: Rows
  ) throws(StorageError) -> ElementRows {
    try throughStages(matching(source, by: order, rows), rows)
  }

  /// The objects of a sequence that match, in an order.
  func matching(
    _ source: [ObjectKey?], by order: ResolvedOrder, _ rows: Rows
  ) throws(StorageError) -> ElementRows {
    var keys: [ObjectKey] = []
    var positions: [Int] = []
    let buffer = order.terms.isEmpty ? nil : SortBuffer(order, source: rows)
    if source.count > 16 { rows.expect(lookups: source.count, in: classID) }
    for (position, key) in source.enumerated() {
      guard let key else { continue }
      let matches = try rows.withRow(classID, key) { (row, slot) throws(StorageError) in
        guard try predicate.matches(row, slot, in: rows) else { return false }
        try buffer?.append(row, slot)
        return true
      }
      guard matches == true else { continue }
      keys.append(key)
      positions.append(position)
    }
    guard let buffer else { return ElementRows(keys, positions) }
    let sorted = try buffer.sortAsAppended()
    return ElementRows(sorted.map { keys[$0] }, sorted.map { positions[$0] })
  }
}

extension EditScript {
  /// Passes each pair of an old and a new row that are the same element of the sequence.
  ///
  /// - Parameters:
  ///   - old: for each old row its position in the sequence before this script.
  ///   - new: for each new row its position after it.
  func forEachKeptRow(
    from old: [Int], to new: [Int], _ body: (_ before: Int, _ now: Int) -> Void
  ) {
    let before = Self.rows(at: old, among: oldCount)
    let now = Self.rows(at: new, among: newCount)
    var start = 0
    for run in runs {
      if case .old(let first, let count) = run {
        for offset in 0..<count where before[first + offset] >= 0 && now[start + offset] >= 0 {
          body(before[first + offset], now[start + offset])
        }
      }
      start += run.count
    }
  }

  /// For each position of the sequence its row, -1 without one.
  private static func rows(at positions: [Int], among count: Int) -> [Int] {
    var rows = [Int](repeating: -1, count: count)
    for (row, position) in positions.enumerated() { rows[position] = row }
    return rows
  }
}
