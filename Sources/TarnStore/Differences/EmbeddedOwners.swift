/// The properties that own embedded objects with changes, at any depth: an embedded object is part
/// of the object that it belongs to, and its changes are changes of the property that leads there.
package struct EmbeddedOwners: Sendable {
  /// By the class of the owner and the column.
  package private(set) var found: [ClassID: [ColumnID: KeySet]] = [:]

  /// The owners as they are in a snapshot.
  package init(of changes: ChangeSet, in snapshot: Snapshot) throws(StorageError) {
    try self.init(of: changes, StoreRows(SnapshotReader(snapshot)))
  }

  /// - Parameters:
  ///   - rows: the rows after the changes. Links to embedded objects that changed are themselves
  ///     among the changes, so those of today are enough.
  ///   - isReadable: the classes that `rows` has. Owners of others are not found.
  init<Rows: LinkedRows>(
    of changes: ChangeSet, _ rows: Rows, where isReadable: (ClassID) -> Bool = { _ in true }
  ) throws(StorageError) {
    let schema = rows.schema
    var open: [(ClassID, KeySet)] = []
    for change in changes.classes where schema.schema[change.id]?.isEmbedded == true {
      let keys = change.touchedKeys(in: .all)
      if !keys.isEmpty { open.append((change.id, keys)) }
    }
    // Each step goes to the owner, and no object owns itself.
    while let (id, keys) = open.popLast() {
      for link in schema.incoming(to: id) where isReadable(link.origin) {
        let step = LinkStep(classID: link.origin, column: link.column, target: id)
        let owners = try rows.before(keys, through: step, atMost: .max) ?? KeySet()
        let known = found[link.origin]?[link.column] ?? KeySet()
        let fresh = owners.subtracting(known)
        if fresh.isEmpty { continue }
        found[link.origin, default: [:]][link.column] = known.union(fresh)
        if schema.isEmbedded(link.origin) { open.append((link.origin, fresh)) }
      }
    }
  }
}
