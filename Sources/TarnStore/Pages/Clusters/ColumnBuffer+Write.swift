import CTarn

// Writes a planned column into an image.
extension ColumnBuffer {
  /// Writes the column's parts at `at`, which moves past them, and returns its descriptor.
  func write(
    _ plan: ColumnPlan, _ first: Int, _ count: Int, capacity: Int,
    _ out: UnsafeMutableRawPointer, _ at: inout Int
  ) -> tarn_column {
    var column = tarn_column()
    column.kind = plan.kind.rawValue
    guard plan.kind != .absent, plan.kind != .key else { return column }
    column.width = UInt8(truncatingIfNeeded: plan.width)
    if plan.hasNulls, let nulls = unsafe nulls {
      column.nulls = UInt16(truncatingIfNeeded: at)
      unsafe Self.packBits(nulls + first, count, out, &at)
    }
    switch plan.kind {
    case .absent, .key:
      break
    case .int:
      column.aux = UInt16(truncatingIfNeeded: at)
      unsafe Little.put(plan.base, out, at)
      at += 8
      column.data = UInt16(truncatingIfNeeded: at)
      unsafe Self.pack(typed(Int64.self) + first, count, plan.base, plan.width, out, &at)
    case .bool:
      column.data = UInt16(truncatingIfNeeded: at)
      unsafe Self.packBits(typed(UInt8.self) + first, count, out, &at)
    case .fixed:
      column.data = UInt16(truncatingIfNeeded: at)
      unsafe (out + at).copyMemory(from: cells! + first * stride, byteCount: count * stride)
      at += count * stride
    case .date:
      unsafe writeDates(plan, first, count, out, &at, &column)
    case .bytes:
      unsafe writeBytes(plan, first, count, out, &at, &column)
    case .dictionary:
      unsafe writeDictionary(plan, first, count, capacity, out, &at, &column)
    }
    return column
  }

  /// Packs bytes of 0 and 1 into bits, eight at a time: the multiplication moves bit 0 of byte i to
  /// bit 56 + i, and its partial products do not collide.
  private static func packBits(
    _ bytes: UnsafePointer<UInt8>, _ count: Int, _ out: UnsafeMutableRawPointer, _ at: inout Int
  ) {
    let source = unsafe UnsafeRawPointer(bytes)
    var index = 0
    while index + 8 <= count {
      let bits = unsafe (Little.u64(source, index) &* 0x0102_0408_1020_4080) >> 56
      unsafe Little.put(UInt8(truncatingIfNeeded: bits), out, at)
      at += 1
      index += 8
    }
    guard index < count else { return }
    var last: UInt8 = 0
    for bit in 0..<(count - index) { unsafe last |= bytes[index + bit] << UInt8(bit) }
    unsafe Little.put(last, out, at)
    at += 1
  }

  /// Writes the values minus the base in `width` bytes each.
  private static func pack(
    _ values: UnsafePointer<Int64>, _ count: Int, _ base: Int64, _ width: Int,
    _ out: UnsafeMutableRawPointer, _ at: inout Int
  ) {
    let target = unsafe out + at
    switch width {
    case 0: break
    case 1: unsafe pack(values, count, base, target, UInt8.self)
    case 2: unsafe pack(values, count, base, target, UInt16.self)
    case 4: unsafe pack(values, count, base, target, UInt32.self)
    default: unsafe pack(values, count, base, target, UInt64.self)
    }
    at += width * count
  }

  @inline(__always)
  private static func pack<T: FixedWidthInteger & BitwiseCopyable>(
    _ values: UnsafePointer<Int64>, _ count: Int, _ base: Int64,
    _ out: UnsafeMutableRawPointer, _: T.Type
  ) {
    for index in 0..<count {
      unsafe Little.put(
        T(truncatingIfNeeded: values[index] &- base), out, index &* MemoryLayout<T>.size)
    }
  }

  private func writeDates(
    _ plan: ColumnPlan, _ first: Int, _ count: Int, _ out: UnsafeMutableRawPointer,
    _ at: inout Int, _ column: inout tarn_column
  ) {
    let values = unsafe typed(Timestamp.self) + first
    column.aux = UInt16(truncatingIfNeeded: at)
    unsafe Little.put(plan.base, out, at)
    unsafe Little.put(plan.fineBase, out, at + 8)
    at += 12
    column.width = UInt8(truncatingIfNeeded: plan.width | plan.fineWidth << 4)
    if plan.fineWidth != 0 {
      for index in 0..<count {
        let fine = unsafe values[index].nanoseconds &- plan.fineBase
        unsafe Little.put(fine, out, at + 4 * index)
      }
      at += 4 * count
    }
    column.data = UInt16(truncatingIfNeeded: at)
    for index in 0..<count {
      let offset = unsafe values[index].seconds &- plan.base
      let position = at + plan.width * index
      switch plan.width {
      case 0: break
      case 1: unsafe Little.put(UInt8(truncatingIfNeeded: offset), out, position)
      case 2: unsafe Little.put(UInt16(truncatingIfNeeded: offset), out, position)
      case 4: unsafe Little.put(UInt32(truncatingIfNeeded: offset), out, position)
      default: unsafe Little.put(offset, out, position)
      }
    }
    at += plan.width * count
  }

  private func writeBytes(
    _ plan: ColumnPlan, _ first: Int, _ count: Int, _ out: UnsafeMutableRawPointer,
    _ at: inout Int, _ column: inout tarn_column
  ) {
    let cells = unsafe byteCells + first
    if plan.hasLong {
      for start in Swift.stride(from: 0, to: count, by: 8) {
        var bits: UInt8 = 0
        for index in start..<min(count, start + 8) where unsafe cells[index].isLong {
          bits |= 1 << UInt8(index - start)
        }
        unsafe Little.put(bits, out, at)
        at += 1
      }
    }
    column.data = UInt16(truncatingIfNeeded: at)
    let data = at + 2 * (count + 1)
    column.aux = UInt16(truncatingIfNeeded: data)
    var end = 0
    unsafe Little.put(UInt16(0), out, at)
    for index in 0..<count {
      let cell = unsafe cells[index]
      if plan.hasLong && cell.isLong {
        unsafe Little.put(UInt64(cell.length), out, data + end)
        end += ClusterFormat.longReferenceBytes
      } else if cell.length > 0 {
        let bytes = unsafe arena.bytes(cell)
        unsafe (out + data + end).copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
        end += cell.length
      }
      unsafe Little.put(UInt16(truncatingIfNeeded: end), out, at + 2 * index + 2)
    }
    at = data + end
  }

  private func writeDictionary(
    _ plan: ColumnPlan, _ first: Int, _ count: Int, _ capacity: Int,
    _ out: UnsafeMutableRawPointer, _ at: inout Int, _ column: inout tarn_column
  ) {
    let cells = unsafe byteCells + first
    let entries = unsafe self.entries(capacity: capacity)
    column.data = UInt16(truncatingIfNeeded: at)
    unsafe (out + at).copyMemory(from: codes, byteCount: count)
    at += count
    column.aux = UInt16(truncatingIfNeeded: at)
    column.width = UInt8(truncatingIfNeeded: plan.entryCount)
    unsafe Little.put(UInt16(0), out, at)
    let data = at + 2 + 2 * plan.entryCount
    var end = 0
    for entry in 0..<plan.entryCount {
      let bytes = unsafe arena.bytes(cells[Int(entries[entry])])
      if let source = bytes.baseAddress {
        unsafe (out + data + end).copyMemory(from: source, byteCount: bytes.count)
      }
      end += bytes.count
      unsafe Little.put(UInt16(truncatingIfNeeded: end), out, at + 2 + 2 * entry)
    }
    at = data + end
  }
}
