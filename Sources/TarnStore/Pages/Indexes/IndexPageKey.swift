/// The key in the tree of an index page: that of its first entry.
///
///     0x30 [class u32][column u16][order key, 00 as 00 ff, ended by 00 00][object key u64]
///     0x55 [class u32][rule u16]  the same for a unique rule
///
/// The escape preserves the order of (order key, object key) for order keys of different lengths.
/// An index without entries has no page.
struct IndexPageKey: Comparable, Sendable {
  private static let headByteCount = 7
  static let byteCountMax = headByteCount + 2 * OrderKey.byteCountMax + 2 + 8

  private var storage = InlineArray<288, UInt8>(repeating: 0)
  private var count = headByteCount

  /// Sorts before every page of that index.
  init(beforeAllOf index: PackedIndex) {
    unsafe withUnsafeMutableBytes(of: &storage) { bytes in
      unsafe bytes[0] = index.tag.rawValue
      unsafe bytes.storeBytes(
        of: index.classID.rawValue.bigEndian, toByteOffset: 1, as: UInt32.self)
      unsafe bytes.storeBytes(
        of: index.number.bigEndian, toByteOffset: 5, as: UInt16.self)
    }
  }

  /// Sorts after every page of that index: an order key starts with 00 or 01.
  init(afterAllOf index: PackedIndex) {
    self.init(beforeAllOf: index)
    storage[count] = 0xff
    count += 1
  }

  /// The page that starts with that entry.
  init(_ index: PackedIndex, _ key: UnsafeRawBufferPointer, _ object: ObjectKey) {
    require(key.count <= OrderKey.byteCountMax, "an order key has at most 128 bytes")
    self.init(beforeAllOf: index)
    var end = count
    unsafe withUnsafeMutableBytes(of: &storage) { bytes in
      for index in 0..<key.count {
        let byte = unsafe key[index]
        unsafe bytes[end] = byte
        end += 1
        if byte == 0 {
          unsafe bytes[end] = 0xff
          end += 1
        }
      }
      // The two zeros of the end mark are there already.
      unsafe bytes.storeBytes(
        of: object.treeOrder.bigEndian, toByteOffset: end + 2, as: UInt64.self)
    }
    count = end + 10
  }

  /// A copy of a key in the tree, nil if it is not the key of a page of that index.
  init?(copying key: UnsafeRawBufferPointer, of index: PackedIndex) {
    guard unsafe index.owns(key) else { return nil }
    count = key.count
    unsafe withUnsafeMutableBytes(of: &storage) { bytes in
      unsafe bytes.copyMemory(from: key)
    }
  }

  @inline(__always)
  func withBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try unsafe withUnsafeBytes(of: storage) { bytes throws(E) -> R in
      try unsafe body(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    }
  }

  static func == (a: Self, b: Self) -> Bool {
    unsafe a.withBytes { a in unsafe b.withBytes { b in unsafe compareBytes(a, b) == 0 } }
  }

  static func < (a: Self, b: Self) -> Bool {
    unsafe a.withBytes { a in unsafe b.withBytes { b in unsafe compareBytes(a, b) < 0 } }
  }
}

extension IndexPage {
  /// The tree key of this page for its first entry, or for another one.
  func treeKey(
    in index: PackedIndex, ofEntry entry: Int = 0
  ) throws(StorageError) -> IndexPageKey {
    var storage = InlineArray<128, UInt8>(repeating: 0)
    return try unsafe withUnsafeMutableBytes(of: &storage) {
      bytes throws(StorageError) -> IndexPageKey in
      let base = bytes.baseAddress!
      let count = try unsafe copyOrderKey(entry, to: base)
      let key = unsafe UnsafeRawBufferPointer(start: base, count: count)
      return unsafe IndexPageKey(index, key, objectKey(entry))
    }
  }
}

extension PackedIndex {
  /// The index whose page has that tree key; nil for other keys.
  init?(ofPageUnder key: UnsafeRawBufferPointer) {
    guard key.count >= 17, key.count <= IndexPageKey.byteCountMax else { return nil }
    guard let tag = unsafe TreeKey.tag(of: key), tag == .index || tag == .unique else { return nil }
    self.tag = tag
    classID = unsafe ClassID(
      UInt32(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
    number = unsafe UInt16(bigEndian: key.loadUnaligned(fromByteOffset: 5, as: UInt16.self))
  }

  /// True if that tree key is that of a page of this index.
  @inline(__always)
  func owns(_ key: UnsafeRawBufferPointer) -> Bool {
    guard key.count >= 17, key.count <= IndexPageKey.byteCountMax else { return false }
    let tag = unsafe key[0]
    let id = unsafe UInt32(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
    let number = unsafe UInt16(bigEndian: key.loadUnaligned(fromByteOffset: 5, as: UInt16.self))
    return tag == self.tag.rawValue && id == classID.rawValue && number == self.number
  }
}
