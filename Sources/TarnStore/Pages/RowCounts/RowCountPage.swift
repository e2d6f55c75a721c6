/// The number of rows of one cluster.
package struct RowCount: Equatable, Sendable {
  /// The least key that the cluster can contain: the one in its own key in the tree.
  package var first: ObjectKey
  package var rows: Int
  package init(first: ObjectKey, rows: Int) {
    self.first = first
    self.rows = rows
  }
}

/// A view of one page of a class's row counts: about 250 clusters, in the order of their keys.
/// Little endian and unaligned:
///
///      0  u8   format, 1
///      1  u8   key width: 1, 2, 4 or 8
///      2  u16  clusters, 1...320
///      4  u32  rows in all of them
///      8  u32  checksum (CRC-32C) of the bytes from 12 on
///     12  u32  0
///     16  i64  key base: the first cluster's first key
///     24  ...  u16 rows of each cluster; first key of each less the base
///
/// The length follows from the header, so `init(validating:)` makes every later read safe. The
/// view does not own the bytes.
@safe struct RowCountPage {
  static let entryCountMax = 320
  private static let headerByteCount = 24

  private let base: UnsafeRawPointer
  private let keyWidth: Int
  private let keyBase: Int64
  let count: Int
  /// The number of rows in all clusters of the page, from the header.
  let rows: Int

  init(validating bytes: UnsafeRawBufferPointer) throws(StorageError) {
    guard let base = bytes.baseAddress, bytes.count >= Self.headerByteCount,
      unsafe base.load(as: UInt8.self) == 1
    else { throw Self.damaged("its format or length is impossible") }
    unsafe self.base = base
    keyWidth = unsafe Int(base.load(fromByteOffset: 1, as: UInt8.self))
    count = unsafe Int(
      UInt16(littleEndian: base.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
    rows = unsafe Int(
      UInt32(littleEndian: base.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
    keyBase = unsafe Int64(littleEndian: base.loadUnaligned(fromByteOffset: 16, as: Int64.self))
    guard [1, 2, 4, 8].contains(keyWidth), count > 0, count <= Self.entryCountMax,
      bytes.count == Self.headerByteCount + count * (2 + keyWidth)
    else { throw Self.damaged("its counts do not fit its length") }
  }

  static func damaged(_ detail: String) -> StorageError {
    StorageError(
      .corrupted, operation: "read row counts", path: "",
      detail: "A page of the row counts of a class is damaged: \(detail).")
  }

  func verify() throws(StorageError) {
    let length = Self.headerByteCount + count * (2 + keyWidth)
    guard unsafe PageSeal.isWhole(base, byteCount: length) else {
      throw Self.damaged("its checksum is wrong")
    }
    var total = 0
    for index in 0..<count {
      total += rows(index)
      guard index == 0 || first(index - 1) < first(index) else {
        throw Self.damaged("its clusters are out of order")
      }
    }
    guard total == rows else { throw Self.damaged("its sum is wrong") }
  }

  func rows(_ index: Int) -> Int {
    require(index >= 0 && index < count)
    let offset = Self.headerByteCount + 2 * index
    return unsafe Int(
      UInt16(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
  }

  func first(_ index: Int) -> ObjectKey {
    require(index >= 0 && index < count)
    let address = unsafe base + Self.headerByteCount + 2 * count + index * keyWidth
    let offset: UInt64
    switch keyWidth {
    case 1: offset = unsafe UInt64(address.load(as: UInt8.self))
    case 2: offset = unsafe UInt64(UInt16(littleEndian: address.loadUnaligned(as: UInt16.self)))
    case 4: offset = unsafe UInt64(UInt32(littleEndian: address.loadUnaligned(as: UInt32.self)))
    default: offset = unsafe UInt64(littleEndian: address.loadUnaligned(as: UInt64.self))
    }
    return ObjectKey(keyBase &+ Int64(bitPattern: offset))
  }

  /// The page of those clusters, which are ordered, between 1 and `entryCountMax`, and have
  /// 1...65535 rows each.
  static func encode(_ entries: ArraySlice<RowCount>) -> [UInt8] {
    require(!entries.isEmpty && entries.count <= entryCountMax)
    let base = entries[entries.startIndex].first
    let last = entries[entries.endIndex - 1].first
    let span = UInt64(bitPattern: last.rawValue &- base.rawValue)
    let width = span <= 0xff ? 1 : span <= 0xffff ? 2 : span <= 0xffff_ffff ? 4 : 8
    let keysStart = headerByteCount + 2 * entries.count
    let byteCount = keysStart + entries.count * width
    // Eight extra bytes, because offsets are stored as eight bytes of which `width` count.
    let page = unsafe [UInt8](unsafeUninitializedCapacity: byteCount + 8) { buffer, count in
      let page = UnsafeMutableRawBufferPointer(buffer)
      unsafe page.initializeMemory(as: UInt8.self, repeating: 0)
      func store<T: FixedWidthInteger>(_ number: T, _ offset: Int) {
        unsafe page.storeBytes(of: number.littleEndian, toByteOffset: offset, as: T.self)
      }
      var total = 0
      for (index, entry) in entries.enumerated() {
        require(entry.rows > 0, "a counted cluster must have rows")
        total += entry.rows
        store(UInt16(entry.rows), headerByteCount + 2 * index)
        let offset = UInt64(bitPattern: entry.first.rawValue &- base.rawValue)
        store(offset, keysStart + index * width)
      }
      store(UInt8(1), 0)
      store(UInt8(width), 1)
      store(UInt16(entries.count), 2)
      store(UInt32(total), 4)
      store(base.rawValue, 16)
      unsafe PageSeal.close(page.baseAddress!, byteCount: byteCount)
      count = byteCount
    }
    return page
  }
}
