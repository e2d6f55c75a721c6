import TarnStore

/// What the steps of one source did that not everybody has been told of.
struct StepLog {
  /// The number of each step among the instance's, ascending.
  private(set) var numbers: [Int] = []
  private var changes: [LiveChange] = []

  mutating func append(_ change: LiveChange, at number: Int) {
    numbers.append(number)
    changes.append(change)
  }

  /// The steps after `seen` up to `last`, as indices in here.
  func range(after seen: Int, upTo last: Int) -> Range<Int> {
    let first = numbers.partitioningIndex { $0 > seen }
    return first..<max(first, numbers.partitioningIndex { $0 > last })
  }

  /// What the step with that number did.
  func change(at number: Int) -> LiveChange? {
    let index = numbers.partitioningIndex { $0 >= number }
    return index < numbers.count && numbers[index] == number ? changes[index] : nil
  }

  /// Makes one step of neighbouring ones that everybody will be told of together.
  ///
  /// - Parameter marks: steps after which something is told anew.
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

  subscript(_ range: Range<Int>) -> ArraySlice<LiveChange> { changes[range] }

  /// Lets go of the steps up to `last`.
  ///
  /// - Returns: what they did.
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
