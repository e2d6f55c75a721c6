/// One file in one process: its LMDB environment, its signal file, its write lock, and the newest
/// snapshot, shared by all instances of the process.
///
/// Threading: any thread may use a store. The readers and write sessions of an instance are
/// confined to its thread.
package final class Store: Sendable {
  /// How to open a file.
  package struct Options: Sendable {
    package var isReadOnly = false
    /// Whether a store is created where there is none: false for an opener that wants an existing
    /// one, also if another process deletes the file meanwhile.
    package var createsStore = true
    package var durability = EnvironmentOptions.Durability.full
    package var classes: [ClassDefinition] = []
    /// The program's schema version; nil for tools, which accept a file with any version.
    package var schemaVersion: UInt64?
    /// False to ignore the classes: nothing is added or compared.
    package var adoptsClasses = true
    /// Whether to check a file that the end of the machine or the mount may have damaged, and to
    /// use it if it is not.
    package var acceptsUncertain = false
    /// Whether to walk all pages before anything is read from them: for tools, which look for
    /// damage and must survive it. Costs time for each page of the file. Reading compares the
    /// checksums of long values then, too.
    package var verifiesPages = false
    /// How long opening waits for other processes that open the same file.
    package var deadline = Deadline(after: .seconds(10))
    package var mapBudget = EnvironmentOptions.MapBudget()
    package init() {}

    /// Whether commits wait for the disk.
    package var isDurable: Bool {
      get { durability != .relaxed }
      set { durability = newValue ? .full : .relaxed }
    }
  }

  private struct State {
    /// The newest snapshot, while it is retained.
    weak var newest: Snapshot?
    var schema: SchemaView?
    var oldestReader = OldestReader()
    /// How much of the state before a commit records keep; nil for nothing.
    var oldValueLevel: (@Sendable (ClassID) -> OldValueLevel)?
    /// Decides whether this process may make a commit.
    var commitCheck: CommitCheck?
    /// The note of this process's last commit.
    var lastNote: (commitID: UInt64, note: CommitNote)?
    /// Later commits get greater stamps than this.
    var stampFloor: UInt64 = 0
    /// The classes of recent openers that the schema of an epoch has.
    var adopted: [Adopted] = []
    /// The classes of recent writing openers whose domains the file has, or had.
    var settled: [[ClassDefinition]] = []
    var loss: StorageError?
    var feed: KnownFeed?
    /// The last commit that was settled.
    var settledCommit: UInt64?
  }

  /// Classes, with their schema version, that the schema of an epoch has.
  private struct Adopted {
    var epoch: UInt64
    var schemaVersion: UInt64?
    var isReadOnly: Bool
    var classes: [ClassDefinition]
  }
  private static let adoptedMax = 4

  package let path: String
  package let environment: Environment
  package let signal: SignalFile
  /// For the notes of commits. A child of `fork` opens a separate store.
  let processName = Store.nameOfProcess()
  let listeners = StoreListeners()
  /// This process's waiters for the write lock that do not block a thread.
  package let line: GateLine
  /// Makes the background commits.
  let commitThread = CommitThread()
  let pinWatch = Lock(PinWatch())
  private let state = Lock(State())

  /// Whether it is a copy of a file that this process can read but not lock. It does not follow the
  /// file's commits.
  package var isPrivateCopy: Bool { environment.kind == .copied }

  /// The error for observers of a private copy; nil for any other store.
  package var refusalToFollow: StorageError? {
    environment.copyCause.map {
      StorageError(
        $0.code, operation: "observe", path: path,
        detail: "the file is read from a private copy, which does not follow commits. \($0.detail)")
    }
  }

  /// False if no other process can have it open.
  package var isShared: Bool { environment.kind == .shared }

  init(environment: Environment, signal: SignalFile) {
    path = environment.path
    self.environment = environment
    self.signal = signal
    line = GateLine(signal.gate)
  }

  deinit {
    listeners.end()
    environment.close()
    StoreLog.shared.write(.detail, "closed \(path)")
  }

  /// The write lock: one writer at a time across all processes.
  package var gate: WriteGate { signal.gate }

  // MARK: - Snapshots

  /// The newest committed state. Shares an existing snapshot of that state.
  ///
  /// While a writer writes one of LMDB's header pages, LMDB may read a tree that does not exist: on
  /// damage, the read is begun again before the error is reported.
  package func newestSnapshot() throws(StorageError) -> Snapshot {
    do throws(StorageError) {
      return try beginSnapshot()
    } catch {
      guard error.code == .corrupted || error.code == .notAStore else { throw error }
      return try beginSnapshot()
    }
  }

  private func beginSnapshot() throws(StorageError) -> Snapshot {
    if !environment.isForked, let known = newestIfKnown { return known }
    let transaction = try beginReadOfNewest()
    let head = try HeadRecord.read(from: transaction)
    // Rebuilding indexes keeps the version, but is another transaction.
    if let known = state.withLock({ $0.newest }), known.head == head,
      known.transaction.transactionID == transaction.transactionID
    {
      transaction.end()
      return known
    }
    let schema = try schema(of: head, in: transaction)
    let snapshot = Snapshot(transaction: transaction, head: head, schema: schema)
    state.withLock { $0.newest = snapshot }
    return snapshot
  }

  /// The newest snapshot, if this process has it. The header may name a commit that readers cannot
  /// see yet, never an older one than they see.
  private var newestIfKnown: Snapshot? {
    guard let known = state.withLock({ $0.newest }),
      known.transaction.transactionID == environment.newestTransactionIDHint
    else { return nil }
    return known
  }

  /// Whether a snapshot of this process has the newest transaction that the header names.
  var knowsNewestTransaction: Bool { newestIfKnown != nil }

  /// The newest version by the shared counter; it may lag behind the file by the moments between a
  /// commit and its announcement.
  package var newestKnownVersion: Version { Version(signal.version) }

  /// The version in the file's head record, nil if it cannot be read now.
  package func probeHead() -> Version? {
    guard (try? environment.checkLength("follow")) != nil,
      let transaction = try? beginReadOfNewest()
    else { return nil }
    defer { transaction.end() }
    return (try? HeadRecord.find(in: transaction))??.version
  }

  private func schema(
    of head: HeadRecord, in transaction: ReadTransaction
  ) throws(StorageError) -> SchemaView {
    if let known = state.withLock({ $0.schema }), known.epoch == head.schemaEpoch { return known }
    var cursor = try Cursor(transaction)
    let schema = try SchemaCodec.read(&cursor)
    let view = SchemaView(schema: schema ?? StoreSchema(), epoch: head.schemaEpoch)
    state.withLock { $0.schema = view }
    return view
  }

  /// True if the snapshot's schema is known to have everything that an opener requires. Cheap for a
  /// caller that passes the same array again, however long it is.
  func hasAdopted(_ options: Options, _ snapshot: Snapshot) -> Bool {
    state.withLock { state in
      state.adopted.contains {
        $0.epoch == snapshot.schema.epoch && $0.schemaVersion == options.schemaVersion
          && $0.isReadOnly == options.isReadOnly && $0.classes == options.classes
      }
    }
  }

  /// Whether this process has written the domains of these classes, or found them in the file. It
  /// does not replace the domains of a program that opened the file later.
  func hasSettled(_ classes: [ClassDefinition]) -> Bool {
    state.withLock { $0.settled.contains(classes) }
  }

  func noteSettled(_ classes: [ClassDefinition]) {
    state.withLock { state in
      if state.settled.contains(classes) { return }
      state.settled.append(classes)
      if state.settled.count > Self.adoptedMax { state.settled.removeFirst() }
    }
  }

  func noteAdopted(_ options: Options, _ snapshot: Snapshot) {
    let adopted = Adopted(
      epoch: snapshot.schema.epoch, schemaVersion: options.schemaVersion,
      isReadOnly: options.isReadOnly, classes: options.classes)
    if !options.isReadOnly { noteSettled(options.classes) }
    state.withLock { state in
      state.adopted.removeAll { $0.epoch != adopted.epoch }
      state.adopted.append(adopted)
      if state.adopted.count > Self.adoptedMax { state.adopted.removeFirst() }
    }
  }

  /// True if the change records up to there exceed that number or size.
  package func isMuch(
    after version: Version, upTo snapshot: Snapshot, commits: Int, bytes: Int
  ) throws(StorageError) -> Bool {
    if snapshot.version.rawValue - version.rawValue > UInt64(commits) { return true }
    return try ChangeLog.byteCount(
      after: version, upTo: snapshot.version, most: bytes, in: snapshot.transaction) > bytes
  }

  /// Why the store can no longer be followed, once `isLost` has returned true.
  package var loss: StorageError? { state.withLock { $0.loss } }

  /// Checks whether the files at the paths are still those that were opened. If not, no process can
  /// commit to these files, and they never change again.
  package func isLost() -> Bool {
    if loss != nil { return true }
    do throws(StorageError) {
      try environment.checkIdentity("follow")
    } catch {
      // A disk that does not answer says nothing about the file.
      guard error.code == .replaced || error.code == .corrupted else { return false }
      state.withLock { $0.loss = error }
      // What to do about it is said by the error of a write.
      StoreLog.shared.write(
        .warning,
        error.code == .replaced
          ? "\(path) or its lock file was deleted, moved or replaced: it is no longer followed"
          : "\(error)")
      return true
    }
    return false
  }

  // MARK: - Committing

  /// Commits a write, releases the write lock, and wakes the other processes.
  ///
  /// - Parameters:
  ///   - token: the write lock. The caller still has it if the commit fails.
  ///   - whenFilled: called on this thread when the whole write was passed to LMDB, before any
  ///     of it is written to disk: from then on the session may be read, also on another thread.
  ///   - whenCommitted: called on this thread before other writers can write.
  /// - Returns: the state of exactly this commit, and its changes.
  /// - Throws: nothing was written, unless the code is `.outcomeUnknown`; or `.committed`.
  package func commit(
    _ session: WriteSession, _ token: inout GateToken?, whenFilled: () -> Void = {},
    whenCommitted: () -> Void = {}
  ) throws(StorageError) -> (Snapshot, ChangeSet) {
    guard let held = token.take() else { trap("internal error: a commit without the write lock") }
    let written: WrittenCommit
    do throws(StorageError) {
      written = try put(session, whenFilled: whenFilled)
    } catch {
      token = consume held
      throw error
    }
    whenCommitted()
    announce(written.version, held)
    return (try written.snapshot.get(), written.changes)
  }

  /// A commit that is in the file.
  private struct WrittenCommit {
    let version: Version
    /// The state of exactly this commit, or why this process cannot read it.
    let snapshot: Result<Snapshot, StorageError>
    let changes: ChangeSet
  }

  /// The same for a write that is not tried again if it fails.
  @discardableResult
  package func commit(
    _ session: WriteSession, _ token: consuming GateToken
  ) throws(StorageError) -> (Snapshot, ChangeSet) {
    var token: GateToken? = consume token
    return try commit(session, &token)
  }

  /// The caller has the write lock.
  private func put(
    _ session: WriteSession, whenFilled: () -> Void
  ) throws(StorageError) -> WrittenCommit {
    try environment.checkIdentityBeforeCommit()
    let base = session.base.head
    var next = base.committing()
    if let change = session.schemaChange {
      next.schemaEpoch += 1
      next.schemaVersion = change.version
    }
    try session.readOffSequences()
    let changes = session.recorder.changeSet(from: base.version, to: next.version)
    if session.replicaRecords.isEmpty, let check = state.withLock({ $0.commitCheck }) {
      try check(session, changes)
    }
    let unique = try telling("commit", "", "Nothing was written.") { () throws(StorageError) in
      try session.uniqueEntries(changes)
    }
    var note: CommitNote?
    var feedEdit: FeedEdit?
    try environment.write { transaction throws(StorageError) in
      FaultPoint.hit("commit.begun")
      let found = try HeadRecord.read(from: transaction)
      guard found.isSameCommit(as: base) else { throw conflict(found) }
      // Cursors may have been created or deleted since the session began.
      next.featureFlags = found.featureFlags
      var feed = FeedCommit(self, try feedTable(found, transaction))
      var writer = CommitWriter(session)
      session.schemaChange?.forgetIndexes(of: session)
      try writer.putRows(transaction)
      if let change = session.schemaChange {
        try session.deleteFormerUniqueEntries(in: transaction)
        try change.put(session, in: transaction)
      }
      for entries in unique { try entries.put(transaction) }
      FaultPoint.hit("commit.rows")
      var meta = ChangeRecord.Meta(
        historyID: next.historyID, commitID: next.commitID,
        transactionID: transaction.transactionID, schemaEpoch: next.schemaEpoch,
        note: try commitNote(of: session, after: base, in: transaction))
      try ChangeLog.put(changes, &meta, images(for: session, changes, feed), in: transaction)
      note = meta.note
      try feed.acknowledge(session.acknowledgements, found, in: transaction)
      try prune(&feed, (next.version, note), in: transaction)
      try feed.put(&next, in: transaction)
      feedEdit = feed.edit
      FaultPoint.hit("commit.record")
      if let sequences = session.madeSequences { next.nextCollectionID = sequences.nextID }
      try next.put(in: transaction)
      FaultPoint.hit("commit.head")
      whenFilled()
    }
    FaultPoint.hit("commit.done")
    if let note {
      state.withLock { $0.lastNote = (next.commitID, note) }
      // Only the next note asks for it.
      signal.noteTime(ofCommit: next.commitID)
    }
    if let feedEdit { remember(feedEdit) }
    // The caller still has the write lock, so that the newest version is this one.
    let snapshot = snapshotAfterCommit()
    FaultPoint.hit("commit.shown")
    return WrittenCommit(version: next.version, snapshot: snapshot, changes: changes)
  }

  func withNotes<R>(
    _ body: ((commitID: UInt64, note: CommitNote)?, UInt64) -> R
  ) -> R {
    state.withLock { body($0.lastNote, $0.stampFloor) }
  }

  func raiseStampFloor(to stamp: UInt64) {
    state.withLock { $0.stampFloor = max($0.stampFloor, stamp) }
  }

  /// Makes the records of this process's commits keep that much of the state before for each class,
  /// whatever the file requires. For tests.
  package func keepBefore(_ level: (@Sendable (ClassID) -> OldValueLevel)?) {
    state.withLock { $0.oldValueLevel = level }
  }

  /// A further rule for commits: throws for one that breaks it. Nothing is written then.
  package typealias CommitCheck =
    @Sendable (WriteSession, ChangeSet) throws(StorageError) -> Void

  /// Sets a rule for the commits of this process; nil for none. Commits of a replica itself are
  /// exempt.
  package func setCommitCheck(_ check: CommitCheck?) {
    state.withLock { $0.commitCheck = check }
  }

  /// The former values that the commit's record keeps. None for a migration: its changes are not
  /// reported one by one.
  private func images(
    for session: WriteSession, _ changes: ChangeSet, _ feed: FeedCommit
  ) throws(StorageError) -> OldValues {
    if let change = session.schemaChange, !change.isAddition { return OldValues() }
    let asked = state.withLock { $0.oldValueLevel }
    let needs = feed.needs(session.base.schema)
    if asked == nil, needs == nil { return OldValues() }
    let level = { (id: ClassID) in max(asked?(id) ?? .none, needs?.level(of: id) ?? .none) }
    return try OldValueCollector.images(changes, session.reader, session.schema, level) {
      session.madeSequences?.isDropped($0) ?? false
    }
  }

  /// Adds the place and the outcome to an error about two objects that violate a rule.
  func telling<R>(
    _ operation: String, _ start: String, _ end: String, _ body: () throws(StorageError) -> R
  ) throws(StorageError) -> R {
    do throws(StorageError) {
      return try body()
    } catch {
      guard error.code == .notUnique else { throw error }
      throw StorageError(
        .notUnique, operation: operation, path: path, detail: "\(start)\(error.detail) \(end)")
    }
  }

  /// From here on the commit is in the file, so an error must not say that nothing was written.
  private func snapshotAfterCommit() -> Result<Snapshot, StorageError> {
    do throws(StorageError) {
      return .success(try newestSnapshot())
    } catch {
      return .failure(
        StorageError(
          .committed, operation: "commit", path: path,
          detail: "the write is committed, do not repeat it; but this process cannot read the new "
            + "version: \(error.detail)"))
    }
  }

  func conflict(_ found: HeadRecord) -> StorageError {
    StorageError(
      .conflict, operation: "commit", path: path,
      detail: "another writer committed version \(found.version.rawValue) although this one holds "
        + "the write lock. Nothing was written; repeat the write.")
  }

  /// Announces a commit: raises the counter, releases the write lock, wakes watchers.
  func announce(_ version: Version, _ token: consuming GateToken) {
    signal.raise(to: version.rawValue)
    FaultPoint.hit("commit.counted")
    token.release()
    FaultPoint.hit("commit.released")
    // This process is notified directly; the write costs a tenth of a small commit.
    if signal.mayHaveWatchersElsewhere { signal.wake() }
    listeners.tell()
    FaultPoint.hit("commit.woken")
    // For the next commit; now no writer waits for it.
    if state.withLock({ $0.oldestReader.look(at: environment) }) { warnOfPins() }
  }

  /// For tests, so that they need not wait: how long the oldest reader may stay the same before it
  /// is checked for being dead.
  func suspectReaders(after time: Duration) {
    state.withLock { $0.oldestReader.suspectAfter = time }
  }

  private func prune(
    _ feed: inout FeedCommit, _ now: (version: Version, note: CommitNote?),
    in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    if let note = now.note { feed.expire(note) }
    guard let oldest = state.withLock({ $0.oldestReader.takeOldestNeeded() }) else { return }
    let floor = feed.floor
    // Enough to catch up, and little compared with the commit.
    let most = max(64, 2 * transaction.life.changeCount)
    // Without cursors and a retention, only leftover records have old values: they are not urgent.
    let prunesOldValues = feed.edit != nil || now.version.rawValue % 64 == 0
    let isCut = try ChangeLog.prune(
      through: oldest, before: now.version, most: most, prunesOldValues: prunesOldValues,
      in: transaction, unless: floor.map { floor in { floor.needs($0, now: now) } })
    if isCut { state.withLock { $0.oldestReader.continueAtNextCommit() } }
  }

  /// The cursors of the file, as far as this process knows them.
  var knownFeed: KnownFeed? {
    get { state.withLock { $0.feed } }
    set { state.withLock { $0.feed = newValue } }
  }

  func isSettled(_ commitID: UInt64) -> Bool { state.withLock { $0.settledCommit == commitID } }

  func noteSettled(_ commitID: UInt64) { state.withLock { $0.settledCommit = commitID } }

  /// How many different states of the file are pinned.
  package func activeVersionCount() -> Int {
    Set(environment.readers().map(\.transactionID)).count
  }
}
