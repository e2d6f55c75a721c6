/// Applying changes to an index. They are sorted, so pages are visited from first to last, each
/// once:
///
/// 1. find the page of the next change and, from the page after it, which changes belong to it;
/// 2. mostly they fit the packed page: runs of entries are copied around them (splice);
/// 3. otherwise the page's entries are unpacked, merged with the changes, and packed into as many
///    pages as needed; a page less than a quarter full after removals is packed together with a
///    neighbour that is at most half full;
/// 4. a page whose first entry changed gets another key; an empty one is removed.
extension PackedIndex {
  /// Adds and removes entries. Adding an existing one or removing a missing one does nothing.
  /// - Throws: `.corrupted` if a page that the changes concern is damaged. The transaction must
  ///   then be aborted, as after any other error: earlier pages have been written.
  package func apply(
    _ changes: PackedIndexChanges, in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    guard !changes.isEmpty else { return }
    var cursor = try Cursor(transaction)
    try changes.withSorted { changes throws(StorageError) in
      var applier = PackedIndexApplier(index: self, changes: changes)
      var next = 0
      while next < changes.count {
        next = try applier.step(from: next, &cursor, transaction)
      }
    }
  }

  /// Removes all entries.
  package func removeAll(in transaction: borrowing WriteTransaction) throws(StorageError) {
    try unsafe IndexPageKey(beforeAllOf: self).withBytes { start throws(StorageError) in
      try unsafe transaction.deleteAll(from: start) { unsafe owns($0) }
    }
  }
}
