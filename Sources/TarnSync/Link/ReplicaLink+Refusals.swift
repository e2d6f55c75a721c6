import TarnStore

/// Commits that the server refused.
extension ReplicaLink {
  /// Takes back a commit that the server refused.
  func takeBack(_ plan: PushPlan, _ error: ServerError) throws {
    var rows: [ClassID: [ElementKey: RowReader.Row]] = [:]
    for one in classes {
      let keys = plan.keys.filter { $0.class.id == one.id }.map(\.primaryKey)
      if keys.isEmpty || one.exchange.isAsymmetric { continue }
      let found = try ClassPages(connection: connection, one: one.exchange)
        .rows(with: keys, where: one.exchange.filter)
      rows[one.id] = Dictionary(found.rows.map { ($0.key, $0) }) { $1 }
    }
    let commit = RefusedCommit(
      version: plan.last.version.rawValue,
      objects: plan.keys.map { ($0.class.described.name, $0.primaryKey) }, error: error,
      properties: try error.columns(connection))
    try replica.edit { edit, next throws(StorageError) in
      for (one, key, primaryKey) in plan.keys {
        let row = rows[one.id]?[ElementKey(primaryKey)]
        let contents = plan.outcome.contents.last { $0.class == one.id && $0.key == key }
        try edit.takeBack(key, row, plan.last.version, one, contents?.table ?? [:])
      }
      try edit.take(ReplicaOutcome(joined: plan.outcome.joined))
      next.done = plan.last
      // Objects that the server does not have are sent as they were before.
      next.hasUploads = true
      try edit.note(commit)
    }
    try tellRefusals()
  }

  /// Tells of refused commits. A message is forgotten when the call has returned.
  func tellRefusals() throws {
    for commit in try replica.refusals() {
      refused(commit)
      try replica.forgetRefusal(of: commit.version)
    }
  }
}
