/// One file in one process: its LMDB environment, its signal file, its gate, and the newest
/// snapshot, shared by all instances of the process.
///
/// Threading: any thread may use a store. What belongs to one instance (readers, write sessions)
/// belongs to its thread.
package final class Store: Sendable {
  /// How to open a file.
  package struct Options: Sendable {
    package var isReadOnly = false
    package var isDurable = true
    package var classes: [ClassDefinition] = []
    /// The number of the program's model; nil for tools, which take a file as it is.
    package var schemaVersion: UInt64?
    /// False to leave the classes alone: nothing is added, nothing compared.
    package var adoptsClasses = true
    /// Whether all pages are walked before anything is read from them: for tools, which are there
    /// to find damage and must not die of it. Costs time for each page of the file.
    package var verifiesPages = false
    /// How long opening waits for other processes that open the same file.
    package var deadline = Deadline(after: .seconds(10))
    package var mapBudget = EnvironmentOptions.MapBudget()
    package init() {}
  }

  private struct State {
    /// The snapshot begun last, while somebody holds it.
    weak var newest: Snapshot?
    var schema: SchemaView?
    var retention = Retention()
    /// What openers asked for last that the schema of an epoch has.
    var adopted: [Adopted] = []
    var loss: StorageError?
  }

  /// Classes, with the version of their model, that the schema of an epoch has.
  private struct Adopted {
    var epoch: UInt64
    var schemaVersion: UInt64?
    var classes: [ClassDefinition]
  }
  private static let adoptedMax = 4

  package let path: String
  package let environment: Environment
  package let signal: SignalFile
  let listeners = StoreListeners()
  /// Those in this process who wait for the gate without a thread of their own.
  package let line: GateLine
  /// Where commits are made that nobody waits for.
  let commitThread = CommitThread()
  private let state = Lock(State())

  /// A copy of a file that this process can read and not lock. It does not follow the file's
  /// commits.
  package var isPrivateCopy: Bool { environment.kind == .copied }

  /// The error that observers of a private copy get; nil for any other store.
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

  /// True if a commit waits for the disk.
  package var isDurable: Bool { environment.options.durability == .strict }

  deinit {
    listeners.end()
    environment.close()
    StoreLog.shared.write(.detail, "closed \(path)")
  }

  /// One at a time writes the file, over all processes.
  package var gate: WriteGate { signal.gate }

  // MARK: - Snapshots

  /// The newest committed state. Shares the snapshot with others who hold the same one.
  ///
  /// LMDB may read its header pages while a writer is at one of them, and then sees a tree that is
  /// not there: what looks damaged at first is begun once more before anybody is told.
  package func newestSnapshot() throws(StorageError) -> Snapshot {
    do throws(StorageError) {
      return try beginSnapshot()
    } catch {
      guard error.code == .corrupted || error.code == .notAStore else { throw error }
      return try beginSnapshot()
    }
  }

  private func beginSnapshot() throws(StorageError) -> Snapshot {
    // The header may name a commit that readers cannot see yet, never an older one than they see.
    if !environment.isForked, let known = state.withLock({ $0.newest }),
      known.transaction.transactionID == environment.newestTransactionIDHint
    {
      return known
    }
    let transaction = try beginReadOfNewest()
    let head = try HeadRecord.read(from: transaction)
    // Rebuilt indexes are in the same version, but in another transaction.
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

  /// The version that the shared counter says is the newest; may lag behind the file by the
  /// moments between a commit and its announcement.
  package var newestKnownVersion: Version { Version(signal.version) }

  /// The version in the file's head, nil if it cannot be read now.
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

  /// True if the schema that the snapshot shows has all that an opener wants, as was found before.
  /// Cheap for who comes again with the very same array, however long it is.
  func hasAdopted(_ options: Options, _ snapshot: Snapshot) -> Bool {
    state.withLock { state in
      state.adopted.contains {
        $0.epoch == snapshot.schema.epoch && $0.schemaVersion == options.schemaVersion
          && $0.classes == options.classes
      }
    }
  }

  func noteAdopted(_ options: Options, _ snapshot: Snapshot) {
    let adopted = Adopted(
      epoch: snapshot.schema.epoch, schemaVersion: options.schemaVersion, classes: options.classes)
    state.withLock { state in
      state.adopted.removeAll { $0.epoch != adopted.epoch }
      state.adopted.append(adopted)
      if state.adopted.count > Self.adoptedMax { state.adopted.removeFirst() }
    }
  }

  /// True if the change records up to there are more, or larger ones, than that.
  package func isMuch(
    after version: Version, upTo snapshot: Snapshot, commits: Int, bytes: Int
  ) throws(StorageError) -> Bool {
    if snapshot.version.rawValue - version.rawValue > UInt64(commits) { return true }
    return try ChangeLog.byteCount(
      after: version, upTo: snapshot.version, most: bytes, in: snapshot.transaction) > bytes
  }

  /// Why the store cannot be followed any more, once `isLost` has found it so.
  package var loss: StorageError? { state.withLock { $0.loss } }

  /// Looks whether the files at the paths are still those that were opened. If they are not, no
  /// process can commit to these, and nothing will ever change here.
  package func isLost() -> Bool {
    if loss != nil { return true }
    do throws(StorageError) {
      try environment.checkIdentity("follow")
    } catch {
      state.withLock { $0.loss = error }
      StoreLog.shared.write(.warning, "\(error)")
      return true
    }
    return false
  }

  // MARK: - Committing

  /// Commits a write. The caller holds the gate.
  ///
  /// - Parameter whenFilled: called on this thread when all of the write is in LMDB's hands, before
  ///   any of it goes to the disk: from there on the session may be read, on another thread too.
  /// - Returns: the state that shows exactly this commit, and what it changed.
  /// - Throws: nothing was written, unless the code is `.outcomeUnknown`.
  package func commit(
    _ session: WriteSession, whenFilled: () -> Void = {}
  ) throws(StorageError) -> (Snapshot, ChangeSet) {
    try environment.checkIdentityBeforeCommit()
    let base = session.base.head
    var next = base.committing()
    if let change = session.schemaChange {
      next.schemaEpoch += 1
      next.schemaVersion = change.version
    }
    try session.readOffSequences()
    let changes = session.recorder.changeSet(from: base.version, to: next.version)
    let unique = try telling("commit", "", "Nothing was written.") { () throws(StorageError) in
      try session.uniqueEntries(changes)
    }
    try environment.write { transaction throws(StorageError) in
      FaultPoint.hit("commit.begun")
      let found = try HeadRecord.read(from: transaction)
      guard found == base else { throw conflict(found) }
      var writer = CommitWriter(session)
      session.schemaChange?.forgetIndexes(of: session)
      try writer.putRows(transaction)
      if let change = session.schemaChange {
        try session.deleteFormerUniqueEntries(in: transaction)
        try change.put(session, in: transaction)
      }
      for entries in unique { try entries.put(transaction) }
      FaultPoint.hit("commit.rows")
      let meta = ChangeRecord.Meta(
        historyID: next.historyID, commitID: next.commitID,
        transactionID: transaction.transactionID, schemaEpoch: next.schemaEpoch)
      try ChangeLog.put(changes, meta, in: transaction)
      try prune(in: transaction)
      FaultPoint.hit("commit.record")
      next.nextCollectionID = session.sequences.nextID
      try next.put(in: transaction)
      FaultPoint.hit("commit.head")
      whenFilled()
    }
    FaultPoint.hit("commit.done")
    let snapshot = try snapshotAfterCommit()
    FaultPoint.hit("commit.shown")
    return (snapshot, changes)
  }

  /// Says where two objects were found to break a rule, and what becomes of that.
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

  /// From here on the commit is in the file, so that no failure may say that nothing was written.
  private func snapshotAfterCommit() throws(StorageError) -> Snapshot {
    do throws(StorageError) {
      return try newestSnapshot()
    } catch {
      throw StorageError(
        .outcomeUnknown, operation: "commit", path: path,
        detail: "the commit is in the file, but this process cannot read it: \(error.detail)")
    }
  }

  func conflict(_ found: HeadRecord) -> StorageError {
    StorageError(
      .conflict, operation: "commit", path: path,
      detail: "another writer committed version \(found.version.rawValue) although this one holds "
        + "the write lock. Nothing was written; repeat the write.")
  }

  /// Makes a commit known: others see the counter, the next writer gets the gate, watchers wake.
  package func announce(_ version: Version, _ token: consuming GateToken) {
    signal.raise(to: version.rawValue)
    FaultPoint.hit("commit.counted")
    token.release()
    FaultPoint.hit("commit.released")
    // Those in this process are told directly; the write costs a tenth of a small commit.
    if signal.mayHaveWatchersElsewhere { signal.wake() }
    listeners.tell()
    FaultPoint.hit("commit.woken")
    // For the next commit, now that nobody waits.
    state.withLock { $0.retention.look(at: environment) }
  }

  private func prune(in transaction: borrowing WriteTransaction) throws(StorageError) {
    guard let oldest = state.withLock({ $0.retention.takeOldestNeeded() }) else { return }
    try ChangeLog.prune(through: oldest, in: transaction)
  }

  /// How many different states of the file are held by somebody.
  package func activeVersionCount() -> Int {
    Set(environment.readers().map(\.transactionID)).count
  }
}
