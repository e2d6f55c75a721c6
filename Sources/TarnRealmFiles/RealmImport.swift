import RealmFiles
package import TarnStore

/// One import of a file into a store that does not exist yet.
///
/// 1. The classes of the file become those of a store in a folder beside the destination.
/// 2. The objects are created cluster by cluster, in transactions of limited size. An object of a
///    class whose primary key is not its object key gets its position among all as key, so that a
///    link needs no second pass: it is known where its target will be.
/// 3. The store is copied to the destination, which gets its name at the end.
package final class RealmImport {
  private let file: RealmFile
  private let destination: String
  private let folder: ImportFolder
  private let objectsPerTransaction: Int

  /// Reads the classes of the file, and makes the folder.
  package init(
    _ source: String, into destination: String, key: [UInt8]? = nil,
    objectsPerTransaction: Int = 200_000
  ) throws {
    self.objectsPerTransaction = objectsPerTransaction
    file = try RealmFile(source, pathBytes: source.pathBytes, key: key)
    self.destination = destination
    guard !ImportFolder.isTaken(destination) else {
      throw StorageError(
        .fileExists, operation: "import", path: destination,
        detail: "there is a file already, which was not changed")
    }
    folder = try ImportFolder(for: destination)
  }

  /// Removes what was made so far. Any thread, for a process that ends.
  package var remains: ImportFolder { folder }

  package func run(
    _ progress: (RealmImportProgress) throws -> Void = { _ in }
  ) throws -> RealmImportReport {
    let report = try fill(progress)
    folder.remove()
    return report
  }

  private func fill(
    _ progress: (RealmImportProgress) throws -> Void
  ) throws -> RealmImportReport {
    let mapping = RealmSchema(file)
    var options = Store.Options()
    options.classes = mapping.definitions
    options.schemaVersion = try file.schemaVersion() ?? 0
    // The copy is synced.
    options.durability = .relaxed
    let store = try StoreRegistry.open(folder.store, options)
    let importer = try ObjectImporter(
      file, mapping, store, objectsPerTransaction: objectsPerTransaction)
    try importer.run(progress)
    _ = try StoreCopy(store.newestSnapshot(), isDurable: true).write(to: destination)
    return RealmImportReport(
      classCount: mapping.definitions.count, objectCount: importer.objectCount,
      notes: mapping.notes + importer.notes)
  }

  /// The classes of a file as a store has them.
  package static func classes(
    of source: String, key: [UInt8]? = nil
  ) throws -> (definitions: [ClassDefinition], schemaVersion: UInt64) {
    let file = try RealmFile(source, pathBytes: source.pathBytes, key: key)
    return (RealmSchema(file).definitions, try file.schemaVersion() ?? 0)
  }
}
