@testable import TarnStore

extension [ChangeRecord.Piece] {
  /// Reads the record as a small one; nil if it is another.
  func withSmallRecord<R>(version: Version, _ body: (SmallRecord?) throws -> R) throws -> R {
    guard count == 1 else { return try body(nil) }
    return try self[0].bytes.withUnsafeBytes { try body(SmallRecord($0, version: version)) }
  }

  /// Reads the record that the pieces are, which lie in no particular order.
  func decoded(version: Version) throws -> (ChangeRecord.Header, ChangeSet) {
    let buffers = map { piece in
      let buffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: piece.bytes.count, alignment: 1)
      buffer.copyBytes(from: piece.bytes)
      return buffer
    }
    defer { for buffer in buffers { buffer.deallocate() } }
    return try ChangeRecord.decode(version: version) { (field, chunk) throws(StorageError) in
      let index = firstIndex { $0.classField == field && $0.chunk == chunk }
      return index.map { UnsafeRawBufferPointer(buffers[$0]) }
    }
  }
}
