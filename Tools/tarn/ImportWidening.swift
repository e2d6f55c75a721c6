import TarnStore
import ToolSupport

/// Makes existing columns nullable. The migration is committed with the first objects of the
/// import, so a failed import does not change the classes.
struct ImportWidening {
  let classes: [ClassDefinition]
  /// The file's classes when the import was planned.
  let planned: StoreSchema
  let path: String

  /// Begins the write that migrates the classes and then imports.
  func begin(_ snapshot: Snapshot) throws -> WriteSession {
    let migration = try SchemaMigration(
      snapshot, to: snapshot.head.schemaVersion, classes, path: path
    ) {}
    // The migration would remove a property that another process has added since.
    guard migration.plan.working == planned else {
      throw ToolError(
        "another process changed the classes of \(path) meanwhile; nothing was imported")
    }
    return try migration.finish()
  }
}
