public import Foundation
import TarnStore

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
    let store = try publicly { () throws(StorageError) in
      try StoreRegistry.open(configuration.location, options)
    }
    return try opening.migrate(store, isDryRun: true, progress: progress)
  }
}

/// The schema version of a file.
///
/// - Throws: `Realm.Error` if the file does not exist or cannot be read.
public func schemaVersionAtURL(_ fileURL: URL) throws -> UInt64 {
  var options = Store.Options()
  options.isReadOnly = true
  options.adoptsClasses = false
  return try publicly { () throws(StorageError) in
    try StoreRegistry.open(fileURL.path, options).newestSnapshot().head.schemaVersion
  }
}
