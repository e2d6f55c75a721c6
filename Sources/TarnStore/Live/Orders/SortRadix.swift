/// Sorts many rows by numbers: stable, and without comparisons except for small ranges.
///
/// The rows of a range are first sorted by the first number, then every run of equal ones by the
/// second, and so on. A large range is sorted by counting, without the digits that all its numbers
/// share: an age below 100 takes one pass.
@safe struct SortRadix {
  /// A number to sort by and the row that it belongs to.
  private struct Pair: BitwiseCopyable {
    var number: UInt64
    var row: UInt32
  }

  /// Smaller ranges are sorted by merging.
  private static let countingMin = 256

  private var pairs: UnsafeMutablePointer<Pair>
  private var others: UnsafeMutablePointer<Pair>
  /// Receives the numbers of the next sort, in order. Used once.
  private var sortedNumbers: UnsafeMutablePointer<UInt64>?

  /// Memory for sorting up to `capacity` rows; to be freed by `end()`.
  ///
  /// Errors: `.addressSpace` if there is none left.
  init(capacity: Int) throws(StorageError) {
    unsafe pairs = try HugeMemory.allocate(Pair.self, capacity: capacity)
    do throws(StorageError) {
      unsafe others = try HugeMemory.allocate(Pair.self, capacity: capacity)
    } catch {
      unsafe HugeMemory.deallocate(pairs)
      throw error
    }
  }

  func end() {
    unsafe HugeMemory.deallocate(pairs)
    unsafe HugeMemory.deallocate(others)
  }

  /// Makes the next sort store the numbers that it sorts by, in order.
  mutating func leaveNumbers(in target: UnsafeMutablePointer<UInt64>?) {
    unsafe sortedNumbers = target
  }

  /// Sorts rows by `numbers[row]`, stably, and calls `run` with each range of two or more with
  /// equal numbers.
  mutating func sort<E: Error>(
    _ rows: UnsafeMutablePointer<UInt32>, _ range: Range<Int>,
    by numbers: UnsafePointer<UInt64>, _ run: (inout SortRadix, Range<Int>) throws(E) -> Void
  ) throws(E) {
    let count = range.count
    let rows = unsafe rows + range.lowerBound
    let first = unsafe numbers[Int(rows[0])]
    var varying: UInt64 = 0
    var isSorted = true
    var last = first
    for index in 0..<count {
      let row = unsafe rows[index]
      let number = unsafe numbers[Int(row)]
      unsafe pairs[index] = Pair(number: number, row: row)
      varying |= number ^ first
      isSorted = isSorted && last <= number
      last = number
    }
    if varying != 0, !isSorted {
      if count >= Self.countingMin {
        unsafe radixSort(&pairs, &others, count: count, varying: varying) { $0.number }
      } else {
        unsafe mergeSort(pairs, others, count: count) { $0.number < $1.number }
      }
      for index in 0..<count { unsafe rows[index] = pairs[index].row }
    }
    if let target = unsafe sortedNumbers.take() {
      for index in 0..<count { unsafe target[index] = pairs[index].number }
    }
    if varying == 0 {
      try run(&self, range)
    } else {
      try forEachRun(count, range.lowerBound, run)
    }
  }

  /// All runs are found before `run` is called, because it may sort and overwrite the pairs.
  private mutating func forEachRun<E: Error>(
    _ count: Int, _ offset: Int, _ run: (inout SortRadix, Range<Int>) throws(E) -> Void
  ) throws(E) {
    var runs: [Range<Int>] = []
    var start = 0
    for index in 1...count {
      if unsafe index < count && pairs[index].number == pairs[start].number { continue }
      if index - start > 1 { runs.append(offset + start..<offset + index) }
      start = index
    }
    for range in runs { try run(&self, range) }
  }
}
