import CTarn

// Chooses a column's smallest form for some of its rows.
extension ColumnBuffer {
  /// The form for `count` rows from `first` on. A dictionary leaves its codes and entries in
  /// `dictionary`, to be written before another range is planned.
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
    plan.size = 12 + (plan.fineWidth + plan.width) * count
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

  /// For each entry of the planned dictionary a row that has it, counted from the first.
  func entries(capacity: Int) -> UnsafeMutablePointer<UInt16> {
    unsafe (dictionary! + (capacity + 1) & ~1).assumingMemoryBound(to: UInt16.self)
  }

  /// Turns the plan into a dictionary if that is smaller. Stops as soon as it cannot be, or if the
  /// first 32 values are all different.
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
    // The bytes that the plain form takes beyond the rest of this one.
    let room = plan.size - (count + 2)
    for index in 0..<count {
      if plan.hasNulls && isNull(first + index) {
        unsafe codes[index] = 0
        continue
      }
      let key = unsafe arena.prefix(cells[index])
      var slot = key.hash
      while true {
        slot &= EncodingScratch.tableCount - 1
        let known = unsafe Int(table[slot])
        if known == 0 {
          entryBytes += key.length
          let isHopeless = 2 * entryCount + 2 + entryBytes >= room
          if isHopeless || entryCount == ClusterFormat.dictionaryEntriesMax { return }
          unsafe entries[entryCount] = UInt16(truncatingIfNeeded: index)
          entryCount += 1
          unsafe table[slot] = UInt8(truncatingIfNeeded: entryCount)
          unsafe codes[index] = UInt8(truncatingIfNeeded: entryCount - 1)
          break
        }
        let other = unsafe cells[Int(entries[known - 1])]
        if unsafe key == arena.prefix(other)
          && (key.length <= 16 || arena.equalPastPrefix(cells[index], other))
        {
          unsafe codes[index] = UInt8(truncatingIfNeeded: known - 1)
          break
        }
        slot += 1
      }
      if index == 31 && entryCount == 32 { return }
    }
    plan.kind = .dictionary
    plan.entryCount = entryCount
    plan.byteCount = entryBytes
    plan.size = count + 2 + 2 * entryCount + entryBytes
  }
}

/// A string's first 16 bytes, padded with zeros, and its length: enough to distinguish most
/// strings.
struct StringPrefix: Equatable {
  var low: UInt64
  var high: UInt64
  var length: Int

  @inline(__always)
  static func == (a: Self, b: Self) -> Bool {
    (a.low ^ b.low) | (a.high ^ b.high) | UInt64(bitPattern: Int64(a.length ^ b.length)) == 0
  }

  /// A slot in a hash table, before masking.
  @inline(__always)
  var hash: Int {
    let mixed = (low ^ UInt64(length) << 56) &* 0x9E37_79B9_7F4A_7C15
    let folded = (mixed ^ high ^ (mixed >> 32)) &* 0xD6E8_FEB8_6659_FD93
    return Int(truncatingIfNeeded: folded >> 40)
  }
}

extension ByteArena {
  /// The prefix of a cell in memory. Branchless, because lengths are hard to predict. Reads 16
  /// bytes, which the arena's slack allows.
  @inline(__always)
  func prefix(_ cell: ByteCell) -> StringPrefix {
    guard let base = unsafe base else { return StringPrefix(low: 0, high: 0, length: 0) }
    let p = unsafe UnsafeRawPointer(base + cell.offset)
    // A shift by 64 gives 0, as required for an empty half.
    let length = cell.length
    let low = unsafe Little.u64(p, 0) & (UInt64.max >> UInt64(64 - 8 * min(8, length)))
    let high = unsafe Little.u64(p, 8) & (UInt64.max >> UInt64(64 - 8 * min(8, max(8, length) - 8)))
    return StringPrefix(low: low, high: high, length: length)
  }

  /// Compares two strings of equal length above 16 from byte 16 on.
  func equalPastPrefix(_ a: ByteCell, _ b: ByteCell) -> Bool {
    let (a, b) = unsafe (bytes(a), bytes(b))
    guard let p = a.baseAddress, let q = b.baseAddress else { return true }
    var offset = 16
    while offset + 8 < a.count {
      if unsafe Little.u64(p, offset) != Little.u64(q, offset) { return false }
      offset += 8
    }
    return unsafe Little.u64(p, a.count - 8) == Little.u64(q, a.count - 8)
  }
}
