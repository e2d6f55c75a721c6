import TarnStore

/// Properties that the server does not have, or has with another type.
extension Replicator {
  /// - Returns: why nothing is sent; nil if the server has all properties of the file.
  static func missing(_ classes: [ReplicaClass]) -> ServerError? {
    let names = classes.flatMap { one in
      one.exchange.missing.map { "\(one.described.name).\($0)" }
    }
    let mismatched = classes.flatMap(\.exchange.mismatched)
    if let first = mismatched.first {
      return ServerError(
        state: "42804", operation, "\(first): nothing is sent",
        detail: mismatched.dropFirst().joined(separator: "\n"))
    }
    if names.isEmpty { return nil }
    let renames = classes.flatMap(\.exchange.renamed).map { " --rename \($0)" }.joined()
    return ServerError(
      state: "42703", operation,
      "the server does not have \(names.joined(separator: ", ")) yet; nothing is sent until then",
      hint: renames.isEmpty
        ? "Run 'tarn server migrate URL FILE'." : "Run 'tarn server migrate' with\(renames).")
  }

  /// Fetches every row again if properties are exchanged for the first time.
  func noteExchangedNames() throws(StorageError) {
    let names = try ExchangedNames.compare(classes, replica.store.newestSnapshot())
    if names.records.isEmpty { return }
    var next = replica.state
    next.isStale = next.isStale || names.isGrown
    var records = names.records
    records.set(ReplicaState.key, next.encoded)
    try replica.keep(next, records)
  }

  /// Ends this replicator if a class that lacked properties has changed on the server: the next one
  /// asks for the properties again.
  ///
  /// - Throws: `.conflict`, after which a session begins again.
  func noticeMigration(_ answer: Pull.Answer) throws(StorageError) {
    let isChanged = classes.contains {
      !($0.exchange.missing.isEmpty && $0.exchange.mismatched.isEmpty)
        && answer.renewed.contains($0.exchange.id)
    }
    // Properties in the first download existed when the replicator was made.
    if isChanged, hasPulled {
      throw StorageError(
        .conflict, operation: Self.operation, path: replica.store.path,
        detail: "the server has got properties of the file")
    }
    hasPulled = true
  }

  /// Ends this replicator if the server refused a statement because its classes have changed since
  /// the replicator was made: a property or a table was renamed.
  ///
  /// - Throws: `.conflict`, after which a session begins again at once. It ends repeatedly with the
  ///   same error only if the server's classes change each time.
  func noticeOtherClasses(_ error: ServerError) throws {
    // Errors of syntax, types and names.
    guard ["42", "3F"].contains(error.state.prefix(2)) else { return }
    let now = try ServerCatalog(connection, Self.operation).entries(named: replica.names)
    if now == entries { return }
    throw StorageError(
      .conflict, operation: Self.operation, path: replica.store.path,
      detail: "the server's classes have changed")
  }
}

/// Rows that the file has left out.
extension Replicator {
  /// The rows of a class of which the file has no part.
  func leftOutRows(_ id: ClassID) throws(StorageError) -> [Int64: LeftOut] {
    let snapshot = try replica.store.newestSnapshot()
    let rows = try LeftOut.all(in: id, snapshot).filter { $0.value.isWhole }
    if rows.isEmpty { return rows }
    let present = try ReplicaObjects(snapshot).keys(of: Set(rows.keys), in: id)
    return rows.filter { present[$0.key] == nil }
  }

  /// Fetches the rows again that another version of the program or of the schema left out: once per
  /// session; rows that were left out because of unsent changes each time.
  func readLeftOutAgain() throws {
    if hasReadLeftOut, !replica.hasClashes { return }
    replica.hasClashes = false
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
