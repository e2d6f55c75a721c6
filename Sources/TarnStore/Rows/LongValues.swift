/// Values that are too long for a cluster, in pieces under keys of their own: every piece but the
/// last is as long as a page allows. The row knows the length of the value.
///
/// The name of one column's long values, no state.
package struct LongValues: Hashable, Sendable {
  /// The longest piece, in bytes: a longer one would make LMDB look for pages that lie together.
  package static let pieceByteCountMax = 4_080
  /// Memory that a length from a file may claim before its bytes have been seen.
  private static let trustedByteCount = 1 << 20

  package let classID: ClassID
  package let column: ColumnID

  package init(_ classID: ClassID, _ column: ColumnID) {
    self.classID = classID
    self.column = column
  }

  /// Puts a value in the place of the object's former one, of any length.
  package func put(
    _ value: UnsafeRawBufferPointer, _ object: ObjectKey,
    in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    var piece: UInt32 = 0
    for start in stride(from: 0, to: value.count, by: Self.pieceByteCountMax) {
      let end = min(start + Self.pieceByteCountMax, value.count)
      let key = TreeKey.longValue(classID, object, column, piece: piece)
      try unsafe key.withBytes { key throws(StorageError) in
        try unsafe transaction.put(
          UnsafeRawBufferPointer(rebasing: value[start..<end]), forKey: key)
      }
      piece += 1
    }
    try delete(object, from: piece, in: transaction)
  }

  /// Removes the object's value, if there is one.
  package func delete(
    _ object: ObjectKey, in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    try delete(object, from: 0, in: transaction)
  }

  private func delete(
    _ object: ObjectKey, from first: UInt32, in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    var piece = first
    while true {
      let key = TreeKey.longValue(classID, object, column, piece: piece)
      let existed = try unsafe key.withBytes { key throws(StorageError) -> Bool in
        try unsafe transaction.delete(key)
      }
      guard existed else { return }
      piece += 1
    }
  }

  /// The object's value, which the row says to have that many bytes.
  /// - Throws: `.corrupted` if the pieces do not make up such a value.
  package func read(
    _ object: ObjectKey, byteCount: Int, _ cursor: inout Cursor
  ) throws(StorageError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(min(max(byteCount, 0), Self.trustedByteCount))
    try unsafe forEachPiece(object, byteCount: byteCount, &cursor) { piece in
      unsafe bytes.append(contentsOf: piece)
      return true
    }
    return bytes
  }

  /// The pieces of such a value in their order. Ends early when `body` returns false; the bytes
  /// are gone when it returns.
  package func forEachPiece(
    _ object: ObjectKey, byteCount: Int, _ cursor: inout Cursor,
    _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Bool
  ) throws(StorageError) {
    guard byteCount >= 0 else { throw damaged(object) }
    guard byteCount > 0 else { return }
    let start = TreeKey.longValue(classID, object, column, piece: 0)
    var found = try unsafe start.withBytes { key throws(StorageError) -> Bool in
      try unsafe cursor.seek(atOrAfter: key)
    }
    var rest = byteCount
    var piece: UInt32 = 0
    while rest > 0 {
      guard found, let key = unsafe TreeKey.parseLongValue(cursor.key),
        (key.classID, key.object) == (classID, object), (key.column, key.piece) == (column, piece),
        unsafe cursor.value.count == min(rest, Self.pieceByteCountMax)
      else { throw damaged(object) }
      guard try unsafe body(cursor.value) else { return }
      rest -= min(rest, Self.pieceByteCountMax)
      piece += 1
      if rest > 0 { found = try cursor.next() }
    }
  }

  private func damaged(_ object: ObjectKey) -> StorageError {
    StorageError(
      .corrupted, operation: "read long value", path: "",
      detail: "The pieces of a long value of object \(object.rawValue) are missing or damaged.")
  }
}
