import CTarn

// Taking a column as it is from one image into another of the same rows.
extension ClusterImage {
  /// Where the column's parts begin and how long they are, without the null bitmap: from the
  /// first part's first byte to the last part's last.
  private func extent(_ column: tarn_column) -> Range<Int> {
    let data = Int(column.data)
    let aux = Int(column.aux)
    switch ClusterColumnKind(rawValue: column.kind) {
    case .absent, .key, nil:
      return 0..<0
    case .int, .date:
      return aux..<data + Int(column.width) * rowCount
    case .bool:
      return data..<data + Little.bitmapBytes(rowCount)
    case .fixed:
      return data..<data + Int(column.width) * rowCount
    case .bytes:
      let first = column.width == 0 ? data : data - Little.bitmapBytes(rowCount)
      return unsafe first..<aux + Little.u16(base, data + 2 * rowCount)
    case .dictionary:
      let entries = unsafe Little.u16(base, aux)
      return unsafe data..<aux + 4 + 2 * entries + Little.u16(base, aux + 2 + 2 * entries)
    }
  }

  /// The plan of copying a column: its kind and its size.
  func copyPlan(_ column: ColumnID) -> ColumnPlan {
    let descriptor = descriptor(column)
    var plan = ColumnPlan(kind: kind(column))
    plan.isCopied = true
    plan.hasNulls = descriptor.nulls != 0
    plan.size = extent(descriptor).count
    if plan.hasNulls { plan.size += Little.bitmapBytes(rowCount) }
    return plan
  }

  /// Copies the column's parts to `at`, which moves behind them, and returns its new descriptor.
  func copyColumn(
    _ id: ColumnID, _ out: UnsafeMutableRawPointer, _ at: inout Int
  ) -> tarn_column {
    var column = descriptor(id)
    let extent = extent(column)
    if column.nulls != 0 {
      let count = Little.bitmapBytes(rowCount)
      unsafe (out + at).copyMemory(from: base + Int(column.nulls), byteCount: count)
      column.nulls = UInt16(truncatingIfNeeded: at)
      at += count
    }
    unsafe (out + at).copyMemory(from: base + extent.lowerBound, byteCount: extent.count)
    let moved = UInt16(truncatingIfNeeded: at - extent.lowerBound)
    column.data &+= moved
    column.aux &+= moved
    at += extent.count
    return column
  }
}
