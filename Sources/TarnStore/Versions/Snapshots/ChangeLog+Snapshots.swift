/// Changes between two states. Their records are checked against both: a few damaged bytes can name
/// more objects than could be processed, and classes or columns that do not exist.
extension ChangeLog {
  /// All changes from one state to a later one.
  ///
  /// - Throws: `.corrupted` if a record is damaged, missing although the caller has held `old` all
  ///   the time, or inconsistent with the two states.
  package static func changes(
    from old: Snapshot, to new: Snapshot
  ) throws(StorageError) -> ChangeSet {
    let changes = try changes(after: old.version, upTo: new.version, in: new.transaction)
    try check(changes.classes, new.schema.schema)
    for entry in changes.classes where entry.isLarge { try check(entry, from: old, to: new) }
    return changes
  }

  static func damaged(_ detail: String) -> StorageError {
    StorageError(
      .corrupted, operation: "read change record", path: "",
      detail: "A change record is damaged: \(detail).")
  }

  /// Classes and columns are ordered, so checking the last ones suffices.
  static func check(
    _ classes: [ClassChanges], _ schema: StoreSchema
  ) throws(StorageError) {
    func has(_ id: ClassID, _ column: ColumnID?) -> Bool {
      guard let described = schema[id] else { return false }
      return column.map { $0.index < described.columns.count } ?? true
    }
    for entry in classes {
      guard has(entry.id, nil) else { throw damaged("it names a class that does not exist") }
      guard has(entry.id, entry.touched.last?.column),
        has(entry.id, entry.sequences.last?.name.column),
        entry.backTouched.allSatisfy({ has($0.origin, $0.column) })
      else { throw damaged("it names a property that does not exist") }
    }
  }

  private static func check(
    _ entry: ClassChanges, from old: Snapshot, to new: Snapshot
  ) throws(StorageError) {
    let now = try SnapshotReader(new).record(of: entry.id).rowCount
    let touched = entry.touched.map(\.keys.count).max() ?? 0
    guard max(entry.inserted.count, touched) <= now else {
      throw damaged("it names more objects of a class than exist")
    }
    let before = try SnapshotReader(old).record(of: entry.id).rowCount
    guard entry.deleted.count <= before else {
      throw damaged("it deletes more objects of a class than existed")
    }
  }
}
