extension IndexPage {
  /// The number of entries before the cut, counted from entry `low`: those less than (key, object),
  /// and with `after` also the equal one.
  func position(
    of key: UnsafeRawBufferPointer, _ object: ObjectKey, after: Bool, from low: Int = 0
  ) throws(StorageError) -> Int {
    let shared = min(key.count, prefixCount)
    let prefix = unsafe UnsafeRawBufferPointer(
      start: base + Self.headerByteCount, count: prefixCount)
    let order = unsafe compareBytes(UnsafeRawBufferPointer(rebasing: key[..<shared]), prefix)
    // A key that is shorter than the prefix and equal so far also sorts before all entries.
    if order != 0 { return order < 0 ? low : count }
    let rest = unsafe UnsafeRawBufferPointer(rebasing: key[shared...])
    if rest.count == suffixWidth, suffixWidth <= 8 {
      return unsafe position(ofNumber: Self.number(rest), object, after: after, from: low)
    }
    return try (low..<max(low, count)).partitioningIndex { number throws(StorageError) in
      let (start, length) = try suffix(number)
      let suffix = unsafe UnsafeRawBufferPointer(start: base + start, count: length)
      let order = unsafe compareBytes(suffix, rest)
      if order != 0 { return order > 0 }
      let other = objectKey(number)
      return other > object || !after && other == object
    }
  }

  /// Short suffixes of one length compare as numbers, without branches that depend on them.
  private func position(
    ofNumber wanted: UInt64, _ object: ObjectKey, after: Bool, from low: Int
  ) -> Int {
    let start = (low..<max(low, count)).firstIndexWithoutBranches { suffixNumber($0) < wanted }
    guard start < count, suffixNumber(start) == wanted, object > .smallest || after else {
      return start
    }
    // Entries of one value are in the order of the objects.
    guard objectKey(start) < object || (after && objectKey(start) == object) else { return start }
    let end = (start..<count).firstIndexWithoutBranches { suffixNumber($0) <= wanted }
    let limit = after && object < .largest ? ObjectKey(object.rawValue + 1) : object
    if after && object == .largest { return end }
    return (start..<end).firstIndexWithoutBranches { objectKey($0) < limit }
  }

  /// A suffix of at most eight bytes as a number in the same order: the last bytes of the eight
  /// that end where it does, which never start before the page.
  @inline(__always)
  private func suffixNumber(_ index: Int) -> UInt64 {
    assert(suffixWidth >= 0 && suffixWidth <= 8)
    let end = suffixStart + (index + 1) * suffixWidth
    let bytes = unsafe base.loadUnaligned(fromByteOffset: end - 8, as: UInt64.self)
    let unused = UInt64(8 * (8 - suffixWidth))
    return bytes.bigEndian & (UInt64.max >> unused)
  }

  @inline(__always)
  private static func number(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var number: UInt64 = 0
    for index in 0..<bytes.count { number = unsafe number << 8 | UInt64(bytes[index]) }
    return number
  }

  /// True if that entry is (key, object).
  func holds(
    _ key: UnsafeRawBufferPointer, _ object: ObjectKey, at index: Int
  ) throws(StorageError) -> Bool {
    guard index < count, objectKey(index) == object else { return false }
    return try unsafe hasOrderKey(key, at: index)
  }

  /// True if the order key of that entry is `key`.
  func hasOrderKey(
    _ key: UnsafeRawBufferPointer, at index: Int
  ) throws(StorageError) -> Bool {
    let (start, length) = try suffix(index)
    guard key.count == prefixCount + length else { return false }
    let head = unsafe UnsafeRawBufferPointer(
      start: base + Self.headerByteCount, count: prefixCount)
    let tail = unsafe UnsafeRawBufferPointer(start: base + start, count: length)
    let keyHead = unsafe UnsafeRawBufferPointer(rebasing: key[..<prefixCount])
    let keyTail = unsafe UnsafeRawBufferPointer(rebasing: key[prefixCount...])
    let isSame = unsafe compareBytes(keyTail, tail) == 0 && compareBytes(keyHead, head) == 0
    return isSame
  }
}
