/// One committed state of the file, pinned as long as it is referenced.
///
/// A snapshot is a pinned read transaction together with its head record. Its version is that
/// record's version, never LMDB's transaction id: a reader that is preempted while it begins can
/// see newer pages than its id says.
///
/// Reference counting is the pin: releasing the last reference returns the transaction to the
/// environment's pool, and pages that only this state needed can be reused. Any thread may read a
/// snapshot; each cursor over it is confined to one thread (`SnapshotReader`).
package final class Snapshot: Sendable {
  package let transaction: ReadTransaction
  package let head: HeadRecord
  package let schema: SchemaView

  package var version: Version { head.version }

  package init(transaction: ReadTransaction, head: HeadRecord, schema: SchemaView) {
    self.transaction = transaction
    self.head = head
    self.schema = schema
  }

  deinit { transaction.end() }
}
