/// The aggregates of one column in a scan, by the numbers of the groups.
struct ScannedColumn {
  let column: AggregateColumn
  /// The number of rows without a value, of which there are usually fewer.
  private var missing: ContiguousArray<Int> = []
  // Only the arrays of the requested aggregates and the column's type are filled.
  private var integers: ContiguousArray<Int128> = []
  private var doubles = GroupedSums()
  private var narrow: ContiguousArray<ContiguousArray<UInt64>> = []
  /// The aggregates of other types.
  private var others: ContiguousArray<ColumnTotals> = []

  private enum Kind {
    case integer, double, float, other
  }

  private let kind: Kind
  /// True if the groups are not updated later, so that only the minimum and maximum are kept.
  private let isOnce: Bool

  init(_ column: AggregateColumn, isOnce: Bool) {
    self.column = column
    self.isOnce = isOnce
    kind =
      switch column.path.type {
      case .int: .integer
      case .double: .double
      case .float: .float
      default: .other
      }
  }

  mutating func makeRoom(for count: Int) {
    if kind == .other { return others.grow(to: count, ColumnTotals(column)) }
    missing.grow(to: count, 0)
    if column.hasSum, kind == .integer { integers.grow(to: count, 0) }
    if column.hasSum, kind != .integer { doubles.makeRoom(for: count) }
    if column.hasExtremes { narrow.grow(to: count, []) }
  }

  /// The aggregates of one group with that many rows.
  func totals(of group: Int, rowCount: Int) -> ColumnTotals {
    if kind == .other { return others[group] }
    var totals = ColumnTotals(column)
    totals.count = rowCount - missing[group]
    if column.hasSum {
      totals.totals =
        kind == .integer
        ? Totals(count: totals.count, whole: integers[group])
        : Totals(count: totals.count, doubles: doubles.sum(of: group))
    }
    if column.hasExtremes { totals.ends = .narrow(CountedValues(narrow[group])) }
    return totals
  }

  // MARK: - Rows

  /// Adds one row's value.
  mutating func append(_ value: Scalar, _ group: Int) {
    switch value {
    case _ where kind == .other: others[group].take(value, isOnce ? .passing : .found)
    case .int(let number): append(number, group)
    case .double(let number): append(number, group)
    default: missing[group] &+= 1
    }
    if isOnce { keepEnds(of: group) }
  }

  /// Occasionally drops values between the minimum and the maximum.
  private mutating func keepEnds(of group: Int) {
    guard kind != .other, column.hasExtremes, narrow[group].count >= 1000,
      let least = narrow[group].min(), let greatest = narrow[group].max()
    else { return }
    narrow[group].removeAll(keepingCapacity: true)
    narrow[group] += [least, greatest]
  }

  /// Adds the rows of a cluster that have a bit in `matches`.
  ///
  /// - Parameters:
  ///   - mask: the bits of rows in `matches` that have values.
  ///   - groups: the number of each row's group.
  mutating func append(
    _ image: ClusterImage, _ matches: UnsafePointer<UInt64>, valued mask: UnsafePointer<UInt64>,
    _ groups: UnsafeMutablePointer<Int32>, _ scratch: ScanScratch
  ) {
    let (id, rowCount) = (column.path.column, image.rowCount)
    if unsafe mask != matches, kind != .other {
      unsafe noteMissing(matches, mask, image.bitmapWords, groups)
    }
    switch kind {
    case .integer:
      let values = unsafe scratch.ints
      unsafe image.decodeInts(id, into: values)
      unsafe Bitmap.forEachSlot(mask, rowCount) { slot in
        unsafe append(values[slot], Int(groups[slot]))
      }
    case .double where column.hasSum && !column.hasExtremes:
      unsafe scratch.ints.withMemoryRebound(to: Double.self, capacity: rowCount) { values in
        unsafe image.decodeDoubles(id, into: values)
        unsafe doubles.add(values, rowCount, mask, groups, scratch.bitmap(0)) { group in
          missing[group] &+= 1
        }
      }
    case .double:
      unsafe scratch.ints.withMemoryRebound(to: Double.self, capacity: rowCount) { values in
        unsafe image.decodeDoubles(id, into: values)
        unsafe Bitmap.forEachSlot(mask, rowCount) { slot in
          unsafe append(values[slot], Int(groups[slot]))
        }
      }
    case .float:
      unsafe Bitmap.forEachSlot(mask, rowCount) { slot in
        unsafe append(Double(image.float(id, slot)), Int(groups[slot]))
      }
    case .other:
      unsafe Bitmap.forEachSlot(mask, rowCount) { slot in
        unsafe others[Int(groups[slot])].take(
          image.scalar(column.path, slot), isOnce ? .passing : .found)
      }
    }
    if isOnce { for group in narrow.indices { keepEnds(of: group) } }
  }

  private mutating func noteMissing(
    _ matches: UnsafePointer<UInt64>, _ mask: UnsafePointer<UInt64>, _ words: Int,
    _ groups: UnsafeMutablePointer<Int32>
  ) {
    for index in 0..<words {
      var word = unsafe matches[index] & ~mask[index]
      while word != 0 {
        unsafe missing[Int(groups[index << 6 + word.trailingZeroBitCount])] &+= 1
        word &= word - 1
      }
    }
  }

  @inline(__always)
  private mutating func append(_ value: Int64, _ group: Int) {
    if column.hasSum { integers[group] &+= Int128(value) }
    if column.hasExtremes { narrow[group].append(EndOrder.narrow(value)) }
  }

  @inline(__always)
  private mutating func append(_ value: Double, _ group: Int) {
    if value.isNaN {
      missing[group] &+= 1
      return
    }
    if column.hasSum { doubles.add(value, group) }
    if column.hasExtremes { narrow[group].append(EndOrder.narrow(value)) }
  }
}

extension ContiguousArray {
  /// Appends the element until the array has that many.
  mutating func grow(to count: Int, _ element: Element) {
    append(contentsOf: repeatElement(element, count: count - self.count))
  }
}
