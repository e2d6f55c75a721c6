/// Sorting of many rows by numbers: stable, and without a comparison for all but small ranges.
///
/// The rows of a range are first sorted by the first number, then every run of equal ones by the
/// second, and so on. A range of some size is sorted by counting, a byte at a time from the lowest
/// one, leaving out the bytes that all its numbers share: an age below 100 takes one pass.
@safe struct SortRadix {
  /// A number to sort by and the row that it belongs to.
  private struct Pair: BitwiseCopyable {
    var number: UInt64
    var row: UInt32
  }

  /// Below this a range is sorted by insertion, or by merging.
  private static let countingMin = 256
  private static let insertionMax = 24

  private var pairs: UnsafeMutablePointer<Pair>
  private var others: UnsafeMutablePointer<Pair>

  /// Memory for sorting up to `capacity` rows; to be freed by `end()`.
  init(capacity: Int) {
    unsafe pairs = .allocate(capacity: capacity)
    unsafe others = .allocate(capacity: capacity)
  }

  func end() {
    unsafe pairs.deallocate()
    unsafe others.deallocate()
  }

  /// Sorts rows by `numbers[row]`, equal ones as they were, and calls `run` with the range of
  /// each two or more with equal numbers.
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
    if varying == 0 {
      try run(&self, range)
      return
    }
    if !isSorted {
      if count >= Self.countingMin {
        sortByCounting(count, varying)
      } else if count <= Self.insertionMax {
        sortByInsertion(0, count)
      } else {
        sortByMerging(count)
      }
      for index in 0..<count { unsafe rows[index] = pairs[index].row }
    }
    try forEachRun(count, range.lowerBound, run)
  }

  /// The runs are found before the first is handed on: `run` may sort and overwrite the pairs.
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

  private mutating func sortByCounting(_ count: Int, _ varying: UInt64) {
    let digits = (0..<8).filter { (varying >> UInt64(8 * $0)) & 0xff != 0 }
    unsafe withUnsafeTemporaryAllocation(of: Int.self, capacity: digits.count * 256) { counts in
      unsafe counts.initialize(repeating: 0)
      for index in 0..<count {
        let number = unsafe pairs[index].number
        for (position, digit) in digits.enumerated() {
          let byte = Int((number >> UInt64(8 * digit)) & 0xff)
          unsafe counts[position * 256 + byte] += 1
        }
      }
      for (position, digit) in digits.enumerated() {
        var total = 0
        for byte in position * 256..<(position + 1) * 256 {
          let count = unsafe counts[byte]
          unsafe counts[byte] = total
          total += count
        }
        let starts = unsafe counts.baseAddress.unsafelyUnwrapped + position * 256
        unsafe scatter(count, UInt64(8 * digit), starts)
      }
    }
  }

  /// Moves the pairs to where their byte belongs, in order.
  private mutating func scatter(_ count: Int, _ shift: UInt64, _ starts: UnsafeMutablePointer<Int>)
  {
    let (from, to) = unsafe (pairs, others)
    for index in 0..<count {
      let pair = unsafe from[index]
      let byte = Int((pair.number >> shift) & 0xff)
      let place = unsafe starts[byte]
      unsafe starts[byte] = place &+ 1
      unsafe to[place] = pair
    }
    unsafe swap(&pairs, &others)
  }

  private func sortByInsertion(_ start: Int, _ end: Int) {
    for index in start + 1..<max(end, start + 1) {
      let pair = unsafe pairs[index]
      var place = index
      while unsafe place > start && pairs[place - 1].number > pair.number {
        unsafe pairs[place] = pairs[place - 1]
        place -= 1
      }
      unsafe pairs[place] = pair
    }
  }

  /// Merges runs that were sorted by insertion, each pass from one buffer to the other.
  private mutating func sortByMerging(_ count: Int) {
    var width = Self.insertionMax
    for start in stride(from: 0, to: count, by: width) {
      sortByInsertion(start, min(start + width, count))
    }
    while width < count {
      for start in stride(from: 0, to: count, by: 2 * width) {
        merge(start, min(start + width, count), min(start + 2 * width, count))
      }
      unsafe swap(&pairs, &others)
      width *= 2
    }
  }

  private func merge(_ start: Int, _ middle: Int, _ end: Int) {
    var (left, right) = (start, middle)
    for place in start..<end {
      if unsafe left < middle && (right == end || pairs[left].number <= pairs[right].number) {
        unsafe others[place] = pairs[left]
        left += 1
      } else {
        unsafe others[place] = pairs[right]
        right += 1
      }
    }
  }
}
