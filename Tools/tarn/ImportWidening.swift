import TarnStore
import ToolSupport

/// Makes columns nullable that the file has already: a migration, committed together with the
/// first objects of the import, so that a failed import leaves the classes as they were.
struct ImportWidening {
  let classes: [ClassDefinition]
  /// The classes of the file as the import was planned for.
  let planned: StoreSchema
  let path: String

  /// The write that the import goes on with.
  func begin(_ snapshot: Snapshot) throws -> WriteSession {
    let migration = try SchemaMigration(
      snapshot, to: snapshot.head.schemaVersion, classes, path: path
    ) {}
    // A property that another process has added since would be removed.
    guard migration.plan.working == planned else {
      throw ToolError(
        "another process changed the classes of \(path) meanwhile; nothing was imported")
    }
    return try migration.finish()
  }
}
