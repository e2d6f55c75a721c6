/// A view of one page of a packed index: sorted entries (order key, object key), with their common
/// prefix stored once. Little endian and unaligned:
///
///      0  u8   format, 1
///      1  u8   flags: 1 suffixes have different lengths
///      2  u16  entries, 1...2048
///      4  u16  total bytes
///      6  u8   length of the prefix that all order keys share
///      7  u8   length of every suffix; 0 if they differ
///      8  u32  checksum (CRC-32C) of the bytes from 12 on
///     12  u8   object key width: 0 keys are base + position; 1, 2, 4, 8 offsets from the base
///     13  3 x 0
///     16  i64  object key base
///     24  ...  prefix; if lengths differ a u16 end for each suffix; suffixes; object keys
///
/// `init(validating:)` checks only the header, in constant time; an entry is checked when it is
/// read. So no read leaves the bytes, whatever they contain. Checksums are verified before a page
/// is edited, not at every read. The view does not own the bytes.
@safe struct IndexPage {
  static let byteCountMax = 4_080
  static let entryCountMax = 2_048
  static let headerByteCount = 24

  let base: UnsafeRawPointer
  let byteCount: Int
  let count: Int
  let prefixCount: Int
  /// The length of every suffix, -1 if they differ.
  let suffixWidth: Int
  let keyWidth: Int
  let keyBase: Int64
  let suffixStart: Int
  let keysStart: Int

  var isVariable: Bool { suffixWidth < 0 }
  var endsStart: Int { Self.headerByteCount + prefixCount }

  init(validating bytes: UnsafeRawBufferPointer) throws(StorageError) {
    guard let base = bytes.baseAddress, bytes.count >= Self.headerByteCount,
      bytes.count <= Self.byteCountMax
    else { throw Self.damaged("its length is impossible") }
    unsafe self.base = base
    byteCount = bytes.count
    let format = unsafe bytes[0]
    let flags = unsafe bytes[1]
    guard format == 1, flags <= 1 else { throw Self.damaged("its format is unknown") }
    count = unsafe Self.u16(base, 2)
    guard count > 0, count <= Self.entryCountMax, unsafe Self.u16(base, 4) == byteCount else {
      throw Self.damaged("its counts are impossible")
    }
    prefixCount = unsafe Int(bytes[6])
    suffixWidth = unsafe flags == 1 ? -1 : Int(bytes[7])
    keyWidth = unsafe Int(bytes[12])
    guard [0, 1, 2, 4, 8].contains(keyWidth),
      prefixCount + max(suffixWidth, 0) <= OrderKey.byteCountMax
    else { throw Self.damaged("its widths are impossible") }
    keyBase = unsafe Int64(littleEndian: base.loadUnaligned(fromByteOffset: 16, as: Int64.self))
    let afterPrefix = Self.headerByteCount + prefixCount
    if suffixWidth >= 0 {
      suffixStart = afterPrefix
      keysStart = afterPrefix + count * suffixWidth
    } else {
      suffixStart = afterPrefix + 2 * count
      guard suffixStart <= byteCount else { throw Self.damaged("it ends too early") }
      keysStart = unsafe suffixStart + Self.u16(base, suffixStart - 2)
    }
    guard keysStart + count * keyWidth == byteCount else {
      throw Self.damaged("its tables are too short")
    }
  }

  static func damaged(_ detail: String) -> StorageError {
    StorageError(
      .corrupted, operation: "read index", path: "",
      detail: "A page of an index is damaged: \(detail).")
  }

  /// The additional checks before an edit: the checksum, and that every suffix is in the page.
  /// Editing a damaged page would give it a valid checksum and hide the damage.
  func verify() throws(StorageError) {
    guard unsafe PageSeal.isWhole(base, byteCount: byteCount) else {
      throw Self.damaged("its checksum is wrong")
    }
    guard isVariable else { return }
    // A negative length wraps around and is too long as well. No exit from the loop, so that the
    // compiler vectorizes it.
    let ends = unsafe base + endsStart
    var longest = unsafe UInt16(littleEndian: ends.loadUnaligned(as: UInt16.self))
    for offset in stride(from: 2, to: 2 * count, by: 2) {
      let start = unsafe ends.loadUnaligned(fromByteOffset: offset - 2, as: UInt16.self)
      let end = unsafe ends.loadUnaligned(fromByteOffset: offset, as: UInt16.self)
      longest = max(longest, UInt16(littleEndian: end) &- UInt16(littleEndian: start))
    }
    guard prefixCount + Int(longest) <= OrderKey.byteCountMax else {
      throw Self.damaged("a key has an impossible length")
    }
  }

  // MARK: - Entries

  @inline(__always)
  static func u16(_ base: UnsafeRawPointer, _ offset: Int) -> Int {
    unsafe Int(UInt16(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
  }

  @inline(__always)
  func objectKey(_ index: Int) -> ObjectKey {
    assert(index >= 0 && index < count)
    let position = keysStart + index * keyWidth
    let offset: UInt64
    switch keyWidth {
    case 0: offset = UInt64(index)
    case 1: offset = unsafe UInt64(base.load(fromByteOffset: position, as: UInt8.self))
    case 2: offset = unsafe UInt64(Self.u16(base, position))
    case 4:
      offset = unsafe UInt64(
        UInt32(littleEndian: base.loadUnaligned(fromByteOffset: position, as: UInt32.self)))
    default:
      offset = unsafe UInt64(
        littleEndian: base.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }
    return ObjectKey(keyBase &+ Int64(bitPattern: offset))
  }

  /// The start and length of that entry's suffix.
  @inline(__always)
  func suffix(_ index: Int) throws(StorageError) -> (start: Int, count: Int) {
    assert(index >= 0 && index < count)
    if suffixWidth >= 0 { return (suffixStart + index * suffixWidth, suffixWidth) }
    let start = unsafe index == 0 ? 0 : Self.u16(base, endsStart + 2 * index - 2)
    let end = unsafe Self.u16(base, endsStart + 2 * index)
    guard start <= end, suffixStart + end <= keysStart,
      prefixCount + end - start <= OrderKey.byteCountMax
    else { throw Self.damaged("a key extends past the page") }
    return (suffixStart + start, end - start)
  }

  /// Writes the whole order key of an entry into `target`, which has room for the longest one, and
  /// returns its length.
  func copyOrderKey(
    _ index: Int, to target: UnsafeMutableRawPointer
  ) throws(StorageError) -> Int {
    let (start, count) = try suffix(index)
    unsafe target.copyMemory(from: base + Self.headerByteCount, byteCount: prefixCount)
    unsafe (target + prefixCount).copyMemory(from: base + start, byteCount: count)
    return prefixCount + count
  }
}
