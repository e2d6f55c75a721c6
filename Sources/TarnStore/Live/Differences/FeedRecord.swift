/// One commit's change record, as a feed reads it.
struct FeedRecord {
  let changes: ChangeSet
  let commitID: UInt64
  /// The objects that it deleted, with the primary keys that its record has.
  private(set) var deaths: [ClassID: FeedDeaths] = [:]
  /// The numbers of the cursors that the commit belongs to.
  private let cursors: [UInt32]

  /// - Parameter schema: the schema of the snapshot in which the record is read.
  init(
    _ met: ChangeLog.Met, _ schema: SchemaView, in transaction: ReadTransaction
  ) throws(StorageError) {
    changes = met.changes
    commitID = met.header.meta.commitID
    cursors = met.header.meta.note?.cursors ?? []
    guard changes.classes.contains(where: { $0.isCleared || !$0.deleted.isEmpty }) else { return }
    let images = try BeforeDecoder.images(met.former, changes)
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
  func belongs(to number: UInt32) -> Bool { cursors.contains(number) }
}
