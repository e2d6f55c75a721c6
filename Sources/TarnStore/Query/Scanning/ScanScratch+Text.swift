import CTarn

// Tests over the strings or data of a cluster. A dictionary entry is tested once. Plain bytes are
// adjacent row by row, so that a search runs over all of them at once, and looks up rows only where
// it found something.

extension ScanScratch {
  /// Rows whose bytes match, except values stored elsewhere: `long` tests these, only for rows of
  /// `mask`.
  func testText(
    _ image: ClusterImage, _ column: ColumnID, _ pattern: TextPattern,
    _ mask: UnsafeMutablePointer<UInt64>, _ hits: UnsafeMutablePointer<UInt64>,
    _ long: (_ slot: Int) throws(StorageError) -> Bool
  ) throws(StorageError) {
    if let dictionary = image.dictionary(column) {
      try unsafe testDictionary(image, dictionary, pattern, hits)
      return
    }
    if let plain = PlainText(image, column) {
      let isWhole = pattern.op == .equal
      if isWhole || pattern.op == .beginsWith && !pattern.needle.isEmpty,
        pattern.options.isEmpty
      {
        try unsafe testBeginning(plain, image, pattern.needle, isWhole, hits)
        return
      }
      if pattern.op == .contains, try unsafe search(plain, image, pattern, hits) { return }
    }
    for index in 0..<image.bitmapWords { unsafe hits[index] = 0 }
    try unsafe Bitmap.forEach(mask, image.bitmapWords) { (slot) throws(StorageError) in
      let passes: Bool
      switch try image.bytes(column, slot) {
      case .inline(let bytes): passes = unsafe pattern.matches(bytes)
      case .null: passes = unsafe pattern.matches(UnsafeRawBufferPointer(start: nil, count: 0))
      case .long(let length):
        passes = pattern.mayMatch(length: length) ? try long(slot) : false
      }
      if passes { unsafe hits[slot >> 6] |= 1 << UInt64(slot & 63) }
    }
  }

  /// Tests every entry once; then a row costs a comparison or a look-up in a table.
  private func testDictionary(
    _ image: ClusterImage, _ dictionary: ClusterDictionary, _ pattern: TextPattern,
    _ hits: UnsafeMutablePointer<UInt64>
  ) throws(StorageError) {
    let table = unsafe UnsafeMutableRawPointer(text).assumingMemoryBound(to: UInt8.self)
    unsafe table.update(repeating: 0, count: 256)
    var found = 0
    var only: UInt8 = 0
    for code in 0..<min(dictionary.count, 256) {
      guard unsafe pattern.matches(try dictionary.entry(code)) else { continue }
      found += 1
      only = UInt8(code)
      unsafe table[code] = 1
    }
    let (flags, codes) = unsafe (self.flags, dictionary.codes)
    switch found {
    case 0:
      unsafe fillAll(image, false, hits)
      return
    case 1:
      for slot in 0..<image.rowCount { unsafe flags[slot] = codes[slot] == only ? 1 : 0 }
    default:
      for slot in 0..<image.rowCount { unsafe flags[slot] = table[Int(codes[slot])] }
    }
    unsafe Bitmap.pack(flags, image.bitmapWords, into: hits)
  }

  /// Equality with the whole value or its beginning: first the length and eight bytes of every row,
  /// without a branch, then the rest if those are equal.
  private func testBeginning(
    _ plain: PlainText, _ image: ClusterImage, _ needle: [UInt8], _ isWhole: Bool,
    _ hits: UnsafeMutablePointer<UInt64>
  ) throws(StorageError) {
    let rows = image.rowCount
    if let length = plain.commonLength(rows) {
      guard isWhole ? length == needle.count : length >= needle.count else {
        unsafe fillAll(image, false, hits)
        return
      }
      testFirstWords(plain, rows, length, needle)
    } else {
      guard plain.areEndsInside(rows) else { throw Self.outside }
      testFirstWords(plain, rows, needle, isWhole)
    }
    // After the last row are flags of another image, and the following code reads every bit.
    for slot in rows..<image.bitmapWords &* 64 { unsafe flags[slot] = 0 }
    unsafe Bitmap.pack(flags, image.bitmapWords, into: hits)
    if needle.count > 8 { unsafe testRest(plain, image, needle, hits) }
  }

  /// Values are often codes, ids or dates with a common length. Their ends then need not be read.
  private func testFirstWords(_ plain: PlainText, _ rows: Int, _ length: Int, _ needle: [UInt8]) {
    let (low, mask) = Self.firstWord(needle)
    let (data, flags) = unsafe (plain.data + plain.end(0), self.flags)
    var start = 0
    for slot in 0..<rows {
      // The padding of an image makes reading past the row's end safe.
      unsafe flags[slot] = (Little.u64(data, start) ^ low) & mask == 0 ? 1 : 0
      start &+= length
    }
  }

  private func testFirstWords(
    _ plain: PlainText, _ rows: Int, _ needle: [UInt8], _ isWhole: Bool
  ) {
    let (low, mask) = Self.firstWord(needle)
    let (ends, data, flags) = unsafe (plain.ends, plain.data, self.flags)
    let length = needle.count
    // The difference in length under this mask must be zero: all of it, or the sign.
    let surplus = isWhole ? -1 : Int.min
    var start = plain.end(0)
    for slot in 0..<rows {
      let end = unsafe Little.u16(ends, 2 &* slot &+ 2)
      let differs = unsafe (Little.u64(data, start) ^ low) & mask
      let excess = UInt64(bitPattern: Int64((end &- start &- length) & surplus))
      unsafe flags[slot] = differs | excess == 0 ? 1 : 0
      start = end
    }
  }

  /// Keeps in `hits` the rows whose bytes continue like the needle.
  private func testRest(
    _ plain: PlainText, _ image: ClusterImage, _ needle: [UInt8],
    _ hits: UnsafeMutablePointer<UInt64>
  ) {
    unsafe needle.withUnsafeBytes { needle in
      unsafe Bitmap.forEach(hits, image.bitmapWords) { slot in
        let window = unsafe UnsafeRawBufferPointer(
          start: plain.data + plain.end(slot), count: needle.count)
        if unsafe compareBytes(window, needle) != 0 {
          unsafe hits[slot >> 6] &= ~(1 << UInt64(slot & 63))
        }
      }
    }
  }

  private static var outside: StorageError {
    ClusterImage.corrupted("the bytes of a row are out of bounds")
  }

  /// The first eight bytes, or fewer, and a mask of these bytes in a word.
  private static func firstWord(_ needle: [UInt8]) -> (word: UInt64, mask: UInt64) {
    var word: UInt64 = 0
    for (index, byte) in needle.prefix(8).enumerated() { word |= UInt64(byte) << UInt64(8 * index) }
    return (word, needle.count >= 8 ? .max : (1 << UInt64(8 * needle.count)) - 1)
  }
}

// MARK: - Search

extension ScanScratch {
  /// Searches the bytes of all rows at once. Returns false without a search if case is ignored and
  /// some string is not ASCII.
  private func search(
    _ plain: PlainText, _ image: ClusterImage, _ pattern: TextPattern,
    _ hits: UnsafeMutablePointer<UInt64>
  ) throws(StorageError) -> Bool {
    let from = plain.end(0)
    let limit = plain.end(image.rowCount)
    guard from <= limit, limit <= plain.room else { throw Self.outside }
    var data = unsafe plain.data
    if !pattern.options.isEmpty {
      guard limit + 32 <= Self.textBytes, unsafe lower(data, from, limit) else { return false }
      // ASCII has no diacritics.
      if pattern.options.contains(.caseInsensitive) { unsafe data = UnsafeRawPointer(text) }
    }
    for index in 0..<image.bitmapWords { unsafe hits[index] = 0 }
    unsafe pattern.needle.withUnsafeBytes { needle in
      unsafe search(plain, data, from, limit, image.rowCount, needle, hits)
    }
    return true
  }

  /// Copies strings in lower case into `text`; false if they are not all ASCII.
  private func lower(_ data: UnsafeRawPointer, _ from: Int, _ limit: Int) -> Bool {
    let bytes = unsafe data.assumingMemoryBound(to: UInt8.self)
    let text = unsafe self.text
    var seen: UInt8 = 0
    for offset in from..<limit {
      let byte = unsafe bytes[offset]
      seen |= byte
      unsafe text[offset] = TextPattern.lowerASCII(byte)
    }
    return seen < 0x80
  }

  /// Compares 16 offsets at once with the needle's first and last byte, and compares the rest where
  /// both are equal.
  private func search(
    _ plain: PlainText, _ data: UnsafeRawPointer, _ from: Int, _ limit: Int, _ rows: Int,
    _ needle: UnsafeRawBufferPointer, _ hits: UnsafeMutablePointer<UInt64>
  ) {
    guard let first = unsafe needle.first, limit - from >= needle.count else { return }
    let length = needle.count
    let firsts = SIMD16<UInt8>(repeating: first)
    let lasts = unsafe SIMD16<UInt8>(repeating: needle[length - 1])
    var slot = 0
    var position = from
    let stop = limit - length
    while position <= stop {
      let a = unsafe data.loadUnaligned(fromByteOffset: position, as: SIMD16<UInt8>.self)
      let b = unsafe data.loadUnaligned(
        fromByteOffset: position &+ length &- 1, as: SIMD16<UInt8>.self)
      // Zero exactly in the lanes where both bytes are the needle's.
      let difference = unsafe unsafeBitCast((a ^ firsts) | (b ^ lasts), to: SIMD2<UInt64>.self)
      var lanes = (Self.zeroBytes(difference[0]), Self.zeroBytes(difference[1]))
      while lanes.0 | lanes.1 != 0 {
        let inFirst = lanes.0 != 0
        let bit = inFirst ? lanes.0.trailingZeroBitCount : lanes.1.trailingZeroBitCount
        if inFirst { lanes.0 &= lanes.0 - 1 } else { lanes.1 &= lanes.1 - 1 }
        let found = position &+ (bit >> 3) &+ (inFirst ? 0 : 8)
        guard found <= stop else { break }
        let window = unsafe UnsafeRawBufferPointer(start: data + found, count: length)
        guard unsafe length <= 2 || TextPattern.areEqual(window, needle) else { continue }
        while slot < rows && plain.end(slot &+ 1) <= found { slot &+= 1 }
        guard slot < rows else { return }
        if found &+ length <= plain.end(slot &+ 1) {
          unsafe hits[slot >> 6] |= 1 << UInt64(slot & 63)
        }
      }
      position &+= 16
    }
  }

  /// The highest bit of every byte that is zero, and no other.
  @inline(__always)
  private static func zeroBytes(_ word: UInt64) -> UInt64 {
    let low: UInt64 = 0x7f7f_7f7f_7f7f_7f7f
    return ~(((word & low) &+ low) | word | low)
  }
}

/// The bytes of a plain string or data column, checked as a whole.
@safe struct PlainText {
  /// One more u16 than rows, counted from `data`.
  let ends: UnsafeRawPointer
  let data: UnsafeRawPointer
  /// The bytes after `data` that may belong to rows. Sixteen more can be read.
  let room: Int

  /// Nil if the column has another kind, or if some values are stored elsewhere.
  init?(_ image: ClusterImage, _ column: ColumnID) {
    let descriptor = image.descriptor(column)
    guard Int32(descriptor.kind) == Int32(TARN_KIND_BYTES), descriptor.width == 0 else {
      return nil
    }
    unsafe ends = image.base + Int(descriptor.data)
    unsafe data = image.base + Int(descriptor.aux)
    room = unsafe image.bytes.count - ClusterFormat.paddingBytes - Int(descriptor.aux)
    // The ends, followed by the bytes of short values.
    unsafe tarn_prefetch(ends, min(room + 2 * image.rowCount, 16 * image.rowCount))
  }

  @inline(__always)
  func end(_ index: Int) -> Int { unsafe Little.u16(ends, 2 &* index) }

  /// True if no row's bytes begin after their end, or end outside.
  func areEndsInside(_ rows: Int) -> Bool {
    unsafe ClusterImage.ascend(ends, rows) && end(rows) <= room
  }

  /// The common length of every row's bytes, if they have one and none end outside.
  func commonLength(_ rows: Int) -> Int? {
    let (first, last) = (end(0), end(rows))
    let length = end(1) - first
    guard length >= 0, first + length * rows == last, last <= room else { return nil }
    let ends = unsafe self.ends
    let step = UInt16(length)
    var differences: UInt16 = 0
    for slot in 0..<rows {
      let start = unsafe ends.loadUnaligned(fromByteOffset: 2 &* slot, as: UInt16.self)
      let end = unsafe ends.loadUnaligned(fromByteOffset: 2 &* slot &+ 2, as: UInt16.self)
      differences |= (end &- start) ^ step
    }
    return differences == 0 ? length : nil
  }
}
