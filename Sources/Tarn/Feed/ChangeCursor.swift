import Foundation
package import TarnStore

/// A named, durable position in the changes of a file. It reports every change since the position
/// acknowledged last, including changes made while the consumer was not running.
///
/// ```swift
/// let cursor = try realm.cursor("indexer", of: .objects(of: Dog.self))
/// while let batch = try cursor.next() {
///   let dogs = batch[Dog.self]
///   for gone in dogs.removals { index.remove(gone) }
///   for dog in dogs.upserts { index.store(dog) }
///   try batch.acknowledge()
/// }
/// ```
///
/// One process has a cursor at a time, until ``close()`` or until the last reference to it is
/// released. A cursor keeps change records in the file, not versions of the data. <doc:Cursors>
/// describes what a consumer must do.
///
/// Threading: any; no run loop is needed. Request batches from one task or thread only.
public final class ChangeCursor: Sendable {
  /// A request for a batch.
  struct Request: Sendable {
    var limit = BatchLimit.none
    /// The last version to report; nil for the newest.
    var through: Version?
    /// Whether the same range must give the same batch again.
    var isExact = false
    /// The names of the classes to report; nil for all that are selected.
    var classes: Set<String>?
    /// Whether the caller delivers the batch. Otherwise `ChangeBatch.noteDelivery` records it.
    var isDelivered = true
    /// Whether a consumer may have got parts of it in other batches; nil if the cursor knows.
    var mayRepeat: Bool?
    /// Whether versions in which former requests found nothing are read again. For tests.
    var readsAll = false
  }

  /// The versions in which requests have found nothing.
  struct Quiet {
    /// The epoch of the selection, and the limit of the requests.
    let epoch: UInt64
    let limit: BatchLimit
    let versions: QuietVersions
  }

  struct State {
    var bound: (epoch: UInt64, selection: BoundSelection)?
    /// The version through which batches may have been delivered without an acknowledgement.
    var toldThrough: Version
    /// Why the consumer needs a full resync, apart from reasons recorded in the file.
    var pending: FeedReason?
    /// The write that has acknowledged the restart.
    var pendingMark: WriteMark?
    /// Called after each acknowledgement.
    var followers: [Int: @Sendable () -> Void] = [:]
    var lastFollower = 0
    var isClosed = false
    var tail = PastTail()
    var quiet: Quiet?
    /// What wakes those who wait for commits, and their numbers there.
    var waiting: (router: FeedRouter, numbers: [Int])?

    /// The reason for a full resync, unless a committed write has acknowledged the restart.
    mutating func reasonForFullResync() -> FeedReason? {
      guard let mark = pendingMark, !mark.isOpen else { return pending }
      pendingMark = nil
      if !mark.wasCancelled { pending = nil }
      return pending
    }
  }

  /// A range of at least this many commits without anything to report becomes an empty batch, so
  /// that its records need not be kept.
  static let emptyCommits = 1_000
  static let emptyBytes = 1 << 20

  /// The name with which it was opened.
  public let name: String
  let store: Store
  let keeper: any FeedKeeper
  private let configuration: Realm.Configuration
  private let model: ModelSchema
  private let selection: CursorSelection
  private let home: Scheduler.Key
  let level: OldValueLevel
  let state: Lock<State>

  /// - Parameters:
  ///   - level: the part of the state before a commit that its record keeps for the cursor.
  ///   - toldThrough: the version through which a former owner may have delivered batches.
  ///   - pending: why the consumer needs a full resync, apart from reasons recorded in the file.
  init(
    _ name: String, _ keeper: any FeedKeeper, _ core: RealmCore, _ selection: CursorSelection,
    keeping level: OldValueLevel = .keys, toldThrough: Version, pending: FeedReason? = nil
  ) {
    self.name = name
    self.keeper = keeper
    store = core.store
    configuration = core.configuration
    model = core.classes.model
    home = core.scheduler.key
    self.selection = selection
    self.level = level
    state = Lock(State(toldThrough: toldThrough, pending: pending))
  }

  deinit { end { $0.release() } }

  /// Releases the cursor, so that another process, or another part of this one, can open it. This
  /// acknowledges nothing. Loops over ``batches(of:limit:)`` end, and observers are not called any
  /// more. From now on, requesting a batch or acknowledging one throws. Has no effect on a closed
  /// cursor.
  ///
  /// If everything was acknowledged, a small commit records that, unless another writer is busy, so
  /// that the next batch does not count as repeated. Releasing the last reference does not do this.
  public func close() {
    let told = state.withLock { $0.toldThrough }
    let known = try? keeper.state(in: store.newestSnapshot())
    let isDone = known.map { $0.reason == nil && $0.acknowledged.version >= told } ?? false
    end { if isDone { $0.releaseDone() } else { $0.release() } }
  }

  private func end(_ release: (any FeedKeeper) -> Void) {
    let followers = state.withLock { state -> [@Sendable () -> Void]? in
      if state.isClosed { return nil }
      state.isClosed = true
      return Array(state.followers.values)
    }
    guard let followers else { return }
    release(keeper)
    for follower in followers { follower() }
  }

  /// True after ``close()``.
  public var isClosed: Bool { state.withLock { $0.isClosed } }

  /// The position acknowledged last.
  ///
  /// - Throws: `Realm.Error` if the file cannot be read.
  public var position: ChangePosition {
    get throws {
      let place = try publicly { () throws(StorageError) in
        try keeper.state(in: store.newestSnapshot()).acknowledged
      }
      return ChangePosition(place)
    }
  }

  // MARK: - Batches

  /// Everything since the acknowledged version, as one batch; nil if no commit since then changed
  /// anything that the cursor selects. Never waits for commits.
  ///
  /// Without an acknowledgement, the next call returns the same changes again, merged with later
  /// ones; see ``ChangeBatch/isRepeated``.
  ///
  /// - Parameter limit: the maximum number of commits to merge.
  /// - Throws: `Realm.Error` if the file cannot be read, was migrated to classes that the program
  ///   does not have, or if the cursor is closed or was taken by another process.
  public func next(limit: BatchLimit = .none) throws -> ChangeBatch? {
    try batch(Request(limit: limit))
  }

  /// The changes from the acknowledged version up to the given one, as one batch of exactly these
  /// versions, which may be empty. Nil if the version is acknowledged, or does not exist yet.
  ///
  /// For consumers that send a batch and must send the same one again after an error: if the cursor
  /// keeps old values, ``ObjectChanges/recorded`` is equal in each call, whatever was committed
  /// since. Objects that were added and deleted in the range are listed as deleted, as in a
  /// repeated batch.
  ///
  /// - Throws: the same errors as ``next(limit:)``.
  public func next(through version: UInt64) throws -> ChangeBatch? {
    try batch(Request(through: Version(version)))
  }

  /// Like `next(limit:)` and `next(through:)`, for a caller that delivers the batch later, or makes
  /// it again, and then calls `ChangeBatch.noteDelivery()`.
  ///
  /// - Parameters:
  ///   - isExact: whether `next(through:)` returns an equal batch for the same versions.
  ///   - mayRepeat: false if the consumer got no other batch after the acknowledged version than
  ///     this one. It then lists no object that was added and deleted in between; nil if unknown.
  package func nextToDeliver(
    limit: BatchLimit = .none, through version: UInt64? = nil, isExact: Bool,
    mayRepeat: Bool? = nil
  ) throws -> ChangeBatch? {
    try batch(
      Request(
        limit: limit, through: version.map { Version($0) }, isExact: isExact, isDelivered: false,
        mayRepeat: mayRepeat))
  }

  /// Notes that the consumer may have everything up to a version.
  func noteDelivery(through version: Version) {
    state.withLock { $0.toldThrough = max($0.toldThrough, version) }
  }

  func batch(_ request: Request) throws(Realm.Error) -> ChangeBatch? {
    try checkOpen()
    let snapshot: Snapshot
    var known: FeedState
    do throws(StorageError) {
      snapshot = try store.newestSnapshot()
      known = try keeper.state(in: snapshot)
    } catch {
      throw Realm.Error(error)
    }
    // A consumer with a position in another file must not take the objects for its first ones.
    if known.reason ?? .snapshot == .snapshot,
      let pending = state.withLock({ $0.reasonForFullResync() })
    {
      known.reason = pending
    }
    if let through = request.through, through > snapshot.version { return nil }
    if known.reason == nil, known.acknowledged == FeedPlace(snapshot.head) {
      restAtNewest(request, snapshot)
      return nil
    }
    let core = try RealmCore.frozen(at: snapshot, of: store, configuration, model, home: home)
    let bound = try bind(core)
    let parts = bound.parts.filter { part in
      request.classes?.contains(snapshot.schema[part.classID].name) ?? true
    }
    let batch = try make(request, known, core, snapshot, bound, parts)
    // A power failure must not take away commits that the consumer has.
    if batch != nil {
      rouse()
      try publicly { () throws(StorageError) in try store.settle(snapshot, unlessRelaxed: true) }
    }
    return batch
  }

  private func make(
    _ request: Request, _ known: FeedState, _ core: RealmCore, _ snapshot: Snapshot,
    _ bound: BoundSelection, _ parts: [FeedPart], readingAll: Bool = false
  ) throws(Realm.Error) -> ChangeBatch? {
    let from = known.acknowledged
    let isRepeated = isRepeated(after: from)
    let mayRepeat = mayRepeat(request, after: from)
    func batch(
      _ end: FeedPlace, _ difference: FeedDifference, _ reason: FeedReason? = nil
    ) -> ChangeBatch {
      if request.isDelivered { noteDelivery(through: end.version) }
      let changes = VersionChanges(
        from: from.version, to: end.version, difference, core, bound)
      return ChangeBatch(
        self, changes, from: from, to: end, isRepeated: isRepeated,
        fullResync: reason.map { FullResyncReason($0) })
    }
    let head = FeedPlace(snapshot.head)
    let epoch = core.schemaToBind().epoch
    let mayPass = mayPass(request, after: from)
    let quiet = mayPass && !readingAll ? self.quiet(request, after: from, epoch, snapshot) : nil
    do throws(StorageError) {
      var (difference, knowsAll) = (FeedDifference(), true)
      let step = try FeedStep.next(
        after: known, upTo: request.through, request.limit.stored, without: keeper.number,
        isRepeated: mayRepeat, isExact: request.isExact, passing: quiet, for: parts, in: snapshot
      ) { range throws(StorageError) in
        let start = try past(range.from, snapshot)
        let isAtNewest = range.to == snapshot.version
        difference = try FeedDifference(
          of: parts, over: range.changes, deaths: range.deaths, mayRepeat: mayRepeat,
          SnapshotReader(snapshot),
          start: start, end: isAtNewest || start == nil ? nil : past(range.to, snapshot))
        knowsAll = knowsAll && difference.knowsMatchesBefore
        return !difference.isEmpty
      }
      func isLong(_ versions: QuietVersions) -> Bool {
        versions.commits >= Self.emptyCommits || versions.bytes >= Self.emptyBytes
      }
      var passed = quiet ?? QuietVersions(after: from, request.limit.stored)
      switch step {
      case .nothing:
        if isLong(passed) { return batch(passed.last, FeedDifference()) }
        if mayPass { rest(request, passed, bound, epoch) }
        return nil
      case .fullResync(let reason): return batch(head, FeedDifference(), reason)
      case .range(let range):
        let end = FeedPlace(
          historyID: head.historyID, version: range.to, commitID: range.commitID)
        // A batch has the quiet versions, too, and the cursor's own commits may make news of them.
        if quiet != nil, !difference.isEmpty || range.owners.contains(keeper.number) { break }
        if !difference.isEmpty || request.through != nil { return batch(end, difference) }
        if range.endsBeforeMigration { return batch(head, FeedDifference(), .schema) }
        passed.extend(by: range)
        if isLong(passed) { return batch(end, difference) }
        // Without the old values, and beside the consumer's own commits, later changes may count
        // that do not count by themselves.
        if mayPass, knowsAll, !range.owners.contains(keeper.number) {
          state.withLock {
            $0.quiet = Quiet(epoch: epoch, limit: request.limit, versions: passed)
          }
          rest(request, passed, bound, epoch)
        }
        return nil
      }
    } catch {
      throw Realm.Error(error)
    }
    return try make(request, known, core, snapshot, bound, parts, readingAll: true)
  }

  private func isRepeated(after place: FeedPlace) -> Bool {
    keeper.notesDeliveries && state.withLock { $0.toldThrough > place.version }
  }

  /// A range with a given end is the same whether it was delivered before or not.
  private func mayRepeat(_ request: Request, after place: FeedPlace) -> Bool {
    request.mayRepeat
      ?? (isRepeated(after: place) || request.through != nil || request.isExact)
  }

  /// Whether versions without news need not be read again.
  private func mayPass(_ request: Request, after place: FeedPlace) -> Bool {
    request.through == nil && request.classes == nil && !request.readsAll
      && !mayRepeat(request, after: place)
  }

  /// The versions after a position that are not read again; nil for none.
  private func quiet(
    _ request: Request, after place: FeedPlace, _ epoch: UInt64, _ snapshot: Snapshot
  ) -> QuietVersions? {
    let (own, waiting) = state.withLock { ($0.quiet, $0.waiting) }
    let routed = waiting?.numbers.first.flatMap { waiting?.router.quiet(of: $0) }
    for known in [routed, own] {
      if let known, known.epoch == epoch, known.limit == request.limit,
        known.versions.follow(place, in: snapshot)
      {
        return known.versions
      }
    }
    return nil
  }

  private func restAtNewest(_ request: Request, _ snapshot: Snapshot) {
    let place = FeedPlace(snapshot.head)
    guard state.withLock({ $0.waiting != nil }), mayPass(request, after: place) else { return }
    var bound = state.withLock { $0.bound }
    if bound?.epoch != snapshot.schema.epoch {
      guard
        let core = try? RealmCore.frozen(at: snapshot, of: store, configuration, model, home: home),
        (try? bind(core)) != nil
      else { return }
      bound = state.withLock { $0.bound }
    }
    if let bound, bound.epoch == snapshot.schema.epoch {
      rest(
        request, QuietVersions(after: place, request.limit.stored), bound.selection, bound.epoch)
    }
  }

  /// The records from which a past version is read, if the cursor keeps old values.
  private func past(
    _ version: Version, _ snapshot: Snapshot
  ) throws(StorageError) -> RecordedPast? {
    guard level >= .deletedObjects, version <= snapshot.version else { return nil }
    do throws(StorageError) {
      var tail = state.withLock { $0.tail }
      defer { state.withLock { $0.tail = tail } }
      return try tail.past(at: version, in: snapshot)
    } catch {
      // An unreadable record requires a full resync.
      guard error.code == .corrupted else { throw error }
      return nil
    }
  }

  private func bind(_ core: RealmCore) throws(Realm.Error) -> BoundSelection {
    let epoch = core.schemaToBind().epoch
    if let bound = state.withLock({ $0.bound }), bound.epoch == epoch { return bound.selection }
    let made = try BoundSelection(selection, core)
    state.withLock { $0.bound = (epoch, made) }
    return made
  }

  func checkOpen() throws(Realm.Error) {
    guard isClosed else { return }
    throw Realm.Error(
      .fail, message: "The cursor '\(name)' is closed. Open it again with realm.cursor(_:).",
      fileURL: store.fileURL)
  }

  // MARK: - Acknowledging

  /// Acknowledges a batch in the write that is open here, or else in a separate commit.
  func acknowledge(from: FeedPlace, to: FeedPlace) throws(Realm.Error) {
    try checkOpen()
    if try acknowledgeInOpenWrite(from: from, to: to) { return }
    do throws(StorageError) {
      try keeper.acknowledge(from: from, to: to)
    } catch {
      throw Realm.Error(error)
    }
    state.withLock { $0.pending = nil }
    tellFollowers()
  }

  /// - Returns: false if no write of the file is open where this code runs.
  func acknowledgeInOpenWrite(from: FeedPlace, to: FeedPlace) throws(Realm.Error) -> Bool {
    guard let core = RealmCache.instance(of: store, preferring: home), core.isInWriteTransaction
    else { return false }
    let session = core.sessionToCommit()
    do throws(StorageError) {
      // A transaction shared by blocks of several writers belongs to none of them.
      try keeper.acknowledge(from: from, to: to, in: session, owns: core.write.savepoint == nil)
    } catch {
      throw Realm.Error(error)
    }
    state.withLock { $0.pendingMark = core.write.mark }
    return true
  }

  func tellFollowers() {
    for follower in state.withLock({ Array($0.followers.values) }) { follower() }
  }
}

extension ChangePosition {
  package init(_ place: FeedPlace) { self.init(place.historyID, place.version, place.commitID) }
}

extension FullResyncReason {
  init(_ reason: FeedReason) {
    self =
      switch reason {
      case .snapshot: .snapshot
      case .expired: .expired
      case .unreadable: .unreadable
      case .restored: .restored
      case .schema: .schema
      case .selection: .selection
      }
  }
}
