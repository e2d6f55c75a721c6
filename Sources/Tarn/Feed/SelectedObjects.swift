package import TarnStore

/// The objects of a class that a cursor selects, at the version of a batch, read as data: for
/// programs that must survive a damaged file, which ends those that read objects.
package struct SelectedObjects {
  private let changes: ObjectChanges<DynamicObject>
  private let rows: ResultRows

  init(
    _ changes: ObjectChanges<DynamicObject>, _ results: Results<DynamicObject>
  ) throws(StorageError) {
    self.changes = changes
    rows = try results.currentRows()
  }

  package var count: Int { rows.count }

  /// - Throws: `.corrupted` for a damaged object, for example.
  package func identity(at position: Int) throws(StorageError) -> ObjectIdentity {
    try changes.readIdentity(rows.key(at: position))
  }

  /// - Throws: the same errors.
  package func object(
    at position: Int
  ) throws(StorageError) -> (identity: ObjectIdentity, values: [String: RecordedValue]) {
    let key = rows.key(at: position)
    return (try changes.readIdentity(key), try changes.readValues(key) ?? [:])
  }
}

extension ChangeBatch {
  /// The objects of ``objects(ofClass:)``, as data.
  package func selectedObjects(
    ofClass className: String
  ) throws(StorageError) -> SelectedObjects {
    try SelectedObjects(changes(ofClass: className), objects(ofClass: className))
  }
}
