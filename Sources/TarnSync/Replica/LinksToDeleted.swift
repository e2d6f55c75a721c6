import TarnStore

/// The links to objects that commits delete: nil in the file, but not on the server, so that they
/// are restored if their target is. If a foreign key of the server refuses to delete a row that
/// others refer to, they are nil there too.
struct LinksToDeleted {
  /// They wait for their targets from then on.
  private(set) var waiting: [WaitingLinks.Waiting] = []
  /// The properties in which links are nil only for that reason.
  private(set) var places: Set<WaitingLinks.Place> = []

  init() {}

  /// - Parameters:
  ///   - unsent: the commits.
  ///   - classes: the exchanged classes.
  ///   - rows: the rows after the commits.
  ///   - cursor: the number of the session's cursor.
  ///   - refusing: the names of columns with such foreign keys.
  init(
    _ unsent: UnsentChanges, _ classes: [ClassSchema], _ objects: ReplicaObjects, rows: PastRows,
    without cursor: UInt32, refusing: [ClassID: Set<String>]
  ) throws(StorageError) {
    let all = Set(classes.map(\.id))
    let hasLinks = classes.contains { one in
      one.columns.contains { [.link, .any].contains($0.type) }
    }
    guard hasLinks else { return }
    var before: RowsBeforeDeletion?
    for one in classes {
      for key in unsent.deleted(in: one.id) {
        // Even if the server has deleted it meanwhile, or has another object with the key.
        guard try objects[one.id, key] != nil,
          let primaryKey = unsent.primaryKey(ofDeleted: key, in: one)
        else { continue }
        if before == nil {
          before = try RowsBeforeDeletion(unsent.range, all, without: cursor, rows.reader)
        }
        let object = ObjectRef(classID: one.id, key: key)
        for shared in try before?.rows(with: object, primaryKey) ?? [] {
          let links = try shared.rows.waitingLinks(to: object, primaryKey, from: all)
          try note(
            links.filter { !Self.isIn(refusing, $0.place, rows) }, rows, since: shared.version,
            objects)
        }
      }
    }
  }

  private static func isIn(
    _ columns: [ClassID: Set<String>], _ place: WaitingLinks.Place, _ rows: PastRows
  ) -> Bool {
    let id = place.object.classID
    guard let names = columns[id], !names.isEmpty else { return false }
    return names.contains(rows.schema[id][place.column].name)
  }

  private mutating func note(
    _ links: [WaitingLinks.Waiting], _ rows: PastRows, since version: Version,
    _ objects: ReplicaObjects
  ) throws(StorageError) {
    for link in links {
      let holder = link.place.object
      let column = rows.schema[holder.classID][link.place.column]
      if column.collection == .none, column.type == .link,
        column.target.map({ rows.schema.isEmbedded($0) }) != true
      {
        // The file may have set another link.
        let value = try rows.value(of: column.id, at: holder.key, in: holder.classID)
        if value != .null { continue }
      }
      guard places.insert(link.place).inserted || !waiting.contains(link) else { continue }
      if try Self.isCut(link, since: version, column, rows.schema.schema, objects) { continue }
      waiting.append(link)
    }
  }

  /// Whether a download after a version has shown that the server no longer has a link.
  private static func isCut(
    _ link: WaitingLinks.Waiting, since version: Version, _ column: ColumnSchema,
    _ schema: StoreSchema, _ objects: ReplicaObjects
  ) throws(StorageError) -> Bool {
    let holder = link.place.object
    let table = try objects.contents(of: holder.key, in: holder.classID)
    guard let last = table[column.id]?.last, !last.isOfFormer, last.version > version.rawValue
    else { return false }
    guard let coder = ContentCoder(column, schema) else { return true }
    let place = SequencePlace(classID: holder.classID, key: holder.key, column: column.id)
    let items = coder.content(last.server, at: last.stamp).elements.items
    return !LinkTarget.all(in: items, coder.items.column, schema).contains {
      WaitingLinks.Waiting($0, at: place) == link
    }
  }
}
