import TarnStore

/// Commits that a copy of this file may have sent, or that a restored server has lost.
extension ReplicaLink {
  /// Shows the server's rows of the objects of a push that the server has: a copy of the file may
  /// have sent its commits one by one, and the server may have refused some of them.
  func takeBackRefused(_ plan: PushPlan) throws {
    for one in downloaded {
      let sent = plan.keys.filter { $0.class.id == one.id }
      if sent.isEmpty { continue }
      let page = try ClassPages(connection: connection, one: one.exchange)
        .rows(with: sent.map(\.primaryKey), where: one.exchange.filter)
      let present = Set(page.rows.map(\.key))
      let unreadable = Set(page.unreadable.map(\.incarnation))
      let objects = ReplicaObjects(try replica.store.newestSnapshot())
      var missing: [(key: ObjectKey, incarnation: Int64)] = []
      for (_, key, primaryKey) in sent where !present.contains(ElementKey(primaryKey)) {
        guard let known = try objects[one.id, key], !unreadable.contains(known.incarnation) else {
          continue
        }
        missing.append((key, known.incarnation))
      }
      let gone = try Departures(self, one).gone(missing)
      try replica.edit { edit, _ throws(StorageError) in
        for row in page.rows { try edit.apply(row, one) }
        for (key, _) in missing { try edit.depart(key, one, gone: gone) }
        try note(postponedIn: edit)
      }
    }
  }

  /// The entries of the objects that commits changed which a restored server has lost. Its rows of
  /// them are fetched, also where they are those of the last download.
  func changedObjects(
    since place: FeedPlace
  ) throws -> [(class: ClassID, key: ObjectKey, object: ReplicaObject?)] {
    let snapshot = try replica.store.newestSnapshot()
    let objects = ReplicaObjects(snapshot)
    let changes = try UnsentChanges(after: place, without: replica.cursor.number, in: snapshot)
    var entries: [(class: ClassID, key: ObjectKey, object: ReplicaObject?)] = []
    for one in classes {
      for key in try changes.keys(in: one.id) {
        guard var object = try objects[one.id, key] else { continue }
        object.version = 0
        entries.append((one.id, key, object))
      }
    }
    return entries
  }
}
