import TarnStore

/// Converts the data of an older model to the current one. It receives the migration and the
/// version of the file. If it throws, opening the file throws the error, and the file stays
/// unchanged.
public typealias MigrationBlock =
  @Sendable (_ migration: Migration, _ oldSchemaVersion: UInt64) throws -> Void

/// An object in a migration: dynamic, because no class of the program matches both sides.
public typealias MigrationObject = DynamicObject

/// The two sides of a migration: the old data and the new.
///
/// The new side already has the model's properties. A property that was added, or whose type
/// changed, holds its type's zero, empty or nil, not the default in its declaration. A property
/// that only became optional or required keeps its values (nil becomes zero). The whole migration
/// is one commit, or nothing.
///
/// Use it only in its block, on the block's thread; its objects are invalidated afterwards.
public final class Migration {
  let migration: SchemaMigration
  let oldCore: RealmCore
  let newCore: RealmCore
  let onProgress: ((MigrationProgress) -> Void)?
  /// How many objects the block was given, by class.
  var enumerated: [String: Int] = [:]

  init(
    _ snapshot: Snapshot, _ store: Store, _ configuration: Realm.Configuration,
    _ model: ModelSchema, progress: ((MigrationProgress) -> Void)?
  ) throws(StorageError) {
    func core() -> RealmCore {
      RealmCore(
        store: store, configuration: configuration, scheduler: .current, model: .empty)
    }
    oldCore = core()
    newCore = core()
    onProgress = progress
    migration = try SchemaMigration(
      snapshot, to: configuration.schemaVersion, model.definitions, path: store.path
    ) { [unowned newCore] in newCore.rowsMoved() }
    oldCore.state.begin(with: migration.old)
    newCore.state.begin(with: migration.session.reader)
    newCore.write.begin(migration.session)
    newCore.oldSide = oldCore
    newCore.declaredClasses = model
  }

  /// Invalidates the objects of the migration.
  func end() {
    newCore.write.end()
    for core in [oldCore, newCore] {
      core.state.invalidate(keepsState: false)
      core.rowsMoved()
    }
  }
}

@available(*, unavailable, message: "a migration belongs to its block")
extension Migration: Sendable {}

/// The progress of a migration in a class.
public struct MigrationProgress: Sendable, Equatable {
  /// The class being enumerated.
  public let className: String
  /// The number of its objects that the block has been called with.
  public let completedObjects: Int
  /// The number of its objects.
  public let totalObjects: Int
}
