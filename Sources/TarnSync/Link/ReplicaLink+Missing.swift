import TarnStore

/// Properties that the server does not have, or has with another type.
extension ReplicaLink {
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
      "the server does not have \(names.joined(separator: ", ")) yet: nothing is sent until it has",
      hint: renames.isEmpty
        ? "Run 'tarn server migrate'." : "Run 'tarn server migrate' with\(renames).")
  }

  /// Lets every row be fetched if properties are exchanged that were not before.
  func noteExchangedNames() throws(StorageError) {
    let names = try ExchangedNames.compare(classes, replica.store.newestSnapshot())
    if names.records.isEmpty { return }
    var next = replica.state
    next.isStale = next.isStale || names.isGrown
    var records = names.records
    records.set(ReplicaState.key, next.encoded)
    try replica.keep(next, records)
  }

  /// Ends this link if a class that lacked properties has changed on the server: the next link asks
  /// which it has.
  ///
  /// - Throws: `.conflict`, after which a session begins again.
  func noticeMigration(_ answer: Pull.Answer) throws(StorageError) {
    let isChanged = classes.contains {
      !($0.exchange.missing.isEmpty && $0.exchange.mismatched.isEmpty)
        && answer.renewed.contains($0.exchange.id)
    }
    // What the first download brings was there when the link was made.
    if isChanged, hasPulled {
      throw StorageError(
        .conflict, operation: Self.operation, path: replica.store.path,
        detail: "the server has got properties of the file")
    }
    hasPulled = true
  }
}
