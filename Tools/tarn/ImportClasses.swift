import TarnStore
import ToolSupport

/// Adds the classes and properties that an import needs, and makes existing ones nullable. That is
/// committed with the first objects, so a failed import leaves the classes as they were.
struct ImportClasses {
  /// Another process has changed the classes since the import was planned.
  struct Changed: Error {}

  let classes: [ClassDefinition]
  /// The file's classes when the import was planned, and after it.
  let planned: (before: StoreSchema, after: StoreSchema)
  /// Whether existing properties become nullable, which needs a migration.
  let widens: Bool
  let path: String

  /// Begins the write that changes the classes and then imports.
  ///
  /// - Throws: `Changed` if the plan no longer fits.
  func begin(_ store: Store, _ snapshot: Snapshot) throws -> WriteSession {
    if widens { return try migrate(snapshot) }
    let session: WriteSession
    do {
      session = try store.beginWrite(over: snapshot, adding: classes)
    } catch let error where error.code == .schemaMismatch {
      throw Changed()
    }
    guard session.schema.schema.has(planned.after) else { throw Changed() }
    return session
  }

  private func migrate(_ snapshot: Snapshot) throws -> WriteSession {
    // The migration would remove a property that another process has added since.
    guard snapshot.schema.schema == planned.before else { throw Changed() }
    return try SchemaMigration(
      snapshot, to: snapshot.head.schemaVersion, classes, path: path
    ) {}.finish()
  }
}

extension StoreSchema {
  /// Whether it has all classes and columns of another one, with the same numbers.
  fileprivate func has(_ other: StoreSchema) -> Bool {
    other.classes.allSatisfy { theirs in
      guard let mine = self[theirs.id], mine.name == theirs.name,
        mine.primaryKey == theirs.primaryKey, mine.columns.count >= theirs.columns.count
      else { return false }
      return zip(mine.columns, theirs.columns).allSatisfy { mine, theirs in
        mine.name == theirs.name && mine.isRemoved == theirs.isRemoved && mine.type == theirs.type
          && mine.collection == theirs.collection && mine.target == theirs.target
          && mine.isOptional == theirs.isOptional
      }
    }
  }
}
