/// One committed state of the file, held still for as long as anybody refers to it.
///
/// A snapshot is a pinned read transaction together with what the head record said in it. Its
/// version is that record's version, never LMDB's transaction id: a reader that is preempted
/// while it begins can see newer pages than its id says.
///
/// Reference counting is the pin: the last reference that goes returns the transaction to the
/// environment's pool, and the pages that only this state needed can be used again. Any thread may
/// read a snapshot; cursors over it belong to one thread each (`SnapshotReader`).
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
