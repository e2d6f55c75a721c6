/// The changes of some consecutive versions, merged, with the data about their commits that a
/// consumer needs.
package struct FeedRange: Sendable {
  /// The maximum to read. At least one commit is read.
  package struct Limit: Sendable {
    package var commits = Int.max
    /// The bytes of records.
    package var bytes = Int.max

    package init(commits: Int = .max, bytes: Int = .max) {
      self.commits = commits
      self.bytes = bytes
    }

    /// Whether it divides versions into groups of several commits.
    var mergesSome: Bool { commits > 1 && (commits, bytes) != (.max, .max) }
  }

  /// The version before the changes.
  package private(set) var from: Version
  /// The id of the commit that made it.
  package private(set) var fromID: UInt64
  package private(set) var to: Version
  /// The id of the commit that made the last version.
  package private(set) var commitID: UInt64
  package private(set) var changes: ChangeSet
  package private(set) var deaths: [ClassID: FeedDeaths] = [:]
  private var dead: [ClassID: DeadKeys] = [:]
  /// The classes of which all objects were deleted at once.
  private var cleared: Set<ClassID> = []
  /// The next version is a migration, and changes cannot be merged across it.
  package private(set) var endsBeforeMigration = false
  /// The version of the last migration that it has read past.
  package private(set) var lastMigration: Version?
  /// The numbers of the cursors to which some of the commits read belong.
  package private(set) var owners: Set<UInt32> = []
  /// The number of commits read, and the bytes of their records.
  package private(set) var commits = 0
  package private(set) var bytes = 0
  /// The bytes of the records up to `from`, whose changes were dropped. `bytes` includes them.
  package private(set) var bytesBefore = 0

  /// Nothing yet.
  package init(after from: Version, commitID: UInt64) {
    self.from = from
    fromID = commitID
    to = from
    self.commitID = commitID
    changes = ChangeSet(from: from, to: from)
  }
}

extension FeedRange {
  /// Reads more records, up to a version or a limit.
  ///
  /// - Parameters:
  ///   - number: the cursor whose own commits are left out; nil for none.
  ///   - tellsAllDeaths: whether objects that were added and deleted in the range count as dead.
  ///   - passesMigrations: whether to read past migrations, whose own changes are unknown.
  ///     Otherwise it ends before the first one.
  /// - Throws: `.corrupted` if a record is damaged or missing.
  package mutating func extend(
    upTo end: Version, _ limit: Limit = Limit(), without number: UInt32? = nil,
    tellsAllDeaths: Bool, passesMigrations: Bool = false, in snapshot: Snapshot
  ) throws(StorageError) {
    guard to < end, !endsBeforeMigration else { return }
    var fold = ChangeFold(after: from)
    if from < to { fold.add(changes) }
    let (firstCommits, firstBytes) = (commits, bytes)
    let isLong = ChangeFold.prefersSmallRecords(to, end)
    var range = self
    try ChangeLog.forEachRecord(after: to, upTo: end, in: snapshot.transaction) {
      found throws(StorageError) in
      let isFull =
        range.commits > firstCommits
        && (range.commits - firstCommits >= limit.commits
          || saturatingSum(range.bytes - firstBytes, found.byteCount) > limit.bytes)
      if isLong, !isFull, let small = try found.small(),
        !Self.hasPrimaryKeys(small, snapshot.schema)
      {
        range.count(found, small.commitID)
        try range.take(small, without: number, &fold)
        return true
      }
      let met = try found.met()
      if met.changes.schemaChanged, !passesMigrations {
        range.endsBeforeMigration = true
        return false
      }
      if isFull { return false }
      if met.changes.schemaChanged {
        range.count(found, met.header.meta.commitID)
        range.lastMigration = found.version
        fold.skip(to: range.to)
        return true
      }
      let record = try FeedRecord(met, snapshot.schema, in: snapshot.transaction)
      if !record.cursors.isEmpty { range.owners.formUnion(record.cursors) }
      range.count(found, record.commitID)
      if let number, record.belongs(to: number) {
        fold.skip(to: range.to)
      } else {
        range.noteFormer(record, after: &fold)
        fold.add(record.changes)
        range.bury(record)
      }
      return true
    }
    self = range
    changes = fold.finish()
    for (id, keys) in dead where tellsAllDeaths {
      deaths[id, default: FeedDeaths()].keys = keys.finish()
    }
  }

  /// Whether a record has primary keys of deleted objects among its values before the commit.
  private static func hasPrimaryKeys(_ record: SmallRecord, _ schema: SchemaView) -> Bool {
    guard record.hasOldValues, record.deletesObjects,
      let described = schema.schema[record.classID]
    else { return false }
    return described.primaryKey != nil && !described.keyIsPrimary
  }

  private mutating func count(_ record: ChangeLog.Found, _ id: UInt64) {
    to = record.version
    commitID = id
    commits += 1
    bytes += record.byteCount
  }

  private mutating func take(
    _ record: SmallRecord, without number: UInt32?, _ fold: inout ChangeFold
  ) throws(StorageError) {
    if !record.cursors.isEmpty { owners.formUnion(record.cursors) }
    if let number, record.cursors.contains(number) {
      fold.skip(to: record.version)
      return
    }
    let deleted = try fold.add(record)
    if !deleted.isEmpty { dead[record.classID, default: DeadKeys()].add(deleted) }
  }

  /// Notes the objects that a commit deleted, including objects added in the range, and objects
  /// deleted before their class was cleared, which the changes do not name.
  private mutating func bury(_ record: FeedRecord) {
    for (id, own) in record.deaths {
      dead[id, default: DeadKeys()].add(own.keys)
      if own.primaryKeys.isEmpty { continue }
      // A key that was reused keeps the last value: both are equal.
      deaths[id, default: FeedDeaths()].primaryKeys.merge(own.primaryKeys) { $1 }
    }
  }

  /// Notes which objects a class had before the range, when all of them are deleted for the first
  /// time: later changes are of objects that were added in between.
  private mutating func noteFormer(_ record: FeedRecord, after fold: inout ChangeFold) {
    let ids = record.changes.classes.filter { $0.isCleared && !cleared.contains($0.id) }.map(\.id)
    if ids.isEmpty { return }
    let earlier = fold.finish()
    for id in ids {
      cleared.insert(id)
      let (own, last) = (earlier[id], record.deaths[id]?.keys ?? KeySet())
      deaths[id, default: FeedDeaths()].former = last.subtracting(own?.inserted ?? KeySet())
        .union(own?.deleted ?? KeySet())
    }
  }

  /// Drops all changes so far, because none of them concerns the selection. Later changes are then
  /// the whole difference, and need not be merged with them.
  mutating func dropWhatTellsNothing() {
    (from, fromID, bytesBefore) = (to, commitID, bytes)
    changes = ChangeSet(from: to, to: to)
    deaths = [:]
    dead = [:]
    cleared = []
  }

  /// Whether the changes can concern some parts of a selection. Reads nothing.
  package func concerns(_ parts: [FeedPart], _ schema: SchemaView) -> Bool {
    // An object that was added and deleted is in no change, but among the deaths.
    let ids = changes.classes.map(\.id) + deaths.keys
    return ids.contains { id in
      schema.schema[id]?.isEmbedded == true
        || parts.contains { $0.concerningClasses.contains(id) }
    }
  }
}

/// Keys that are added in any order, and often repeatedly.
private struct DeadKeys: Sendable {
  private var known = KeySet()
  private var recent: ContiguousArray<KeyRun> = []

  mutating func add(_ keys: KeySet) {
    recent += keys.runs
    // Memory depends on the keys, not on how often they are added.
    if recent.count > max(65_536, known.runs.count) { settle() }
  }

  private mutating func settle() {
    known.formUnion(KeySet(unsorted: recent))
    recent.removeAll(keepingCapacity: true)
  }

  func finish() -> KeySet {
    var copy = self
    copy.settle()
    return copy.known
  }
}

/// One commit's change record, as a feed reads it.
struct FeedRecord {
  let changes: ChangeSet
  let commitID: UInt64
  /// The objects that it deleted, with the primary keys that its record has.
  private(set) var deaths: [ClassID: FeedDeaths] = [:]
  /// The numbers of the cursors that the commit belongs to.
  let cursors: [UInt32]

  /// - Parameter schema: the schema of the snapshot in which the record is read.
  init(
    _ met: ChangeLog.Met, _ schema: SchemaView, in transaction: ReadTransaction
  ) throws(StorageError) {
    changes = met.changes
    commitID = met.header.meta.commitID
    cursors = met.header.meta.note?.cursors ?? []
    guard changes.classes.contains(where: { $0.isCleared || !$0.deleted.isEmpty }) else { return }
    let images = try OldValueDecoder.images(met.oldValues, changes)
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
