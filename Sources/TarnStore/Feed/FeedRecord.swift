/// One commit's change record, as a feed reads it.
struct FeedRecord {
  let changes: ChangeSet
  let commitID: UInt64
  /// The objects that it deleted, with the primary keys that were kept.
  private(set) var deaths: [ClassID: FeedDeaths] = [:]
  /// About how long the record is.
  let byteCount: Int

  init(
    of version: Version, _ schema: SchemaView, in transaction: ReadTransaction
  ) throws(StorageError) {
    let (header, changes) = try ChangeLog.record(of: version, in: transaction)
    self.changes = changes
    commitID = header.meta.commitID
    byteCount = try ChangeLog.byteCount(
      after: changes.from, upTo: version, most: .max, in: transaction)
    guard changes.classes.contains(where: { $0.isCleared || !$0.deleted.isEmpty }) else { return }
    let images = try ChangeLog.images(of: version, in: transaction).images
    for own in changes.classes {
      var dead = FeedDeaths()
      let before = images[own.id]
      dead.keys = own.deleted.union(before?.deleted ?? KeySet())
      if dead.keys.isEmpty { continue }
      if let before, let described = schema.schema[own.id], !described.keyIsPrimary,
        described.primaryKey != nil
      {
        for key in before.deleted {
          dead.primaryKeys[key] = try before.primaryKey(of: key, described)?.resolved(
            in: transaction)
        }
      }
      deaths[own.id] = dead
    }
  }

  /// Whether the commit was made by that cursor.
  func belongs(to number: UInt32) -> Bool { false }
}
