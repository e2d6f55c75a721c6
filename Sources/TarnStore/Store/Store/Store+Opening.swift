internal import Glibc

/// Opening a file: the first content of a new one, and adding missing classes.
///
/// The classes are added in a separate commit, under the write lock. It keeps the version, because
/// no object changes. The schema epoch in the head record informs other instances.
extension Store {
  static func open(_ location: StoreLocation, _ options: Options) throws(StorageError) -> (
    Store, isExtended: Bool
  ) {
    var environmentOptions = EnvironmentOptions()
    environmentOptions.isReadOnly = options.isReadOnly
    environmentOptions.createsStore = options.createsStore
    environmentOptions.durability = options.durability
    environmentOptions.examines = options.acceptsUncertain
    environmentOptions.comparesSums = options.verifiesPages
    environmentOptions.deadline = options.deadline
    environmentOptions.budget = options.mapBudget
    if options.isReadOnly, case .memory = location {
      throw StorageError(
        .notAStore, operation: "open", path: location.description,
        detail: "there is no in-memory store with that name yet")
    }
    let durability: UInt8 = options.isDurable ? 0 : 1
    let environment = try Environment.open(location, options: environmentOptions) {
      transaction throws(StorageError) in
      var head = HeadRecord(historyID: .random(), commitID: .random(in: 1 ... .max))
      head.durability = durability
      try SchemaCodec.write(StoreSchema(), in: transaction)
      try head.put(in: transaction)
    }
    do throws(StorageError) {
      return try open(environment, options)
    } catch {
      environment.removeCreatedFiles()
      throw error
    }
  }

  /// On failure nothing retains the environment.
  private static func open(
    _ environment: Environment, _ options: Options
  ) throws(StorageError) -> (Store, isExtended: Bool) {
    let signal: SignalFile
    do {
      if options.verifiesPages {
        try environment.requireSoundPages()
      } else {
        try environment.requireSoundPaths()
      }
      let isRelaxed = try requireHead(environment).durability != 0
      signal = try SignalFile(
        for: environment, deadline: options.deadline, syncsName: !isRelaxed)
    } catch {
      environment.close()
      throw error
    }
    let store = Store(environment: environment, signal: signal)
    if environment.lastUse == .uncertain { try store.examine() }
    let isExtended = try store.adopt(options)
    signal.raise(to: try store.newestSnapshot().version.rawValue)
    return (store, isExtended)
  }

  /// The log messages about a file that was opened.
  var openingNews: [(StoreLog.Level, String)] {
    get throws(StorageError) {
      let snapshot = try newestSnapshot()
      let what =
        switch environment.kind {
        case .shared, .inMemory: "opened"
        case .copied: "opened a private copy of"
        }
      let cause = environment.copyCause.map { ", because \($0.detail)" } ?? ""
      let schema = snapshot.schema.schema
      let classes = schema.classes.map(\.name).joined(separator: ", ")
      return copyNews + [
        (
          .info,
          "\(what) \(path) at version \(snapshot.version.rawValue), schema version "
            + "\(snapshot.head.schemaVersion)\(cause)"
        ),
        (
          .detail,
          "\(path) has \(environment.statistics.fileByteCount) bytes and "
            + "\(schema.classes.count) classes: \(classes)"
        ),
      ]
    }
  }

  private var copyNews: [(StoreLog.Level, String)] {
    guard environment.copyFinding.isNews else { return [] }
    return [
      (
        .warning,
        "\(path) was copied by another program, or moved from another file system. It has the "
          + "history and the cursors of the original. If both are used, give one of them its own: "
          + "tarn copy FILE DEST"
      )
    ]
  }

  /// The log message for an opener that gets less than it asked for.
  func durabilityNews(_ options: Options) -> [(StoreLog.Level, String)] {
    guard isShared, options.isDurable, !isDurable else { return [] }
    return [(.info, "the commits of \(path) are not synced: it was created with .relaxed")]
  }

  var extensionNews: String {
    "extended \(path) by classes, properties or rules that the program has and it lacked"
  }

  /// Removes the file and its companions.
  func removeFiles() { Self.removeFiles(at: path) }

  static func removeFiles(at path: String) {
    for suffix in ["", "-lock", "-signal"] {
      unsafe (path + suffix).withPath { _ = unsafe unlink($0) }
    }
  }

  /// Checks everything in a file of which pages may be missing, and accepts it if nothing is wrong.
  private func examine() throws(StorageError) {
    let check = try StoreCheck(newestSnapshot(), pages: environment.verifyPages())
    if let problem = check.problems.first { throw Environment.uncertain(path, problem) }
    try environment.accept()
    StoreLog.shared.write(
      .warning,
      "\(path) was checked and is not damaged, although the machine or the mount ended while "
        + "commits were not on the disk. The last ones may be missing")
  }

  private static func requireHead(
    _ environment: Environment
  ) throws(StorageError) -> HeadRecord {
    let transaction = try environment.beginRead()
    defer { transaction.end() }
    guard let head = try HeadRecord.find(in: transaction) else {
      throw HeadRecord.missing(environment.path)
    }
    return head
  }

  /// Adds the opener's classes and properties that the file lacks. Does nothing if a migration is
  /// needed first, which the opener runs.
  ///
  /// - Returns: true if something was added.
  /// - Throws: `.schemaMismatch` with every difference that needs more than an addition;
  ///   `.olderProgram` for a version below the file's.
  func adopt(_ options: Options) throws(StorageError) -> Bool {
    let snapshot = try newestSnapshot()
    try checkDurability(snapshot.head, options)
    guard options.adoptsClasses, !hasAdopted(options, snapshot) else { return false }
    if try needsMigration(options, snapshot) {
      guard options.isReadOnly else { return false }
      throw mismatch(
        "a migration to schema version \(options.schemaVersion ?? 0) is required, and the file is "
          + "opened read-only")
    }
    let first = try plan(options.classes, over: snapshot)
    let raises = options.schemaVersion.map { $0 > snapshot.head.schemaVersion } ?? false
    guard first.schema != snapshot.schema.schema || raises else {
      noteAdopted(options, snapshot)
      return false
    }
    if !raises, first.schema.isEqualWithoutDomains(snapshot.schema.schema) {
      try adoptDomains(options, snapshot)
      return false
    }
    guard !options.isReadOnly else {
      throw mismatch("the file lacks classes or properties of the program, and cannot be changed")
    }
    try extend(options, acquireGate())
    return true
  }

  /// How long an opener waits for the write lock to record its domains: its own thread may have it.
  private static let patienceForDomains = Duration.seconds(1)

  /// Records the values that the types of the opener's properties have. A process does so once, so
  /// that two programs that differ do not replace each other's domains at each opening.
  ///
  /// The new epoch ends sessions, which begin again and fetch the values that they have left out.
  private func adoptDomains(
    _ options: Options, _ snapshot: Snapshot
  ) throws(StorageError) {
    guard !options.isReadOnly, !isPrivateCopy, !hasSettled(options.classes) else {
      noteAdopted(options, snapshot)
      return
    }
    let token: GateToken
    do throws(StorageError) {
      token = try acquireGate(timeout: Self.patienceForDomains)
    } catch {
      // The next opener tries again.
      if error.code == .busy { return }
      throw error
    }
    try extend(options, token)
    noteSettled(options.classes)
  }

  /// True if the opener's schema version is higher than that of the file, which has classes
  /// already.
  ///
  /// - Throws: `.olderProgram` if it is lower.
  package func needsMigration(_ options: Options) throws(StorageError) -> Bool {
    try needsMigration(options, newestSnapshot())
  }

  func needsMigration(
    _ options: Options, _ snapshot: Snapshot
  ) throws(StorageError) -> Bool {
    guard let version = options.schemaVersion else { return false }
    let last = snapshot.head.schemaVersion
    guard version >= last else {
      throw StorageError(
        .olderProgram, operation: "open", path: path,
        detail: "Provided schema version \(version) is less than last set version \(last).")
    }
    return version > last && !snapshot.schema.schema.classes.isEmpty
  }

  /// A process that does not sync its commits endangers those of all others: the file records since
  /// its creation whether commits are synced. If they are not, that is so for every opener,
  /// whatever it asks for: syncing some commits protects none.
  ///
  /// - Throws: `.invalidInput` for an opener that would not sync those of another file.
  private func checkDurability(
    _ head: HeadRecord, _ options: Options
  ) throws(StorageError) {
    guard head.durability == 0 else { return environment.relax() }
    guard !options.isDurable, !options.isReadOnly else {
      return environment.raiseDurability(to: options.durability)
    }
    throw StorageError(
      .invalidInput, operation: "open", path: path,
      detail: "the file was created with durability .full and cannot be opened with .relaxed:"
        + " commits that are not synced could destroy those of other processes")
  }

  /// Another process may have added the classes while this one waited for the write lock.
  private func extend(
    _ options: Options, _ token: consuming GateToken
  ) throws(StorageError) {
    let reader = try SnapshotReader(newestSnapshot())
    if try needsMigration(options, reader.snapshot) { return }
    let plan = try plan(options.classes, over: reader.snapshot)
    let version = max(options.schemaVersion ?? 0, reader.snapshot.head.schemaVersion)
    guard
      plan.schema != reader.schema.schema || version > reader.snapshot.head.schemaVersion
    else { return }
    try plan.schema.requireRoom(addingTo: reader.schema.schema, path: path)
    let view = SchemaView(schema: plan.schema, epoch: reader.schema.epoch + 1)
    let rows = WriteSession(reader, schema: view)
    for fill in plan.fills { try rows.fill(fill) }
    let unique = try entries(of: plan.newRules, rows)
    if !rows.isEmpty {
      rows.schemaChange = SchemaChange(
        from: reader.schema.schema, to: plan.schema, version: version, rebuilt: [])
      try commit(rows, token)
      return
    }
    try environment.write { transaction throws(StorageError) in
      var head = try HeadRecord.read(from: transaction)
      for (id, column) in plan.newIndexes {
        try rows.buildIndex(id, column, in: transaction)
      }
      for entries in unique { try entries.put(transaction) }
      try SchemaCodec.write(plan.schema, in: transaction)
      head.schemaEpoch += 1
      head.schemaVersion = version
      try head.put(in: transaction)
    }
  }

  /// - Throws: `.notUnique` if objects of the file violate a rule that the program adds.
  private func entries(
    of rules: [(ClassID, Int)], _ rows: WriteSession
  ) throws(StorageError) -> [UniqueEntries] {
    try telling(
      "open", "a unique rule of the program cannot be added: ", "The file is unchanged."
    ) { () throws(StorageError) in
      var entries: [UniqueEntries] = []
      for (id, number) in rules {
        entries.append(try rows.allUniqueEntries(of: id, rule: number))
      }
      return entries
    }
  }

  func plan(
    _ wanted: [ClassDefinition], over snapshot: Snapshot
  ) throws(StorageError) -> SchemaPlan {
    try ClassDefinition.requireNumbers(for: wanted, path: path)
    let plan = SchemaPlan(stored: snapshot.schema.schema, wanted: wanted)
    guard plan.differences.isEmpty else {
      let list = plan.differences.map { "- " + $0 }.joined(separator: "\n")
      throw mismatch(
        "Migration is required due to the following errors:\n\(list)\n"
          + "Open the file with a schema version above \(snapshot.head.schemaVersion).")
    }
    return plan
  }

  private func mismatch(_ detail: String) -> StorageError {
    StorageError(.schemaMismatch, operation: "open", path: path, detail: detail)
  }
}
