import Foundation
import TarnStore

/// An open file with its session, to be held until an instance has them.
struct OpenedStore: Sendable {
  let store: Store
  let session: (AnyObject & Sendable)?
}

/// Opens a file for one configuration: the work before the first instance exists.
struct StoreOpening {
  /// How long a process waits for another one's migration of the same file.
  static let patience = Duration.seconds(300)
  /// How long to wait until a stopped session, which may be waiting for its server, releases a
  /// store.
  static let leaving = Duration.seconds(5)

  let configuration: Realm.Configuration
  let model: ModelSchema

  init(_ configuration: Realm.Configuration, _ model: ModelSchema) {
    self.configuration = configuration
    self.model = model
  }

  private var options: Store.Options { configuration.storeOptions(model) }

  /// Opens the file; with `deleteRealmIfMigrationNeeded` an empty one instead if it needs a
  /// migration. A file of a newer program does not: it is refused and left unchanged.
  func open() throws(Realm.Error) -> Store {
    try configuration.companion?.prepare(configuration)
    try FirstOpening(configuration)?.prepare()
    return try publicly { () throws(StorageError) in
      let location = configuration.location
      // Otherwise it would have the objects of a Realm whose last instance was released.
      if case .memory = location { StoreLeave.wait(for: location, atMost: Self.leaving) }
      guard configuration.deleteRealmIfMigrationNeeded, !configuration.readOnly else {
        return try openUndamaged(location)
      }
      do throws(StorageError) {
        let store = try openUndamaged(location)
        if try !store.needsMigration(options) { return store }
      } catch {
        guard error.code == .schemaMismatch else { throw error }
      }
      do throws(StorageError) {
        try StoreRegistry.removeUnused(location, schemaVersion: configuration.schemaVersion)
      } catch {
        guard error.code == .alreadyOpen else { throw error }
        throw StorageError(
          .alreadyOpen, operation: "open", path: location.description,
          detail: "a migration is needed, and the file cannot be deleted instead: "
            + error.detail)
      }
      StoreLog.shared.write(
        .info, "deleted \(location.description), which would have needed a migration")
      return try StoreRegistry.open(location, options)
    }
  }

  /// Opens the file, or an empty one in place of a damaged one that the program can recreate.
  private func openUndamaged(_ location: StoreLocation) throws(StorageError) -> Store {
    do throws(StorageError) {
      return try StoreRegistry.open(location, options)
    } catch {
      guard configuration.deleteRealmIfDamaged, !configuration.readOnly,
        error.code == .uncertain || error.code == .corrupted, case .file(let path) = location
      else { throw error }
      StoreLog.shared.write(.warning, "deletes a damaged file. \(error)")
      try StoreRegistry.removeDamaged(path)
    }
    return try StoreRegistry.open(location, options)
  }

  /// Opens the file and brings it to the configuration's schema version.
  ///
  /// - Parameter progress: called on this thread while a migration enumerates objects.
  func openMigrated(
    progress: ((MigrationProgress) -> Void)? = nil
  ) throws(Realm.Error) -> Store {
    let store = try open()
    try migrateIfNeeded(store, progress: progress)
    return store
  }

  /// Opens the file, brings it to the schema version, and waits for a server if the configuration
  /// has one.
  ///
  /// - Parameter isCancelled: ends the wait.
  func openDownloaded(
    _ behavior: Realm.OpenBehavior, progress: ((MigrationProgress) -> Void)? = nil,
    isCancelled: @Sendable () -> Bool
  ) throws(Realm.Error) -> OpenedStore {
    let store = try openMigrated(progress: progress)
    let session = try configuration.companion?.download(
      into: store, classes: model.definitions.map(\.name), configuration, behavior,
      isCancelled: isCancelled)
    return OpenedStore(store: store, session: session)
  }

  /// Migrates the file if its schema version is less than the configuration's. A second caller
  /// waits until the first has finished.
  func migrateIfNeeded(
    _ store: Store, progress: ((MigrationProgress) -> Void)? = nil
  ) throws(Realm.Error) {
    let isNeeded = try publicly { () throws(StorageError) in try store.needsMigration(options) }
    if isNeeded { _ = try migrate(store, isDryRun: false, progress: progress) }
    try raiseRetention(of: store)
  }

  /// Lets the file keep its records for at least as long as the configuration asks for.
  func raiseRetention(of store: Store) throws(Realm.Error) {
    guard let retention = configuration.retention else { return }
    let isCopy = store.environment.copyCause != nil
    guard !configuration.readOnly, !isCopy else {
      let why = isCopy ? "is read from a private copy" : "is opened read-only"
      StoreLog.shared.write(
        .info, "\(store.path) \(why), so the retention of the configuration is not stored in it")
      return
    }
    try publicly { () throws(StorageError) in try store.raiseRetention(to: retention.policy) }
  }

  /// Runs the migration and, unless it is a dry run, commits it.
  func migrate(
    _ store: Store, isDryRun: Bool, progress: ((MigrationProgress) -> Void)?
  ) throws(Realm.Error) -> MigrationReport {
    var token: GateToken?
    if !isDryRun { token = try acquire(store) }
    defer { token.take()?.release() }
    let snapshot = try publicly { () throws(StorageError) in
      let snapshot = try store.newestSnapshot()
      guard try store.needsMigration(options) else { return nil as Snapshot? }
      return snapshot
    }
    guard let snapshot else {
      token.take()?.release()
      // Another process did it. Classes that only this program has are added.
      if !isDryRun { _ = try open() }
      return MigrationReport(unneededAt: configuration.schemaVersion)
    }
    FaultPoint.hit("migration.begun")
    let (result, report) = try run(snapshot, store, progress)
    FaultPoint.hit("migration.ran")
    if let held = token.take() {
      try commit(result, store, held)
    }
    return report
  }

  private func acquire(_ store: Store) throws(Realm.Error) -> GateToken {
    do throws(StorageError) {
      return try store.acquireGate(timeout: Self.patience)
    } catch {
      guard error.code == .busy else { throw Realm.Error(error) }
      throw Realm.Error(
        .fail,
        message: "Cannot migrate \(store.path): other processes have been writing to it for "
          + "\(Self.patience). " + error.detail, fileURL: store.fileURL)
    }
  }

  private func run(
    _ snapshot: Snapshot, _ store: Store, _ progress: ((MigrationProgress) -> Void)?
  ) throws(Realm.Error) -> (WriteSession, MigrationReport) {
    let migration = try publicly { () throws(StorageError) in
      try Migration(snapshot, store, configuration, model, progress: progress)
    }
    defer { migration.end() }
    do {
      try configuration.migrationBlock?(migration, snapshot.head.schemaVersion)
    } catch let error as Realm.Error {
      throw error
    } catch {
      throw Realm.Error(
        .fail, message: "The migration's block threw: \(error). The file is unchanged.",
        fileURL: store.fileURL)
    }
    let result = try publicly { () throws(StorageError) in try migration.migration.finish() }
    return (result, MigrationReport(migration, result, to: configuration.schemaVersion))
  }

  private func commit(
    _ session: WriteSession, _ store: Store, _ token: consuming GateToken
  ) throws(Realm.Error) {
    do {
      let before = session.base.head.schemaVersion
      try store.commit(session, token)
      StoreLog.shared.write(
        .info,
        "migrated \(store.path) from schema version \(before) to \(configuration.schemaVersion)")
    } catch {
      throw Realm.Error(error)
    }
  }
}
