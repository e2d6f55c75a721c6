/// The properties that own embedded objects with changes, at any depth: an embedded object belongs
/// to its owner, and its changes are changes of the property that contains it.
package struct EmbeddedOwners: Sendable {
  /// By the class of the owner and the column.
  package private(set) var found: [ClassID: [ColumnID: KeySet]] = [:]

  /// The owners in a snapshot.
  package init(of changes: ChangeSet, in snapshot: Snapshot) throws(StorageError) {
    try self.init(of: changes, StoreRows(SnapshotReader(snapshot)))
  }

  /// - Parameters:
  ///   - rows: the rows after the changes. Changed links to embedded objects are themselves among
  ///     the changes, so the current links suffice.
  ///   - isReadable: the classes that `rows` has. Owners in other classes are not found.
  init<Rows: LinkedRows>(
    of changes: ChangeSet, _ rows: Rows, where isReadable: (ClassID) -> Bool = { _ in true }
  ) throws(StorageError) {
    let schema = rows.schema
    var open: [(ClassID, KeySet)] = []
    for change in changes.classes where schema.schema[change.id]?.isEmbedded == true {
      let keys = change.touchedKeys(in: .all)
      if !keys.isEmpty { open.append((change.id, keys)) }
    }
    // Each step leads to the owner, and no object owns itself.
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
