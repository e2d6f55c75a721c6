import TarnStore

/// Rows that the file has left out.
extension ReplicaLink {
  /// Those of a class of which the file has nothing.
  func leftOutRows(_ id: ClassID) throws(StorageError) -> [Int64: LeftOut] {
    let snapshot = try replica.store.newestSnapshot()
    let rows = try LeftOut.all(in: id, snapshot).filter { $0.value.isWhole }
    if rows.isEmpty { return rows }
    let present = try ReplicaObjects(snapshot).keys(of: Set(rows.keys), in: id)
    return rows.filter { present[$0.key] == nil }
  }

  /// Fetches the rows again that another version of the program left out, or of the schema: once in
  /// a session.
  func readLeftOutAgain() throws {
    if hasReadLeftOut { return }
    let snapshot = try replica.store.newestSnapshot()
    let reader = LeftOut.Reader(epoch: snapshot.schema.epoch)
    for one in downloaded {
      let rows = try LeftOut.all(in: one.id, snapshot).filter { $0.value.reader != reader }
      if rows.isEmpty { continue }
      let page = try ClassPages(connection: connection, one: one.exchange)
        .rows(of: Array(rows.keys), where: one.exchange.filter)
      try replica.edit { edit, _ throws(StorageError) in
        edit.leavings.isReadAgain = true
        try edit.forgetLeftOut(Set(rows.keys), one)
        for row in page.rows { try edit.apply(row, one) }
        for row in page.unreadable { try edit.leaveOut(row, one) }
      }
    }
    hasReadLeftOut = true
  }
}
