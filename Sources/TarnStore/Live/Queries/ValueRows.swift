/// The elements of a sequence of values, such as a list of numbers, in a separate order: by value
/// or unchanged, optionally without repeated values. A value type.
///
/// Values are in the order of a set (null first, then NaN, strings byte by byte) or in its reverse;
/// equal ones are in the order of the sequence.
package struct ValueRows: Sendable {
  package let values: [Value]
  /// For each row its position in the sequence.
  package let positions: [Int]

  package init() {
    values = []
    positions = []
  }

  /// Some of the rows, by their positions among these.
  subscript(range: Range<Int>) -> ValueRows {
    ValueRows(Array(values[range]), at: Array(positions[range]))
  }

  private init(_ values: [Value], at positions: [Int]) {
    self.values = values
    self.positions = positions
  }

  /// - Parameters:
  ///   - elements: the sequence.
  ///   - ascending: whether the smallest value comes first; nil for the order of the sequence.
  ///   - isDistinct: keeps only the first element of each value.
  package init(_ elements: [Value], ascending: Bool?, isDistinct: Bool) {
    guard ascending != nil || isDistinct else {
      values = elements
      positions = Array(elements.indices)
      return
    }
    var sorted = Self.sorted(elements, rows: elements.indices, ascending ?? true)
    if isDistinct { sorted = Self.withoutRepeats(sorted, elements) }
    if ascending == nil { sorted.sort() }
    positions = sorted
    values = sorted.map { elements[$0] }
  }

  /// Lists and maps within values are all different.
  private static func withoutRepeats(_ sorted: [Int], _ elements: [Value]) -> [Int] {
    var kept: [Int] = []
    for position in sorted {
      if let last = kept.last, elements[last].isSameElement(as: elements[position]) { continue }
      kept.append(position)
    }
    return kept
  }

  /// The row of the first element with that value.
  package func position(of value: Value) -> Int? {
    values.firstIndex { $0.isSameElement(as: value) }
  }

  // MARK: - Differences

  /// The script from older rows with the same order to these rows.
  ///
  /// Rows with equal values are the same row: removing an element while inserting another one with
  /// its value is not a change, nor is setting an element to the value that it has. A remaining row
  /// is the same as before if it is the same element, wherever that is now.
  ///
  /// - Parameter moves: how the elements of the sequence moved; nil if unknown.
  package func script(from old: ValueRows, along moves: EditScript?) -> EditScript {
    var origins = [Int](repeating: -1, count: values.count)
    var isLeft = [Bool](repeating: true, count: old.values.count)
    var isSet = [Bool](repeating: false, count: values.count)
    forEachEqualPair(old) { before, now in
      origins[now] = before
      isLeft[before] = false
    }
    if let moves {
      moves.forEachKeptRow(from: old.positions, to: positions) { before, now in
        guard origins[now] < 0, isLeft[before] else { return }
        origins[now] = before
        isLeft[before] = false
        isSet[now] = true
      }
    }
    var builder = EditScript.Builder(oldCount: old.values.count)
    for (row, origin) in origins.enumerated() {
      if origin < 0 {
        builder.appendFresh()
      } else {
        builder.append(old: origin, isModified: isSet[row])
      }
    }
    return builder.finish()
  }

  /// Passes pairs of rows with equal values, several with one value in order. Equal rows at both
  /// ends are not compared further.
  private func forEachEqualPair(_ old: ValueRows, _ body: (_ before: Int, _ now: Int) -> Void) {
    let most = min(old.values.count, values.count)
    var head = 0
    while head < most, old.values[head] == values[head] {
      body(head, head)
      head += 1
    }
    var (oldEnd, newEnd) = (old.values.count, values.count)
    while oldEnd > head, newEnd > head, old.values[oldEnd - 1] == values[newEnd - 1] {
      (oldEnd, newEnd) = (oldEnd - 1, newEnd - 1)
      body(oldEnd, newEnd)
    }
    let before = Self.sorted(old.values, rows: head..<oldEnd)
    let now = Self.sorted(values, rows: head..<newEnd)
    var (i, j) = (0, 0)
    while i < before.count, j < now.count {
      let (a, b) = (old.values[before[i]], values[now[j]])
      let order = SequenceOrder.compare(a, b)
      if a == b { body(before[i], now[j]) }
      if order <= 0 { i += 1 }
      if order >= 0 { j += 1 }
    }
  }

  /// Equal values keep their order.
  private static func sorted(
    _ values: [Value], rows: Range<Int>, _ isAscending: Bool = true
  ) -> [Int] {
    let sign = isAscending ? 1 : -1
    return rows.sorted { a, b in
      let order = sign * SequenceOrder.compare(values[a], values[b])
      return order == 0 ? a < b : order < 0
    }
  }
}
