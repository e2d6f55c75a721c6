/// All cursors of a file, and its retention.
package struct FeedTable: Equatable, Sendable {
  package var settings = FeedSettings()
  package var cursors: [UInt32: CursorRecord] = [:]

  package init() {}

  /// Whether nothing needs to be stored in the file.
  package var isEmpty: Bool { cursors.isEmpty && settings.retention.isEmpty }

  package func number(of name: String) -> UInt32? { cursors.first { $0.value.name == name }?.key }

  /// Reads the table in the cursor's transaction. Nil if the file has none.
  package static func read(_ cursor: inout Cursor) throws(StorageError) -> FeedTable? {
    var isAt = unsafe try TreeKey.feed(0).withBytes { key throws(StorageError) in
      unsafe try cursor.seek(atOrAfter: key)
    }
    var table: FeedTable?
    while isAt, let number = unsafe TreeKey.parseFeed(cursor.key) {
      if number == 0 {
        table = FeedTable()
        table?.settings = try unsafe FeedSettings(decoding: cursor.value)
      } else {
        guard table != nil else { throw .damagedRecord("the record of the feed is missing") }
        table?.cursors[number] = try unsafe CursorRecord(decoding: cursor.value)
      }
      isAt = try cursor.next()
    }
    return table
  }

  /// The record of one cursor; nil if it does not exist.
  static func cursor(
    _ number: UInt32, in transaction: ReadTransaction
  ) throws(StorageError) -> CursorRecord? {
    let found = unsafe try TreeKey.feed(number).withBytes { key throws(StorageError) in
      unsafe try transaction.value(forKey: key)
    }
    return unsafe try found.map { bytes throws(StorageError) in
      try unsafe CursorRecord(decoding: bytes)
    }
  }
}
