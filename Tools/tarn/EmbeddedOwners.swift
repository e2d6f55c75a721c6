import TarnStore

/// Finds the objects that own changed embedded objects, at any depth.
struct EmbeddedOwners {
  private let rows: Rows
  private let changes: ChangeSet

  init(_ rows: Rows, _ changes: ChangeSet) {
    self.rows = rows
    self.changes = changes
  }

  /// The owners of that class.
  func keys(in id: ClassID) throws(StorageError) -> Set<ObjectKey> {
    var found: Set<ObjectKey> = []
    var seen: Set<ObjectRef> = []
    var pending: [ObjectRef] = []
    for entry in changes.classes where rows.schema.isEmbedded(entry.id) {
      pending += entry.touchedKeys(in: .all).map { ObjectRef(classID: entry.id, key: $0) }
    }
    while let object = pending.popLast() {
      for link in rows.schema.incoming(to: object.classID) {
        let owners = try rows.keys(in: link.origin, where: link.column, is: .link(object.key))
        for key in owners {
          if link.origin == id { found.insert(key) }
          let owner = ObjectRef(classID: link.origin, key: key)
          if rows.schema.isEmbedded(link.origin), seen.insert(owner).inserted {
            pending.append(owner)
          }
        }
      }
    }
    return found
  }
}
