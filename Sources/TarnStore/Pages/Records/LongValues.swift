/// Values that are too long for a cluster, in pieces under separate keys: every piece but the last
/// is as long as a page allows. The row has the length of the value.
///
/// It only names one column's long values and has no state.
package struct LongValues: Hashable, Sendable {
  /// The longest piece, in bytes.
  package static let pieceByteCountMax = Pieces.byteCountMax

  package let classID: ClassID
  package let column: ColumnID

  package init(_ classID: ClassID, _ column: ColumnID) {
    self.classID = classID
    self.column = column
  }

  /// Replaces the object's value with one of any length.
  package func put(
    _ value: UnsafeRawBufferPointer, _ object: ObjectKey,
    in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    try unsafe pieces(object).put(value, in: transaction)
  }

  /// Removes the object's value, if there is one.
  package func delete(
    _ object: ObjectKey, in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    try pieces(object).delete(in: transaction)
  }

  /// The object's value, whose length the row states.
  /// - Throws: `.corrupted` if the pieces do not form such a value.
  package func read(
    _ object: ObjectKey, byteCount: Int, _ cursor: inout Cursor
  ) throws(StorageError) -> [UInt8] {
    try pieces(object).read(byteCount: byteCount, &cursor)
  }

  /// The pieces of such a value in order, until `body` returns false; the bytes are valid only
  /// during the call.
  package func forEachPiece(
    _ object: ObjectKey, byteCount: Int, _ cursor: inout Cursor,
    _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Bool
  ) throws(StorageError) {
    try unsafe pieces(object).forEach(byteCount: byteCount, &cursor, body)
  }

  private func pieces(_ object: ObjectKey) -> Pieces { .value(classID, object, column) }
}
