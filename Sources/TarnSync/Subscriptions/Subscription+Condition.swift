package import TarnStore

extension Subscription {
  /// Translates a condition on objects of a class.
  ///
  /// - Parameter time: the current time in microseconds since 1970.
  /// - Throws: `PredicateError` for a condition that does not fit the class, or that a server
  ///   cannot evaluate like a file.
  package init(
    name: String?, to described: ClassSchema, where condition: Predicate, in snapshot: Snapshot,
    time: Int64
  ) throws(PredicateError) {
    guard !described.isEmbedded, described.primaryKey != nil else {
      throw PredicateError(
        "class '\(described.name)' has no primary key: subscribe to classes that have one")
    }
    self.init(
      name: name, className: described.name, condition: "\(condition)",
      sql: try ConditionSQL(snapshot).translated(condition, on: described.id).kept, created: time,
      updated: time)
  }

  /// The condition that is sent to the server. The text in the file only identifies the query.
  ///
  /// - Returns: nil if it cannot be read.
  func translated(in snapshot: Snapshot) -> SQLCondition? {
    let schema = snapshot.schema.schema
    guard let described = schema.named(className) else { return nil }
    let again = try? ConditionSQL(snapshot).translated(
      PredicateParser.parse(condition, []).predicate, on: described.id)
    if let again, again.kept.utf8.elementsEqual(sql.utf8) { return again }
    // The condition may have another meaning now, if an object that a link was compared with was
    // deleted.
    return KeptQuery(sql).condition ?? again
  }
}

extension ConditionSQL {
  /// Compares links with the keys of the file's objects.
  init(_ snapshot: Snapshot) {
    let schema = snapshot.schema.schema
    self.init(schema) { id, key in
      guard let described = schema[id], let column = described.primaryKey else { return nil }
      if described.keyIsPrimary { return .int(key.rawValue) }
      return try? SnapshotReader(snapshot).value(of: column, at: key, in: id)
    }
  }
}

extension SubscriptionSet {
  /// Notes that the subscriptions have changed.
  package mutating func renew() {
    version += 1
    state = .pending
  }
}
