import TarnStore

/// The steps of one source that not all observers have received.
struct StepLog {
  /// The number of each step among the instance's, ascending.
  private(set) var numbers: [Int] = []
  private var changes: [LiveChange] = []

  mutating func append(_ change: LiveChange, at number: Int) {
    numbers.append(number)
    changes.append(change)
  }

  /// The indices of the steps after `seen` up to `last`.
  func range(after seen: Int, upTo last: Int) -> Range<Int> {
    let first = numbers.partitioningIndex { $0 > seen }
    return first..<max(first, numbers.partitioningIndex { $0 > last })
  }

  /// The changes of the step with that number.
  func change(at number: Int) -> LiveChange? {
    let index = numbers.partitioningIndex { $0 >= number }
    return index < numbers.count && numbers[index] == number ? changes[index] : nil
  }

  /// Merges adjacent steps that all observers will receive together.
  ///
  /// - Parameter marks: steps after which a new call begins.
  mutating func merge(splitAt marks: Set<Int>) {
    var merged = StepLog()
    for (number, change) in zip(numbers, changes) {
      if let last = merged.numbers.last, !marks.contains(where: { $0 >= last && $0 < number }) {
        merged.changes[merged.changes.count - 1] = merged.changes.last!.merging(change)
        merged.numbers[merged.numbers.count - 1] = number
      } else {
        merged.append(change, at: number)
      }
    }
    self = merged
  }

  /// The changes of some steps as one.
  ///
  /// - Parameter range: their indices, at least one.
  func merged(in range: Range<Int>) -> LiveChange {
    changes[range].dropFirst().reduce(changes[range.lowerBound]) { $0.merging($1) }
  }

  /// Drops the steps up to `last`.
  ///
  /// - Returns: their changes.
  mutating func removeAll(upTo last: Int) -> [LiveChange] {
    let count = range(after: .min, upTo: last).count
    if count == 0 { return [] }
    if count == numbers.count {
      numbers.removeAll(keepingCapacity: true)
      defer { changes = [] }
      return changes
    }
    let removed = Array(changes[..<count])
    numbers.removeFirst(count)
    changes.removeFirst(count)
    return removed
  }
}
