/// An entry in memory, whose order key is in memory owned elsewhere.
@unsafe struct IndexItem {
  var key: UnsafeRawBufferPointer
  var object: ObjectKey
}

/// The facts about a run of sorted entries that determine the size of a page of them, updated with
/// each entry.
struct IndexPageShape {
  private(set) var count = 0
  private(set) var prefixCount = 0
  private var lengthSum = 0
  /// The length of every key, -1 if they differ.
  private var commonLength = 0
  private(set) var objectMin = Int64.max
  private var objectMax = Int64.min
  private var objectNext: Int64 = 0
  private var isSequence = true

  var suffixWidth: Int { commonLength < 0 ? -1 : commonLength - prefixCount }

  var keyWidth: Int {
    if isSequence { return 0 }
    let span = UInt64(bitPattern: objectMax &- objectMin)
    return span <= 0xff ? 1 : span <= 0xffff ? 2 : span <= 0xffff_ffff ? 4 : 8
  }

  var byteCount: Int {
    let suffixes = lengthSum - count * prefixCount + (commonLength < 0 ? 2 * count : 0)
    return IndexPage.headerByteCount + prefixCount + suffixes + count * keyWidth
  }

  /// Adds the next entry; `first` is the first entry.
  @inline(__always)
  mutating func add(_ item: IndexItem, after first: IndexItem) {
    let length = unsafe item.key.count
    let object = unsafe item.object.rawValue
    if count == 0 {
      prefixCount = length
      commonLength = length
    } else {
      prefixCount = unsafe sharedPrefixCount(first.key, item.key, limit: prefixCount)
      if length != commonLength { commonLength = -1 }
      isSequence = isSequence && object == objectNext && object != Int64.min
    }
    count += 1
    lengthSum += length
    objectMin = min(objectMin, object)
    objectMax = max(objectMax, object)
    objectNext = object &+ 1
  }
}

/// The length of the common prefix of two keys, at most `limit`.
@inline(__always)
func sharedPrefixCount(
  _ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer, limit: Int
) -> Int {
  let limit = min(limit, a.count, b.count)
  var offset = 0
  while offset + 8 <= limit {
    let x = unsafe a.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    let y = unsafe b.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    if x != y { return offset + (x ^ y).littleEndian.trailingZeroBitCount / 8 }
    offset += 8
  }
  while offset < limit, unsafe a[offset] == b[offset] { offset += 1 }
  return offset
}

enum IndexPageEncoder {
  /// Where to split sorted entries into pages: the end of each run.
  ///
  /// With `filling` every page but the last is full, which suits entries that arrive in order;
  /// otherwise the pages are about equally long, so that each has room for more.
  static func cuts(_ items: UnsafeBufferPointer<IndexItem>, filling: Bool) -> [Int] {
    let greedy = unsafe cuts(items, shareMax: Int.max)
    guard greedy.count > 1, !filling, let first = unsafe items.first, let last = unsafe items.last
    else { return greedy }
    // The weight of an entry: the part of its key that differs within the run, and its object key.
    let shared = unsafe sharedPrefixCount(first.key, last.key, limit: OrderKey.byteCountMax)
    let weight = unsafe items.reduce(0) { unsafe $0 + $1.key.count - shared + 4 }
    return unsafe cuts(items, shareMax: weight / greedy.count + 1, shared: shared)
  }

  private static func cuts(
    _ items: UnsafeBufferPointer<IndexItem>, shareMax: Int, shared: Int = 0
  ) -> [Int] {
    var cuts: [Int] = []
    var shape = IndexPageShape()
    var start = 0
    var share = 0
    for index in 0..<items.count {
      let item = unsafe items[index]
      var longer = shape
      unsafe longer.add(item, after: items[start])
      if index > start,
        longer.count > IndexPage.entryCountMax
          || longer.byteCount > IndexPage.byteCountMax || share >= shareMax
      {
        cuts.append(index)
        start = index
        share = 0
        longer = IndexPageShape()
        unsafe longer.add(item, after: item)
      }
      shape = longer
      share += unsafe item.key.count - shared + 4
    }
    if start < items.count { cuts.append(items.count) }
    return cuts
  }

  /// Writes a page of those entries, which fit, into `target` and returns its length.
  static func encode(
    _ items: Slice<UnsafeBufferPointer<IndexItem>>, to target: UnsafeMutableRawBufferPointer
  ) -> Int {
    let first = unsafe items[items.startIndex]
    var shape = IndexPageShape()
    for index in unsafe items.indices { unsafe shape.add(items[index], after: first) }
    require(
      shape.byteCount <= IndexPage.byteCountMax && shape.count <= IndexPage.entryCountMax)
    let base = target.baseAddress!
    let prefixCount = shape.prefixCount
    unsafe (base + IndexPage.headerByteCount).copyMemory(
      from: first.key.baseAddress!, byteCount: prefixCount)
    var position = IndexPage.headerByteCount + prefixCount
    var endPosition = position
    if shape.suffixWidth < 0 { position += 2 * shape.count }
    let suffixStart = position
    for index in unsafe items.indices {
      let item = unsafe items[index]
      let length = unsafe item.key.count - prefixCount
      if length > 0 {
        unsafe (base + position).copyMemory(
          from: item.key.baseAddress! + prefixCount, byteCount: length)
      }
      position += length
      guard shape.suffixWidth < 0 else { continue }
      unsafe storeU16(position - suffixStart, base, endPosition)
      endPosition += 2
    }
    for index in unsafe items.indices {
      let offset = unsafe UInt64(bitPattern: items[index].object.rawValue &- shape.objectMin)
      unsafe storeOffset(offset, width: shape.keyWidth, base + position)
      position += shape.keyWidth
    }
    unsafe writeHeader(
      base, count: shape.count, byteCount: position, prefixCount: prefixCount,
      suffixWidth: shape.suffixWidth, keyWidth: shape.keyWidth, keyBase: shape.objectMin)
    return position
  }

  static func writeHeader(
    _ base: UnsafeMutableRawPointer, count: Int, byteCount: Int, prefixCount: Int,
    suffixWidth: Int, keyWidth: Int, keyBase: Int64
  ) {
    unsafe base.storeBytes(of: 1, as: UInt8.self)
    unsafe base.storeBytes(of: suffixWidth < 0 ? 1 : 0, toByteOffset: 1, as: UInt8.self)
    unsafe storeU16(count, base, 2)
    unsafe storeU16(byteCount, base, 4)
    unsafe base.storeBytes(of: UInt8(prefixCount), toByteOffset: 6, as: UInt8.self)
    unsafe base.storeBytes(of: UInt8(max(suffixWidth, 0)), toByteOffset: 7, as: UInt8.self)
    unsafe base.storeBytes(of: UInt32(keyWidth).littleEndian, toByteOffset: 12, as: UInt32.self)
    unsafe base.storeBytes(of: keyBase.littleEndian, toByteOffset: 16, as: Int64.self)
    unsafe PageSeal.close(base, byteCount: byteCount)
  }

  @inline(__always)
  static func storeU16(_ number: Int, _ base: UnsafeMutableRawPointer, _ offset: Int) {
    unsafe base.storeBytes(of: UInt16(number).littleEndian, toByteOffset: offset, as: UInt16.self)
  }

  @inline(__always)
  static func storeOffset(_ offset: UInt64, width: Int, _ address: UnsafeMutableRawPointer) {
    switch width {
    case 0: break
    case 1: unsafe address.storeBytes(of: UInt8(offset), as: UInt8.self)
    case 2: unsafe address.storeBytes(of: UInt16(offset).littleEndian, as: UInt16.self)
    case 4: unsafe address.storeBytes(of: UInt32(offset).littleEndian, as: UInt32.self)
    default: unsafe address.storeBytes(of: offset.littleEndian, as: UInt64.self)
    }
  }
}
