/// Key sets as bytes: either runs or bitmaps of 128 keys, whichever is smaller.
///
///     runs      0 | first key (zigzag) | gap and length ...
///               the first item has no gap; a gap is the number of skipped keys minus one,
///               shifted left by one; the low bit means that a length follows (keys in the run
///               minus two)
///     bitmaps   1 | (block gap | 16 bytes) ...     a block is the key divided by 128, rounding
///               down; the first gap is the block itself (zigzag), others the distance minus one
extension ChangeRecord {
  /// The gap's varint has room for one flag bit, so a gap of 2^63 or more needs two varints: the
  /// largest gap, followed by the rest.
  private static let gapMax = UInt64(Int64.max)

  /// Writes runs from `index` on while they fit `limit` bytes; at least one.
  static func writeRuns(
    _ keys: KeySet, from index: inout Int, limit: Int, into writer: inout RecordWriter
  ) {
    let start = writer.bytes.count
    writer.byte(0)
    var isFirst = true
    while index < keys.runs.count && (isFirst || writer.bytes.count - start + 30 <= limit) {
      let run = keys.runs[index]
      let isLong: UInt64 = run.last > run.first ? 1 : 0
      if isFirst {
        writer.zigzag(run.first)
        writer.byte(UInt8(isLong))
        isFirst = false
      } else {
        let previous = keys.runs[index - 1].last
        let gap = UInt64(bitPattern: run.first) &- UInt64(bitPattern: previous) &- 2
        writer.varint(min(gap, gapMax) << 1 | isLong)
        if gap >= gapMax { writer.varint(gap - gapMax) }
      }
      if isLong == 1 {
        writer.varint(UInt64(bitPattern: run.last) &- UInt64(bitPattern: run.first) &- 1)
      }
      index += 1
    }
  }

  /// Writes bitmaps from the key `next` on, which is in or before the run at `index`, while they
  /// fit `limit` bytes; at least one.
  static func writeBitmaps(
    _ keys: KeySet, from index: inout Int, next: inout Int64, limit: Int,
    into writer: inout RecordWriter
  ) {
    let start = writer.bytes.count
    writer.byte(1)
    var previous: Int64?
    while index < keys.runs.count
      && (previous == nil || writer.bytes.count - start + 30 <= limit)
    {
      let block = max(keys.runs[index].first, next) >> 7
      var low: UInt64 = 0
      var high: UInt64 = 0
      while index < keys.runs.count {
        let run = keys.runs[index]
        let first = max(run.first, next)
        if first >> 7 != block { break }
        let last = min(run.last, (block << 7) | 127)
        setBits(&low, &high, from: Int(first & 127), through: Int(last & 127))
        if last == run.last {
          index += 1
        } else {
          next = last + 1
          break
        }
      }
      writer.varint(previous.map { UInt64(block - $0 - 1) } ?? RecordWriter.zigzag(block))
      writer.word(low)
      writer.word(high)
      previous = block
    }
  }

  private static func setBits(
    _ low: inout UInt64, _ high: inout UInt64, from first: Int, through last: Int
  ) {
    if first < 64 { low |= ones(from: first, through: min(last, 63)) }
    if last >= 64 { high |= ones(from: max(first, 64) - 64, through: last - 64) }
  }

  private static func ones(from first: Int, through last: Int) -> UInt64 {
    (UInt64.max << UInt64(first)) & (UInt64.max >> UInt64(63 - last))
  }

  /// True if bitmaps take fewer bytes than runs. Never for long runs: the bitmaps of a run of a
  /// million keys would fill pages.
  static func prefersBitmaps(_ keys: KeySet) -> Bool {
    guard keys.runs.count >= 16 else { return false }
    var runBytes = 0
    var blocks = 0
    var lastBlock = Int64.min
    var previous = keys.runs[0].first
    for run in keys.runs {
      runBytes += RecordWriter.varintSize(UInt64(bitPattern: run.first &- previous) << 1)
      if run.last > run.first {
        runBytes += RecordWriter.varintSize(UInt64(bitPattern: run.last &- run.first))
      }
      previous = run.last
      let firstBlock = max(run.first >> 7, lastBlock &+ (lastBlock == .min ? 0 : 1))
      if run.last >> 7 >= firstBlock {
        blocks = saturatingSum(blocks, Int(min((run.last >> 7) - firstBlock, 1 << 32)) + 1)
        lastBlock = run.last >> 7
      }
      if blocks > 1 << 32 { return false }
    }
    return blocks * 17 < runBytes
  }

  /// Reads keys written as runs or bitmaps and adds them to `keys`, whose keys are all smaller.
  static func readKeys(
    _ reader: inout RecordReader, into keys: inout KeySet
  ) throws(StorageError) {
    switch try reader.byte() {
    case 0: try readRuns(&reader, into: &keys)
    case 1: try readBitmaps(&reader, into: &keys)
    default: throw .newerRecord("an unknown form of key set")
    }
  }

  private static func readRuns(
    _ reader: inout RecordReader, into keys: inout KeySet
  ) throws(StorageError) {
    var first = try reader.zigzag()
    var isLong = try reader.byte() & 1 == 1
    if let last = keys.last, last.rawValue >= first { throw .damagedRecord("keys out of order") }
    while true {
      var last = first
      if isLong {
        let length = try reader.varint()
        guard length < UInt64.max, let end = sum(first, length + 1) else {
          throw .damagedRecord("a run is too long")
        }
        last = end
      }
      keys.append(KeyRun(first: first, last: last))
      if reader.remaining == 0 { return }
      let item = try reader.varint()
      isLong = item & 1 == 1
      var gap = item >> 1
      if gap == gapMax {
        let (whole, overflow) = gap.addingReportingOverflow(try reader.varint())
        if overflow { throw .damagedRecord("a gap is too long") }
        gap = whole
      }
      guard gap <= UInt64.max - 2, let next = sum(last, gap + 2) else {
        throw .damagedRecord("a gap is too long")
      }
      first = next
    }
  }

  private static func readBitmaps(
    _ reader: inout RecordReader, into keys: inout KeySet
  ) throws(StorageError) {
    var block = try reader.zigzag()
    if let last = keys.last, last.rawValue >> 7 >= block {
      throw .damagedRecord("keys out of order")
    }
    while true {
      guard block >= Int64.min >> 7 && block <= Int64.max >> 7 else {
        throw .damagedRecord("a block does not exist")
      }
      let low = try reader.word(UInt64.self)
      let high = try reader.word(UInt64.self)
      appendBits(low, at: block << 7, to: &keys)
      appendBits(high, at: (block << 7) + 64, to: &keys)
      if reader.remaining == 0 { return }
      guard let distance = Int64(exactly: try reader.varint()), distance < 1 << 60 else {
        throw .damagedRecord("a block does not exist")
      }
      block += distance + 1
    }
  }

  private static func appendBits(_ bits: UInt64, at base: Int64, to keys: inout KeySet) {
    var rest = bits
    while rest != 0 {
      let first = rest.trailingZeroBitCount
      let length = (~(rest >> UInt64(first))).trailingZeroBitCount
      keys.append(KeyRun(first: base + Int64(first), last: base + Int64(first + length - 1)))
      if first + length == 64 { return }
      rest &= UInt64.max << UInt64(first + length)
    }
  }

  /// `key + distance`, nil on overflow.
  private static func sum(_ key: Int64, _ distance: UInt64) -> Int64? {
    let moved = Int64(bitPattern: UInt64(bitPattern: key) &+ distance)
    let room = UInt64(bitPattern: Int64.max) &- UInt64(bitPattern: key)
    return distance <= room ? moved : nil
  }
}
