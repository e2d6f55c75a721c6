import TarnStore

/// Which objects have embedded ones, at any depth, that changed.
struct EmbeddedOwners {
  private let reader: SnapshotReader
  private let changes: ChangeSet

  init(_ reader: SnapshotReader, _ changes: ChangeSet) {
    self.reader = reader
    self.changes = changes
  }

  /// Those of that class.
  func keys(in id: ClassID) throws -> Set<ObjectKey> {
    var found: Set<ObjectKey> = []
    var seen: Set<LinkTarget> = []
    var pending: [LinkTarget] = []
    for entry in changes.classes where reader.schema.isEmbedded(entry.id) {
      pending += entry.touchedKeys(in: .all).map { LinkTarget(classID: entry.id, key: $0) }
    }
    while let object = pending.popLast() {
      for link in reader.schema.incoming(to: object.classID) {
        let owners = try reader.keys(in: link.origin, where: link.column, is: .link(object.key))
        for key in owners {
          if link.origin == id { found.insert(key) }
          let owner = LinkTarget(classID: link.origin, key: key)
          if reader.schema.isEmbedded(link.origin), seen.insert(owner).inserted {
            pending.append(owner)
          }
        }
      }
    }
    return found
  }
}
