import TarnStore

/// The rules of the server's tables that matter to the order of writing.
extension ReplicaLink {
  /// Reads the rules.
  ///
  /// - Returns: whether they are other ones than before.
  @discardableResult
  func readRules() throws -> Bool {
    let former = classes.map(\.exchange.rules)
    var exchanged = classes.map(\.exchange)
    try TableRules.read(connection, into: &exchanged)
    for place in classes.indices { classes[place].exchange.rules = exchanged[place].rules }
    let records = try ExchangedNames.refusing(classes, replica.store.newestSnapshot())
    if !records.isEmpty { try replica.keep(replica.state, records) }
    return classes.map(\.exchange.rules) != former
  }

  /// Whether a push was refused by a rule that the server has got since this link was made, so that
  /// it may be taken if it is sent by it.
  func hasNewRules(_ error: ServerError) throws -> Bool {
    if !error.state.beginsWithBytes(of: "23") { return false }
    return try readRules()
  }
}
