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
