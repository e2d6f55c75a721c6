/// One commit's change record, as a feed reads it.
struct FeedRecord {
  let changes: ChangeSet
  let commitID: UInt64
  /// The objects that it deleted, with the primary keys that were kept.
  private(set) var deaths: [ClassID: FeedDeaths] = [:]
  /// About how long the record is.
  let byteCount: Int

  init(of version: Version, in transaction: ReadTransaction) throws(StorageError) {
    let (header, changes) = try ChangeLog.record(of: version, in: transaction)
    self.changes = changes
    commitID = header.meta.commitID
    byteCount = try ChangeLog.byteCount(
      after: changes.from, upTo: version, most: .max, in: transaction)
    for own in changes.classes where !own.deleted.isEmpty {
      var dead = FeedDeaths()
      dead.keys = own.deleted
      deaths[own.id] = dead
    }
  }

  /// Whether the commit was made by that cursor.
  func belongs(to number: UInt32) -> Bool { false }
}
