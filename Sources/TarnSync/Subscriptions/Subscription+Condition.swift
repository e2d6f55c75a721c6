package import TarnStore

extension Subscription {
  /// Translates a condition on objects of a class.
  ///
  /// - Parameter time: in microseconds since 1970.
  /// - Throws: `PredicateError` for a condition that does not fit the class, or that a server
  ///   cannot answer as a file does.
  package init(
    name: String?, to described: ClassSchema, where condition: Predicate, in snapshot: Snapshot,
    time: Int64
  ) throws(PredicateError) {
    let schema = snapshot.schema.schema
    guard !described.isEmbedded, described.primaryKey != nil else {
      throw PredicateError(
        "class '\(described.name)' has no primary key: subscribe to classes that have one")
    }
    let translation = ConditionSQL(schema) { id, key in
      guard let described = schema[id], let column = described.primaryKey else { return nil }
      if described.keyIsPrimary { return .int(key.rawValue) }
      return try? SnapshotReader(snapshot).value(of: column, at: key, in: id)
    }
    self.init(
      name: name, className: described.name, condition: "\(condition)",
      sql: try translation.text(condition, on: described.id), created: time, updated: time)
  }
}

extension SubscriptionSet {
  /// Notes that the subscriptions have changed.
  package mutating func renew() {
    version += 1
    state = .pending
  }
}
