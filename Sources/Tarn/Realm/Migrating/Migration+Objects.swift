import TarnStore

// The operations of a migration's block on both sides.

extension Migration {
  // MARK: - Schemas

  /// The schema of the file before the migration.
  public var oldSchema: Schema { Schema(migration.plan.stored, .empty) }

  /// The schema of the file after the migration.
  public var newSchema: Schema { Schema(migration.plan.working, .empty) }

  private func has(_ typeName: String, in schema: StoreSchema) -> Bool {
    schema.named(typeName).map { !$0.isVacant } ?? false
  }

  // MARK: - Objects

  /// Calls `block` for each object that the class had before the migration, in the order of
  /// creation, with the old object and the new one. Objects that this migration has deleted are
  /// skipped. The new object is nil if the model has no such class. For a class that the file did
  /// not have, the objects that this migration created are passed with nil as the old one.
  ///
  /// Does nothing if neither the file nor the model has the class.
  public func enumerateObjects(
    ofType typeName: String,
    _ block: (_ oldObject: MigrationObject?, _ newObject: MigrationObject?) -> Void
  ) {
    withoutActuallyEscaping(block) { block in
      try! enumerate(typeName) { block($0, $1) }  // because: the block throws nothing
    }
  }

  /// Like above, with a block that may throw. An error ends the enumeration and is rethrown.
  public func enumerateObjects(
    ofType typeName: String,
    _ block: (_ oldObject: MigrationObject?, _ newObject: MigrationObject?) throws -> Void
  ) throws {
    try enumerate(typeName, block)
  }

  private func enumerate(
    _ typeName: String, _ block: (MigrationObject?, MigrationObject?) throws -> Void
  ) throws {
    let plan = migration.plan
    let isOld = has(typeName, in: plan.stored)
    guard isOld || has(typeName, in: plan.working), let id = plan.working.named(typeName)?.id else {
      return
    }
    let keys = trapping { () throws(StorageError) in
      isOld ? try migration.old.allKeys(in: id) : try migration.session.allKeys(in: id)
    }
    var given = 0
    for (number, key) in keys.enumerated() {
      if number % 1000 == 0 { tell(typeName, number, keys.count) }
      let isThere = trapping { () throws(StorageError) in
        try migration.session.location(of: key, in: id) != nil
      }
      guard isThere else { continue }
      let old = isOld ? object(key, typeName, oldCore) : nil
      given += 1
      try block(old, plan.wanted.contains(typeName) ? object(key, typeName, newCore) : nil)
    }
    enumerated[typeName, default: 0] += given
    tell(typeName, keys.count, keys.count)
  }

  private func tell(_ typeName: String, _ done: Int, _ total: Int) {
    onProgress?(
      MigrationProgress(className: typeName, completedObjects: done, totalObjects: total))
  }

  private func object(_ key: ObjectKey, _ typeName: String, _ core: RealmCore) -> MigrationObject {
    core.dynamicObject(key, core.dynamicBinding(typeName))
  }

  /// Creates an object on the new side from values, like `Realm.dynamicCreate`: missing values are
  /// those that the program's class declares. Objects of the old
  /// side among the values, also in its collections, mean the new objects of their rows. Embedded
  /// ones are copied. Traps for an object that this migration has deleted.
  @discardableResult
  public func create(_ typeName: String, value: Any = [String: Any]()) -> MigrationObject {
    newCore.dynamicCreate(typeName, value: value, update: .error)
  }

  /// Deletes an object of the new side. Traps for one of the old side.
  public func delete(_ object: MigrationObject) {
    require(
      object._core === newCore,
      "Only new objects of a migration can be deleted. This one of class '\(object._className)' is "
        + "an old one, or not from the migration. Delete the new object that enumerateObjects "
        + "passes with it.")
    newCore.delete(object)
  }

  /// Deletes all objects of a class, and the class itself if the model does not have it.
  ///
  /// - Returns: false if the file has no such class.
  @discardableResult
  public func deleteData(forType typeName: String) -> Bool {
    trapping { () throws(StorageError) in try migration.deleteData(of: typeName) }
  }

  /// Gives a property of the model the values that the file has under another name. Call it before
  /// the migration creates or changes objects of the class.
  ///
  /// Traps unless only the file has the old property, only the model has the new one, and both have
  /// the same type.
  public func renameProperty(
    onType typeName: String, from oldName: String, to newName: String
  ) {
    let plan = migration.plan
    let change = "Cannot rename property '\(typeName).\(oldName)' to '\(newName)': "
    guard let old = plan.stored.named(typeName), let new = plan.working.named(typeName) else {
      trap("\(change)the file has no class '\(typeName)'.")
    }
    guard let from = old.named(oldName) else {
      trap("\(change)the file has no such property.")
    }
    guard let to = new.named(newName) else {
      trap("\(change)the model has no property '\(newName)'.")
    }
    require(new.named(oldName) == nil, "\(change)the model still has '\(oldName)'.")
    require(old.named(newName) == nil, "\(change)the file has '\(newName)' already.")
    require(
      from.type == to.type && from.target == to.target && from.collection == to.collection,
      "\(change)their types differ.")
    trapping { () throws(StorageError) in
      try migration.takeOver(from.id, to.id, in: new.id)
    }
  }
}
