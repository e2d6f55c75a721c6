/// A range of consecutive object keys, both ends included.
package struct KeyRun: Equatable, Sendable, BitwiseCopyable {
  package var first: Int64
  package var last: Int64
  package init(first: Int64, last: Int64) {
    self.first = first
    self.last = last
  }

  /// The number of keys, `Int.max` on overflow.
  var count: Int {
    let distance = UInt64(bitPattern: last) &- UInt64(bitPattern: first)
    return distance >= UInt64(Int.max) ? Int.max : Int(distance) + 1
  }
}

/// A set of object keys as ascending runs with a gap between any two: a million objects inserted in
/// a row take as much memory as one. A pure value; equal sets have equal runs.
package struct KeySet: Equatable, Sendable {
  package private(set) var runs: ContiguousArray<KeyRun>
  /// The number of keys, `Int.max` on overflow.
  package private(set) var count: Int

  package init() {
    runs = []
    count = 0
  }

  package init(_ key: ObjectKey) {
    runs = [KeyRun(first: key.rawValue, last: key.rawValue)]
    count = 1
  }

  package init(_ range: ClosedRange<ObjectKey>) {
    runs = [KeyRun(first: range.lowerBound.rawValue, last: range.upperBound.rawValue)]
    count = runs[0].count
  }

  /// The keys in any order, duplicates allowed.
  package init(_ keys: [ObjectKey]) { self.init(anyOrder: keys) }

  /// The keys in any order, duplicates allowed.
  package init(_ keys: some Sequence<ObjectKey>) { self.init(anyOrder: keys) }

  @inline(__always)
  private init(anyOrder keys: some Sequence<ObjectKey>) {
    self.init()
    var loose: ContiguousArray<KeyRun> = []
    for key in keys {
      if let last = loose.last, last.last < Int64.max, last.last + 1 == key.rawValue {
        loose[loose.count - 1].last = key.rawValue
      } else {
        loose.append(KeyRun(first: key.rawValue, last: key.rawValue))
      }
    }
    self.init(unsorted: loose)
  }

  /// The union of runs in any order, overlaps allowed.
  init(unsorted runs: ContiguousArray<KeyRun>) {
    self.init()
    if runs.count == 1 {
      self.runs = runs
      count = runs[0].count
      return
    }
    var sorted = runs
    if !Self.isAscending(sorted) {
      radixSort(&sorted) { UInt64(bitPattern: $0.first) ^ (1 << 63) }
    }
    self.runs.reserveCapacity(sorted.count)
    for run in sorted { append(run) }
  }

  private static func isAscending(_ runs: ContiguousArray<KeyRun>) -> Bool {
    guard runs.count > 1 else { return true }
    for index in 1..<runs.count where runs[index].first < runs[index - 1].first { return false }
    return true
  }

  /// Adds a run that does not begin before the last one; they are joined if they meet.
  mutating func append(_ run: KeyRun) {
    assert(run.first <= run.last && run.first >= runs.last?.first ?? run.first)
    guard let last = runs.last else {
      runs.append(run)
      count = run.count
      return
    }
    if run.first > last.last && run.first - 1 != last.last {
      runs.append(run)
      count = saturatingSum(count, run.count)
    } else if run.last > last.last {
      count = saturatingSum(count, KeyRun(first: last.last + 1, last: run.last).count)
      runs[runs.count - 1].last = run.last
    }
  }

  mutating func reserveRuns(_ count: Int) { runs.reserveCapacity(count) }

  /// Removes all keys and keeps the space for them.
  mutating func removeAll() {
    if runs.isEmpty { return }
    runs.removeAll(keepingCapacity: true)
    count = 0
  }

  package var isEmpty: Bool { runs.isEmpty }
  package var first: ObjectKey? { runs.first.map { ObjectKey($0.first) } }
  package var last: ObjectKey? { runs.last.map { ObjectKey($0.last) } }

  package func contains(_ key: ObjectKey) -> Bool {
    let index = firstRun(endingAtOrAfter: key.rawValue)
    return index < runs.count && runs[index].first <= key.rawValue
  }

  /// The index of the first run that ends at or after the key; `runs.count` without one.
  package func firstRun(endingAtOrAfter key: Int64) -> Int {
    runs.partitioningIndex { $0.last >= key }
  }
}

/// The sum of two counts, at most `Int.max`: a run can have more keys than an `Int` can count.
@inline(__always)
package func saturatingSum(_ a: Int, _ b: Int) -> Int {
  let (sum, overflow) = a.addingReportingOverflow(b)
  return overflow ? Int.max : sum
}

extension KeySet: Sequence {
  /// The keys, ascending.
  package struct Iterator: IteratorProtocol {
    private let runs: ContiguousArray<KeyRun>
    private var index = 0
    private var nextKey: Int64

    init(_ runs: ContiguousArray<KeyRun>) {
      self.runs = runs
      nextKey = runs.first?.first ?? 0
    }

    package mutating func next() -> ObjectKey? {
      guard index < runs.count else { return nil }
      let key = nextKey
      if key < runs[index].last {
        nextKey = key + 1
      } else {
        index += 1
        if index < runs.count { nextKey = runs[index].first }
      }
      return ObjectKey(key)
    }
  }

  package func makeIterator() -> Iterator { Iterator(runs) }
  package var underestimatedCount: Int { Swift.min(count, 1 << 20) }
}

extension KeySet {
  /// Traps if the set is inconsistent. For tests.
  package func checkInvariants() {
    var sum = 0
    for (index, run) in runs.enumerated() {
      require(run.first <= run.last)
      sum = saturatingSum(sum, run.count)
      if index > 0 {
        let before = runs[index - 1].last
        require(before < run.first && before + 1 < run.first, "adjacent runs must be merged")
      }
    }
    require(count == sum)
  }
}
