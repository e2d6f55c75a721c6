import TarnStore

/// The consequences of the server's answer to a push.
extension ReplicaLink {
  /// Stores the outcome of a push, and sets the links that waited for its new objects.
  func accept(
    _ plan: PushPlan, _ next: ReplicaState, acknowledging place: FeedPlace? = nil
  ) throws(StorageError) {
    guard try isAwaited(plan) else {
      return try replica.keep(next, acknowledging: place, plan.outcome)
    }
    try replica.edit(to: next) { edit, _ throws(StorageError) in
      try edit.take(plan.outcome)
      for (one, key, primaryKey) in plan.created {
        // A later commit may have deleted it.
        let present = try edit.session.find(primaryKey: primaryKey, in: one.id)
        if present == key { try edit.join(primaryKey, key, one) }
      }
    }
    if let place { try replica.keep(replica.state, acknowledging: place) }
  }

  /// Takes the incarnations of new objects from the server: a copy of this file may have sent them
  /// in other runs, which give them other ones.
  func correct(_ plan: inout PushPlan) throws {
    var incarnations: [ObjectRef: Int64] = [:]
    for one in downloaded {
      let sent = plan.created.filter { $0.class.id == one.id }
      if sent.isEmpty { continue }
      let keys = Dictionary(sent.map { (ElementKey($0.primaryKey), $0.key) }) { $1 }
      let rows = try ClassPages(connection: connection, one: one.exchange)
        .rows(with: sent.map(\.primaryKey))
      for row in rows.rows {
        guard let key = keys[row.key] else { continue }
        incarnations[ObjectRef(classID: one.id, key: key)] = row.incarnation
      }
    }
    plan.outcome.correct(incarnations)
  }

  /// Whether links wait for new objects of a push.
  private func isAwaited(_ plan: PushPlan) throws(StorageError) -> Bool {
    let objects = ReplicaObjects(try replica.store.newestSnapshot())
    let wanted = Set(plan.outcome.waiting.map(\.key))
    for (one, _, primaryKey) in plan.created {
      guard let bytes = WireValue(primaryKey)?.bytes else { continue }
      if wanted.contains(bytes) { return true }
      if try !WaitingLinks.links(to: one.id, bytes, objects).isEmpty { return true }
    }
    return false
  }

  /// The outcome of a push of commits.
  enum PushOutcome {
    case taken
    /// The same commits can be sent again, as another push.
    case again
    case pullFirst
    case refused(ServerError)
  }

  /// Sends a push of commits, and does what must be done before they can be sent again.
  func sendOnce(_ plan: PushPlan, to last: CommitName) throws -> PushOutcome {
    if let refusal = plan.refusal { return .refused(refusal) }
    switch try send(plan, to: last) {
    case .taken: return .taken
    case .mergeFirst:
      try meet(plan)
      try noteConflict()
      return .pullFirst
    case .otherVersion: return .pullFirst
    case .lost(let incarnations):
      try forget(incarnations)
      return .again
    case .refused(let error): return try hasNewRules(error) ? .again : .refused(error)
    }
  }

  /// Notes that the server has something newer than a push was made from. Mostly the next download
  /// brings it; if it does not, all objects are compared.
  func noteConflict() throws {
    switch conflicts.next(at: replica.state.position) {
    case .download: break
    case .compareAll: try markStale()
    case .giveUp:
      throw ServerError(
        state: "TN001", Self.operation,
        "the server has other values than it sends to this replica",
        hint: "Run 'tarn server status'.")
    }
  }

  /// Conflicts of pushes between which no download brought anything.
  struct Conflicts {
    enum Step { case download, compareAll, giveUp }

    private var position = ServerPosition.none
    private var count = 0

    mutating func next(at position: ServerPosition) -> Step {
      count = position == self.position ? count + 1 : 0
      self.position = position
      return count < 4 ? .download : count < 8 ? .compareAll : .giveUp
    }
  }
}
