/// A file's record about all objects of a class. Written by each commit that adds or removes one.
///
///     0  u8 format, 7 x 0      8  i64 next key      16  u64 rows
///    24  i64 smallest key     32  i64 largest key   40  u32 checksum of all before it
package struct ClassRecord: Equatable, Sendable {
  package static let byteCount = 44
  private static let format: UInt8 = 1
  /// A class cannot have more rows; a file that says so is damaged.
  static let rowCountMax = 1 << 48

  /// The key of the next object, if keys come from a counter. Never goes back, so that keys are not
  /// reused.
  package var nextKey: ObjectKey
  package var rowCount: Int
  /// No object has a smaller key. Not moved when objects are deleted, so it may be too small.
  package var smallestKey: ObjectKey
  /// No object has a larger key. Not moved when objects are deleted, so it may be too large.
  package var largestKey: ObjectKey

  /// The record of a class that never had an object.
  package init() {
    nextKey = ObjectKey(0)
    rowCount = 0
    smallestKey = .largest
    largestKey = .smallest
  }

  /// Calls `body` with the encoded record, which is valid only during the call.
  package func withEncoded<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    require(rowCount >= 0, "a class cannot have a negative number of rows")
    var storage = InlineArray<44, UInt8>(repeating: 0)
    return try unsafe withUnsafeMutableBytes(of: &storage) { bytes throws(E) -> R in
      func store<T: FixedWidthInteger>(_ number: T, _ offset: Int) {
        unsafe bytes.storeBytes(of: number.littleEndian, toByteOffset: offset, as: T.self)
      }
      store(Self.format, 0)
      store(nextKey.rawValue, 8)
      store(UInt64(rowCount), 16)
      store(smallestKey.rawValue, 24)
      store(largestKey.rawValue, 32)
      unsafe RecordSeal.close(bytes)
      return try unsafe body(UnsafeRawBufferPointer(bytes))
    }
  }

  /// Reads a record.
  /// - Throws: `.corrupted` if the bytes are not a valid record.
  package init(decoding bytes: UnsafeRawBufferPointer) throws(StorageError) {
    func load<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) -> T {
      unsafe T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: T.self))
    }
    guard bytes.count == Self.byteCount, load(0) == Self.format,
      unsafe RecordSeal.contentCount(bytes) != nil,
      let rowCount = Int(exactly: load(16) as UInt64), rowCount <= Self.rowCountMax,
      load(8) as Int64 >= 0
    else {
      throw StorageError(
        .corrupted, operation: "read class record", path: "",
        detail: "The record of a class is damaged.")
    }
    nextKey = ObjectKey(load(8))
    self.rowCount = rowCount
    smallestKey = ObjectKey(load(24))
    largestKey = ObjectKey(load(32))
  }
}
