import CTarn

// Choosing a column's smallest form for some of its rows.
extension ColumnBuffer {
  /// The form for the rows from `first` on, `count` of them. For a dictionary this leaves codes and
  /// entries in `dictionary`, to be written before another range is planned.
  mutating func plan(
    _ first: Int, _ count: Int, capacity: Int, table: UnsafeMutablePointer<UInt8>
  ) -> ColumnPlan {
    if storage == .key { return ColumnPlan(kind: .key) }
    guard state == .loaded else { return ColumnPlan() }
    var plan = ColumnPlan()
    if let nulls = unsafe nulls {
      let nullCount = unsafe Self.sum(nulls + first, count)
      if nullCount == count && isOptional { return plan }
      plan.hasNulls = nullCount > 0
    }
    switch storage {
    case .none, .key: break
    case .int: planInts(first, count, &plan)
    case .bool: planBools(first, count, &plan)
    case .float, .double, .bytes12, .bytes16: planFixed(first, count, &plan)
    case .date: planDates(first, count, &plan)
    case .bytes: unsafe planBytes(first, count, capacity, table, &plan)
    }
    if plan.kind != .absent && plan.hasNulls { plan.size += Little.bitmapBytes(count) }
    return plan
  }

  private static func sum(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int {
    var sum = 0
    for index in 0..<count { unsafe sum += Int(bytes[index]) }
    return sum
  }

  private func isNull(_ slot: Int) -> Bool { unsafe nulls![slot] != 0 }

  private func planInts(_ first: Int, _ count: Int, _ plan: inout ColumnPlan) {
    let values = unsafe typed(Int64.self) + first
    var low = Int64.max
    var high = Int64.min
    if plan.hasNulls {
      for index in 0..<count where !isNull(first + index) {
        unsafe low = min(low, values[index])
        unsafe high = max(high, values[index])
      }
    } else {
      for index in 0..<count {
        unsafe low = min(low, values[index])
        unsafe high = max(high, values[index])
      }
    }
    if low == 0 && high == 0 && !isOptional { return }
    plan.kind = .int
    plan.base = low
    plan.width = Little.width(of: UInt64(bitPattern: high &- low))
    plan.size = 8 + plan.width * count
  }

  private func planBools(_ first: Int, _ count: Int, _ plan: inout ColumnPlan) {
    if unsafe !isOptional && Self.sum(typed(UInt8.self) + first, count) == 0 { return }
    plan.kind = .bool
    plan.size = Little.bitmapBytes(count)
  }

  private func planFixed(_ first: Int, _ count: Int, _ plan: inout ColumnPlan) {
    if !isOptional && isZero(first, count) { return }
    plan.kind = .fixed
    plan.width = storage.fixedWidth
    plan.size = plan.width * count
  }

  /// True if every byte of the rows' cells is zero. Usually the first one is not.
  private func isZero(_ first: Int, _ count: Int) -> Bool {
    let bytes = unsafe cells! + first * stride
    for index in 0..<(count * stride) {
      if unsafe bytes.load(fromByteOffset: index, as: UInt8.self) != 0 { return false }
    }
    return true
  }

  private func planDates(_ first: Int, _ count: Int, _ plan: inout ColumnPlan) {
    let values = unsafe typed(Timestamp.self) + first
    var low = Timestamp(seconds: .max, nanoseconds: .max)
    var high = Timestamp(seconds: .min, nanoseconds: .min)
    for index in 0..<count {
      if plan.hasNulls && isNull(first + index) { continue }
      let value = unsafe values[index]
      low.seconds = min(low.seconds, value.seconds)
      high.seconds = max(high.seconds, value.seconds)
      low.nanoseconds = min(low.nanoseconds, value.nanoseconds)
      high.nanoseconds = max(high.nanoseconds, value.nanoseconds)
    }
    let zero = Timestamp(seconds: 0, nanoseconds: 0)
    if low == zero && high == zero && !isOptional { return }
    plan.kind = .date
    plan.base = low.seconds
    plan.width = Little.width(of: UInt64(bitPattern: high.seconds &- low.seconds))
    plan.fineBase = low.nanoseconds
    plan.fineWidth = low.nanoseconds == high.nanoseconds ? 0 : 4
    plan.size = 13 + (plan.fineWidth + plan.width) * count
  }

  private mutating func planBytes(
    _ first: Int, _ count: Int, _ capacity: Int, _ table: UnsafeMutablePointer<UInt8>,
    _ plan: inout ColumnPlan
  ) {
    let cells = unsafe byteCells + first
    var total = 0
    if mayHaveLong {
      for index in 0..<count {
        unsafe total += cells[index].imageBytes
        if unsafe cells[index].isLong { plan.hasLong = true }
      }
    } else {
      for index in 0..<count { unsafe total += cells[index].length }
    }
    if total == 0 && !isOptional { return }
    plan.kind = .bytes
    plan.width = plan.hasLong ? Int(TARN_LONG_BITMAP) : 0
    plan.byteCount = total
    plan.size = 2 * count + 2 + total + (plan.hasLong ? Little.bitmapBytes(count) : 0)
    if !plan.hasLong && count > 1 {
      unsafe planDictionary(first, count, capacity, table, &plan)
    }
  }
}

// MARK: - Dictionary

extension ColumnBuffer {
  /// Codes of the planned rows.
  var codes: UnsafeMutablePointer<UInt8> {
    unsafe dictionary!.assumingMemoryBound(to: UInt8.self)
  }

  /// For each entry of the planned dictionary the row, counted from the first, that has it.
  func entries(capacity: Int) -> UnsafeMutablePointer<UInt16> {
    unsafe (dictionary! + (capacity + 1) & ~1).assumingMemoryBound(to: UInt16.self)
  }

  /// Turns the plan into a dictionary if that is smaller. Gives up as soon as it cannot be, or
  /// when the first 32 values are all different.
  private mutating func planDictionary(
    _ first: Int, _ count: Int, _ capacity: Int, _ table: UnsafeMutablePointer<UInt8>,
    _ plan: inout ColumnPlan
  ) {
    if unsafe dictionary == nil {
      unsafe dictionary = UnsafeMutableRawPointer.allocate(
        byteCount: capacity + 2 + 2 * ClusterFormat.dictionaryEntriesMax, alignment: 16)
    }
    let cells = unsafe byteCells + first
    let codes = unsafe self.codes
    let entries = unsafe self.entries(capacity: capacity)
    unsafe table.initialize(repeating: 0, count: EncodingScratch.tableCount)
    var entryCount = 0
    var entryBytes = 0
    // What the plain form has more than the rest of this one.
    let room = plan.size - (count + 4)
    for index in 0..<count {
      if plan.hasNulls && isNull(first + index) {
        unsafe codes[index] = 0
        continue
      }
      let bytes = unsafe arena.bytes(cells[index])
      var place = unsafe Self.hash(bytes)
      while true {
        place &= EncodingScratch.tableCount - 1
        let known = unsafe Int(table[place])
        if known == 0 {
          entryBytes += bytes.count
          let isHopeless = 2 * entryCount + 2 + entryBytes >= room
          if isHopeless || entryCount == ClusterFormat.dictionaryEntriesMax { return }
          unsafe entries[entryCount] = UInt16(truncatingIfNeeded: index)
          entryCount += 1
          unsafe table[place] = UInt8(truncatingIfNeeded: entryCount)
          unsafe codes[index] = UInt8(truncatingIfNeeded: entryCount - 1)
          break
        }
        if unsafe Self.equal(bytes, arena.bytes(cells[Int(entries[known - 1])])) {
          unsafe codes[index] = UInt8(truncatingIfNeeded: known - 1)
          break
        }
        place += 1
      }
      if index == 31 && entryCount == 32 { return }
    }
    plan.kind = .dictionary
    plan.entryCount = entryCount
    plan.byteCount = entryBytes
    plan.size = count + 4 + 2 * entryCount + entryBytes
  }

  /// A place for the bytes in the table, before it is cut to size.
  @inline(__always)
  private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
    let (low, high) = unsafe ends(bytes)
    let mixed = (low ^ UInt64(bytes.count)) &* 0x9E37_79B9_7F4A_7C15
    let folded = (mixed ^ high ^ (mixed >> 32)) &* 0xD6E8_FEB8_6659_FD93
    return Int(truncatingIfNeeded: folded >> 40)
  }

  /// The first and the last eight bytes, which overlap in short strings. The middle of long ones
  /// says too little to be worth the time.
  @inline(__always)
  private static func ends(_ bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64) {
    let count = bytes.count
    guard count > 0, let p = bytes.baseAddress else { return (0, 0) }
    if count >= 8 { return unsafe (Little.u64(p, 0), Little.u64(p, count - 8)) }
    if count >= 4 {
      let low = unsafe p.loadUnaligned(as: UInt32.self)
      let high = unsafe p.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
      return (UInt64(low), UInt64(high))
    }
    let low = unsafe UInt64(bytes[0]) | UInt64(bytes[count >> 1]) << 8
    return unsafe (low, UInt64(bytes[count - 1]))
  }

  @inline(__always)
  private static func equal(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    let count = a.count
    guard count == b.count else { return false }
    if count <= 16 { return unsafe ends(a) == ends(b) }
    let (p, q) = (a.baseAddress!, b.baseAddress!)
    var offset = 0
    while offset + 8 < count {
      if unsafe Little.u64(p, offset) != Little.u64(q, offset) { return false }
      offset += 8
    }
    return unsafe Little.u64(p, count - 8) == Little.u64(q, count - 8)
  }
}
