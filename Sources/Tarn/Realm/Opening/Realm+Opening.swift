public import Dispatch
public import Foundation
import TarnStore

extension Realm {
  /// Opens the default configuration on the calling thread, or on `queue`.
  ///
  /// - Parameter queue: a serial queue that this call runs on; nil for the calling thread.
  /// - Throws: `Realm.Error` if the file cannot be opened or does not match the classes.
  public init(queue: DispatchQueue? = nil) throws {
    try self.init(configuration: .defaultConfiguration, queue: queue)
  }

  /// Opens a configuration on the calling thread, or on `queue`.
  ///
  /// The file and its two companions (`-lock`, `-signal`) are created if they do not exist.
  /// Classes and properties that the file lacks are added to it.
  ///
  /// - Parameters:
  ///   - configuration: which file, and how.
  ///   - queue: a serial queue that this call runs on; nil for the calling thread.
  /// - Throws: `Realm.Error` if the file cannot be opened or does not match the classes.
  public init(configuration: Configuration, queue: DispatchQueue? = nil) throws {
    var scheduler = Scheduler.current
    if let queue {
      scheduler = Scheduler(on: queue)
    }
    self.init(try RealmCache.open(configuration, scheduler))
  }

  /// Opens a configuration on a scheduler whose turns the program runs itself.
  ///
  /// - Throws: `Realm.Error` if the file cannot be opened or does not match the classes.
  public init(configuration: Configuration, scheduler: ManualScheduler) throws {
    self.init(try RealmCache.open(configuration, .manual(scheduler.turns)))
  }

  /// Opens a file; all other settings are those of the default configuration.
  ///
  /// - Throws: `Realm.Error` if the file cannot be opened or does not match the classes.
  public init(fileURL: URL) throws {
    var configuration = Configuration.defaultConfiguration
    configuration.fileURL = fileURL
    try self.init(configuration: configuration)
  }
}

extension Realm {
  /// True if the configuration's file exists; for an in-memory Realm, if an instance is open.
  public static func fileExists(for configuration: Configuration) -> Bool {
    switch configuration.location {
    case .file(let path): FileFacts.at(path) != nil
    case .memory: StoreRegistry.isOpen(configuration.location)
    }
  }

  /// Deletes the configuration's file and its two companions. An in-memory Realm is discarded with
  /// its last instance.
  ///
  /// - Returns: true if there was a file.
  /// - Throws: `Realm.Error.alreadyOpen` if this process has it open, `.filePermissionDenied` or
  ///   `.fileOperationFailed` if it cannot be deleted.
  @discardableResult
  public static func deleteFiles(for configuration: Configuration) throws -> Bool {
    let location = configuration.location
    StoreLeave.wait(for: location, atMost: StoreOpening.leaving)
    guard !StoreRegistry.isOpen(location) else {
      throw Error(
        .alreadyOpen,
        message: "\(location.description) is open in this process: release every Realm first.",
        fileURL: configuration.fileURL)
    }
    guard case .file(let path) = location else { return false }
    let url = URL(fileURLWithPath: path)
    let existed = fileExists(for: configuration)
    for suffix in ["", "-lock", "-signal"] {
      guard let code = FileFacts.remove(path + suffix), code != ENOENT else { continue }
      let isRefused = code == EACCES || code == EPERM || code == EROFS
      throw Error(
        isRefused ? .filePermissionDenied : .fileOperationFailed,
        message: "Cannot delete \(path + suffix): \(unsafe String(cString: strerror(code)))",
        fileURL: url)
    }
    if existed { StoreLog.shared.write(.info, "deleted \(path)") }
    return existed
  }
}

extension Realm {
  /// Migrates a file without opening a Realm on it, for real or as a dry run.
  ///
  /// A dry run does everything in memory, with the program's block, and commits nothing: the file
  /// keeps every byte. It does not take the write lock, so others may write meanwhile.
  ///
  /// - Parameters:
  ///   - configuration: the file, with the version, classes and block to migrate to.
  ///   - dryRun: true to commit nothing.
  ///   - progress: called on this thread while the block enumerates objects, about once per
  ///     thousand.
  /// - Returns: a report of the changes made, or that a dry run would have made.
  /// - Throws: `Realm.Error`, like opening; `.fileNotFound` in a dry run without a file.
  @discardableResult
  public static func performMigration(
    for configuration: Configuration = .defaultConfiguration, dryRun: Bool = false,
    progress: ((MigrationProgress) -> Void)? = nil
  ) throws -> MigrationReport {
    let model = ModelSchema.of(configuration.objectTypes)
    let opening = StoreOpening(configuration, model)
    guard dryRun else {
      return try opening.migrate(opening.open(), isDryRun: false, progress: progress)
    }
    guard fileExists(for: configuration) else {
      throw Error(
        .fileNotFound, message: "There is no file at \(configuration.location.description).",
        fileURL: configuration.fileURL)
    }
    var options = configuration.storeOptions(model)
    options.adoptsClasses = false
    options.createsStore = false
    let store = try publicly { () throws(StorageError) in
      try StoreRegistry.open(configuration.location, options)
    }
    return try opening.migrate(store, isDryRun: true, progress: progress)
  }
}

/// The schema version of a file.
///
/// - Throws: `Realm.Error.fileNotFound` if there is no file, `.invalidDatabase` if it is damaged
///   or not a Tarn store, `.unsupportedFileFormatVersion` for one of a newer library,
///   `.filePermissionDenied` if the process cannot read it, and the other codes of opening.
public func schemaVersionAtURL(_ fileURL: URL) throws -> UInt64 {
  var options = Store.Options()
  options.isReadOnly = true
  options.adoptsClasses = false
  return try publicly { () throws(StorageError) in
    try StoreRegistry.open(fileURL.path, options).newestSnapshot().head.schemaVersion
  }
}
