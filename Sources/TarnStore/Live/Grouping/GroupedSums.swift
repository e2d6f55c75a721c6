import CTarn

/// Sums of doubles by group, each as exact as an `ExactSum`, and faster for many values at once.
///
/// The values of a column are often of similar size, so nearly all of them are sums of two whole
/// numbers of units that the column shares (see ctarn_sums.h). These numbers are added in 64 bits
/// each, and the sums are occasionally added to the exact ones. Other values are added to those
/// directly.
struct GroupedSums {
  /// The maximum number of values to add before the sums of 64 bits are emptied.
  private static let pendingMax = 1 << 20
  private typealias Split = tarn_split_sum

  private var exact: ContiguousArray<ExactSum> = []
  private var split: ContiguousArray<Split> = []
  /// The maximum number of values added to one split sum since they were emptied.
  private var pending = 0
  private var scale: SumScale?

  mutating func makeRoom(for count: Int) {
    exact.grow(to: count, ExactSum())
    split.grow(to: count, Split())
  }

  /// Adds one value, which is not NaN.
  @inline(__always)
  mutating func add(_ value: Double, _ group: Int) { exact[group].add(value) }

  /// Adds the values of the rows that have a bit in `mask`. Calls `isNaN` for values that are NaN.
  ///
  /// - Parameters:
  ///   - groups: the number of each row's group.
  ///   - misfits: memory for a bitmap of the rows.
  mutating func add(
    _ values: UnsafePointer<Double>, _ rowCount: Int, _ mask: UnsafePointer<UInt64>,
    _ groups: UnsafePointer<Int32>, _ misfits: UnsafeMutablePointer<UInt64>,
    nan: (_ group: Int) -> Void
  ) {
    if scale == nil { scale = unsafe SumScale(fitting: values, rowCount) }
    if pending > Self.pendingMax - rowCount { empty() }
    pending += rowCount
    let words = (rowCount + 63) >> 6
    let count = unsafe split.withUnsafeMutableBufferPointer { split in
      unsafe tarn_sum_by_group(
        scale?.units ?? tarn_sum_scale(), values, groups, mask, words, split.baseAddress, misfits)
    }
    if count == 0 { return }
    unsafe Bitmap.forEach(misfits, words) { slot in
      let (value, group) = unsafe (values[slot], Int(groups[slot]))
      if value.isNaN { nan(group) } else { exact[group].add(value) }
    }
    // Emptying takes time for each group, so it needs more values than groups to pay off.
    if count > rowCount / 4, pending > split.count {
      empty()
      scale = nil
    }
  }

  /// The sum of one group.
  func sum(of group: Int) -> ExactSum {
    var sum = exact[group]
    if let scale { sum.add(scale.whole(split[group]), exponent: scale.exponent) }
    return sum
  }

  private mutating func empty() {
    for group in split.indices {
      exact[group] = sum(of: group)
      split[group] = Split()
    }
    pending = 0
  }
}

/// The units that the values of a column are split into.
private struct SumScale {
  let units: tarn_sum_scale
  /// The fine unit is two to the power of this.
  let exponent: Int

  /// Units for values of about this size, and up to some hundred times as large. Nil for values
  /// close to the largest or the smallest doubles.
  init?(fitting values: UnsafePointer<Double>, _ count: Int) {
    var greatest = 0.0
    for slot in 0..<count {
      let size = unsafe values[slot].magnitude
      if size > greatest, size < .infinity { greatest = size }
    }
    let bits = Int(TARN_SUM_PART_BITS)
    let top = (greatest == 0 ? 0 : Int(greatest.exponent)) + 8
    exponent = top - 2 * bits
    // The constants of both units must be normal numbers.
    guard exponent + 52 >= -1022, top - bits + 52 <= 1023, top <= 1023 else { return nil }
    func power(_ exponent: Int, times factor: Double = 1) -> Double {
      Double(sign: .plus, exponent: exponent, significand: factor)
    }
    units = tarn_sum_scale(
      coarse: power(top - bits + 52, times: 1.5), fine: power(exponent + 52, times: 1.5),
      bound: power(top))
  }

  /// The sum in fine units.
  func whole(_ sum: tarn_split_sum) -> Int128 {
    Int128(sum.coarse) << Int128(TARN_SUM_PART_BITS) + Int128(sum.fine)
  }
}
