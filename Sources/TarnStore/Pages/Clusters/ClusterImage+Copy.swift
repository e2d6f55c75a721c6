import CTarn

// Copies a column unchanged from one image into another of the same rows.
extension ClusterImage {
  /// The parts of a column, without the null bitmap. `first..<middle` and `second..<end` are the
  /// two parts in order; a column with one part has it as the second.
  struct Parts {
    var first = 0
    var middle = 0
    var second = 0
    var end = 0
    var isEmpty: Bool { end == 0 }
    init() {}
    init(_ start: Int, _ count: Int) {
      (first, middle, second, end) = (start, start, start, start + count)
    }
    init(_ first: Int, _ firstCount: Int, _ second: Int, _ secondCount: Int) {
      (self.first, middle) = (first, first + firstCount)
      (self.second, end) = (second, second + secondCount)
    }
  }

  func parts(_ column: tarn_column) -> Parts {
    let bitmap = Little.bitmapBytes(rowCount)
    let width = Int(column.width)
    let data = Int(column.data)
    let aux = Int(column.aux)
    switch ClusterColumnKind(rawValue: column.kind) {
    case .absent, .key, nil:
      return Parts()
    case .int:
      return Parts(aux, 8, data, width * rowCount)
    case .date:
      return Parts(aux, 12 + (width >> 4) * rowCount, data, (width & 15) * rowCount)
    case .bool:
      return Parts(data, bitmap)
    case .fixed:
      return Parts(data, width * rowCount)
    case .bytes:
      let long = width == 0 ? 0 : bitmap
      let count = unsafe Little.u16(base, data + 2 * rowCount)
      return Parts(data - long, long + 2 * rowCount + 2, aux, count)
    case .dictionary:
      let count = unsafe Little.u16(base, aux + 2 * width)
      return Parts(data, rowCount, aux, 2 * width + 2 + count)
    }
  }

  /// The plan of copying a column: its kind and its size. Only after `checkRows`.
  func copyPlan(_ column: ColumnID) -> ColumnPlan {
    let descriptor = descriptor(column)
    let parts = parts(descriptor)
    var plan = ColumnPlan(kind: kind(column))
    plan.isCopied = true
    plan.hasNulls = descriptor.nulls != 0
    plan.size = parts.end - parts.first
    if plan.hasNulls { plan.size += Little.bitmapBytes(rowCount) }
    return plan
  }

  /// Copies the column's parts to `at`, which moves past them, and returns its new descriptor. Only
  /// after `checkRows`.
  func copyColumn(
    _ id: ColumnID, _ out: UnsafeMutableRawPointer, _ at: inout Int
  ) -> tarn_column {
    var column = descriptor(id)
    let parts = parts(column)
    if column.nulls != 0 {
      let count = Little.bitmapBytes(rowCount)
      unsafe (out + at).copyMemory(from: base + Int(column.nulls), byteCount: count)
      column.nulls = UInt16(truncatingIfNeeded: at)
      at += count
    }
    let count = parts.end - parts.first
    unsafe (out + at).copyMemory(from: base + parts.first, byteCount: count)
    let moved = UInt16(truncatingIfNeeded: at - parts.first)
    column.data &+= moved
    column.aux &+= moved
    at += count
    return column
  }
}
