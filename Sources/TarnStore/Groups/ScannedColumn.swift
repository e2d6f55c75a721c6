/// What a scan adds up of one column, by the numbers of the groups.
struct ScannedColumn {
  let column: AggregateColumn
  private var counts: ContiguousArray<Int> = []
  // Of these those are as long that are asked for, each of another type.
  private var integers: ContiguousArray<Int128> = []
  private var doubles: ContiguousArray<ExactSum> = []
  private var narrow: ContiguousArray<ContiguousArray<UInt64>> = []
  /// What other types come to.
  private var others: ContiguousArray<ColumnTotals> = []

  private enum Kind {
    case integer, double, float, other
  }

  private let kind: Kind

  init(_ column: AggregateColumn) {
    self.column = column
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
    counts.grow(to: count, 0)
    if column.hasSum, kind == .integer { integers.grow(to: count, 0) }
    if column.hasSum, kind != .integer { doubles.grow(to: count, ExactSum()) }
    if column.hasExtremes { narrow.grow(to: count, []) }
  }

  /// What one group has.
  func totals(of group: Int) -> ColumnTotals {
    if kind == .other { return others[group] }
    var totals = ColumnTotals(column)
    totals.count = counts[group]
    if column.hasSum {
      totals.total = kind == .integer ? .int(integers[group]) : .double(doubles[group])
    }
    if column.hasExtremes { totals.ends = .narrow(CountedValues(narrow[group])) }
    return totals
  }

  // MARK: - Rows

  /// Takes one row's value.
  mutating func append(_ value: Scalar, _ group: Int) {
    switch value {
    case _ where kind == .other: others[group].add(value)
    case .int(let number): append(number, group)
    case .double(let number): append(number, group)
    default: break
    }
  }

  /// Takes the rows of a cluster that have a bit in `mask`; all of them have values.
  ///
  /// - Parameter groups: the number of each row's group.
  mutating func append(
    _ image: ClusterImage, _ mask: UnsafePointer<UInt64>, _ groups: UnsafeMutablePointer<Int32>,
    _ scratch: ScanScratch
  ) {
    let (id, rowCount) = (column.path.column, image.rowCount)
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
        unsafe addUp(values, rowCount, mask, groups)
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
        unsafe others[Int(groups[slot])].add(image.scalar(column.path, slot))
      }
    }
  }

  /// The same as one by one, without a look at whose the arrays are for each row.
  private mutating func addUp(
    _ values: UnsafeMutablePointer<Double>, _ rowCount: Int, _ mask: UnsafePointer<UInt64>,
    _ groups: UnsafeMutablePointer<Int32>
  ) {
    unsafe counts.withUnsafeMutableBufferPointer { counts in
      unsafe doubles.withUnsafeMutableBufferPointer { doubles in
        unsafe Bitmap.forEachSlot(mask, rowCount) { slot in
          let (value, group) = unsafe (values[slot], Int(groups[slot]))
          if value.isNaN { return }
          unsafe counts[group] &+= 1
          unsafe doubles[group].add(value)
        }
      }
    }
  }

  @inline(__always)
  private mutating func append(_ value: Int64, _ group: Int) {
    counts[group] &+= 1
    if column.hasSum { integers[group] &+= Int128(value) }
    if column.hasExtremes { narrow[group].append(EndOrder.narrow(value)) }
  }

  @inline(__always)
  private mutating func append(_ value: Double, _ group: Int) {
    if value.isNaN { return }
    counts[group] &+= 1
    if column.hasSum { doubles[group].add(value) }
    if column.hasExtremes { narrow[group].append(EndOrder.narrow(value)) }
  }
}

extension ContiguousArray {
  fileprivate mutating func grow(to count: Int, _ element: Element) {
    append(contentsOf: repeatElement(element, count: count - self.count))
  }
}
