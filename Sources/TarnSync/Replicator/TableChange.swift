import TarnStore

/// Matches the objects of a class with the rows of another table, after the class was removed from
/// the server and added again.
///
/// The server gives the rows other incarnations, but for programs a row with the same key is the
/// same object. So each object gets the incarnation of the row with its key, and keeps its unsent
/// changes. An object without a row is sent as if a restored server had lost it. After a crash it
/// runs again.
struct TableChange {
  /// How many objects are changed at once.
  private static let most = 10_000
  private let replicator: Replicator
  private let one: ReplicaClass

  init(_ replicator: Replicator, _ one: ReplicaClass) {
    self.replicator = replicator
    self.one = one
  }

  func run() throws {
    // Includes the rows that no subscription selects: an object of such a row is not lost.
    var all = one.exchange
    all.filter = nil
    let pages = ClassPages(connection: replicator.connection, one: all)
    try IndexMaking.run(one.id, replicator.replica)
    var seen: [ObjectKey] = []
    var last: Value?
    while true {
      let census = try pages.census(after: last)
      last = census.last?.key.value
      seen += try replicator.replica.edit { edit, _ throws(StorageError) in
        var found: [ObjectKey] = []
        for row in census {
          if let key = try edit.takeOver(row, one) { found.append(key) }
        }
        return found
      }
      if census.count < pages.size { break }
    }
    try loseOthers(than: KeySet(seen))
    try replicator.replica.edit { edit, next throws(StorageError) in
      try edit.forgetLeftOut(except: [], one)
      try replicator.noteBehind(one, edit)
      let record = ClassNumber.record(one)
      edit.objects.set(record.key, record.bytes)
      edit.note(.otherTable(one.described.name))
    }
    try replicator.tellPending()
  }

  private func loseOthers(than seen: KeySet) throws {
    var others: [ObjectKey] = []
    try ReplicaObjects(replicator.replica.store.newestSnapshot()).forEach(in: one.id) {
      key, _ throws(StorageError) in
      if !seen.contains(key) { others.append(key) }
      return true
    }
    for start in stride(from: 0, to: others.count, by: Self.most) {
      try replicator.replica.edit { edit, next throws(StorageError) in
        next.hasUploads = true
        for key in others[start..<min(start + Self.most, others.count)] {
          try edit.lose(key, one)
        }
      }
    }
  }
}

extension Replicator {
  /// Matches the objects of classes that were removed from the server and added again since the
  /// last download: once, because a replicator has the classes at the time when it was made.
  func takeUpTables() throws {
    if hasTables { return }
    let snapshot = try replica.store.newestSnapshot()
    var records = ReplicaRecords()
    for one in classes {
      let known = try ClassNumber.of(one.id, in: snapshot)
      if known == one.exchange.id { continue }
      if known != nil, !one.exchange.isAsymmetric {
        try TableChange(self, one).run()
      } else {
        let record = ClassNumber.record(one)
        records.set(record.key, record.bytes)
      }
    }
    if !records.isEmpty { try replica.keep(replica.state, records) }
    hasTables = true
  }
}
