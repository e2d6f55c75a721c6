extension WriteTransaction {
  /// Removes the keys from `start` on, up to the first that does not match.
  ///
  /// Errors: `.corrupted` if a key that a cursor finds cannot be removed or appears again: in a
  /// damaged tree the search for a key need not lead to the page that contains it.
  func deleteAll(
    from start: UnsafeRawBufferPointer, while belongs: (UnsafeRawBufferPointer) -> Bool
  ) throws(StorageError) {
    var cursor = try Cursor(self)
    var last: [UInt8] = []
    while try unsafe cursor.seek(atOrAfter: start), unsafe belongs(cursor.key) {
      let found = unsafe Array(cursor.key)
      guard last.lexicographicallyPrecedes(found) else { throw environment.disorder("delete") }
      let existed = unsafe try withBytes(of: found) { key throws(StorageError) in
        try unsafe delete(key)
      }
      guard existed else { throw environment.disorder("delete") }
      last = found
    }
  }
}
