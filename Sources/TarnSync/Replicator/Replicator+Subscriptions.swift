import TarnStore

/// The objects of classes that the file must have, and which of them it has.
extension Replicator {
  /// The classes whose objects are also downloaded.
  var downloaded: [ReplicaClass] { classes.filter { !$0.exchange.isAsymmetric } }

  /// Removes asymmetric objects that the server has.
  func dropSent() throws(StorageError) {
    let sent = ReplicaObjects(try replica.store.newestSnapshot())
    for one in classes where one.exchange.isAsymmetric {
      var keys: [ObjectKey] = []
      try sent.forEach(in: one.id) { key, _ throws(StorageError) in
        keys.append(key)
        return true
      }
      if keys.isEmpty { continue }
      try replica.edit { edit, _ throws(StorageError) in
        for key in keys { try edit.drop(key, one) }
      }
    }
  }

  /// Why the exchange is incomplete: the server lacks properties of the file, cannot evaluate its
  /// subscriptions, or refuses the changes of a class.
  var problem: ServerError? { missing ?? queries.refusal ?? stuck.problem }

  /// Whether all objects that the file must have are here, and no others.
  package var isComplete: Bool { progress.values.allSatisfy(\.isComplete) }

  /// Whether the subscriptions of the file have changed since the last download.
  package var hasNewSubscriptions: Bool {
    get throws(StorageError) {
      try SubscriptionSet.read(in: replica.store.newestSnapshot())?.version ?? 0 != subscribed
    }
  }

  /// Switches to the current subscriptions of the file. From then on the server sends changes for
  /// them; missing objects are fetched and superfluous ones removed step by step.
  func takeUpSubscriptions() throws {
    let snapshot = try replica.store.newestSnapshot()
    let set = try SubscriptionSet.read(in: snapshot)
    if let subscribed, subscribed == set?.version ?? 0, !queries.isRefusalOld { return }
    for index in classes.indices {
      let name = classes[index].described.name
      classes[index].exchange.isAsymmetric = set?.asymmetric.contains(name) == true
    }
    try dropSent()
    let known = try knownProgress(snapshot)
    queries = ReplicatorQueries(set)
    if let set, let problem = try refusal(of: set, known, snapshot) {
      queries.refuse(problem)
      progress = known
      for one in downloaded where known[one.id] == nil { progress[one.id] = ClassProgress() }
      try refuse(set.version, "\(problem)")
      return try take([:], set.version)
    }
    var changed: [ClassID: ClassProgress] = [:]
    for one in downloaded {
      var next = known[one.id] ?? ClassProgress()
      next.take(set.map { $0.queries(on: one.described.name) } ?? [KeptQuery.everything])
      progress[one.id] = next
      if next != known[one.id] { changed[one.id] = next }
    }
    try take(changed, set?.version)
  }

  private func knownProgress(_ snapshot: Snapshot) throws(StorageError) -> [ClassID: ClassProgress]
  {
    let objects = ReplicaObjects(snapshot)
    var known: [ClassID: ClassProgress] = [:]
    for one in downloaded {
      if let progress = try objects.progress(of: one.id) {
        known[one.id] = progress
      } else if replica.state.classes.contains(one.described.name) {
        // From before the file had subscriptions.
        known[one.id] = ClassProgress(
          queries: [KeptQuery.everything], complete: [KeptQuery.everything])
      }
    }
    return known
  }

  /// Translates the queries, and asks the server whether it can evaluate them.
  ///
  /// - Returns: the error, with all classes that it refuses; nil if it can.
  private func refusal(
    of set: SubscriptionSet, _ known: [ClassID: ClassProgress], _ snapshot: Snapshot
  ) throws -> ServerError? {
    var refused: [String: ServerError] = [:]
    for subscription in set.subscriptions where subscription.sql != Subscription.everything {
      guard let condition = subscription.translated(in: snapshot) else {
        refused[subscription.className] = ServerError(
          ReplicatorQueries.operation,
          "the condition on \(subscription.className) cannot be read: \(subscription.condition)",
          hint: "Remove the subscription, and subscribe again.")
        continue
      }
      queries.conditions[KeptQuery(subscription.sql)] = condition
    }
    for one in downloaded where refused[one.described.name] == nil {
      let former = known[one.id]?.queries ?? []
      let new = set.queries(on: one.described.name).filter { !former.contains($0) }
      refused[one.described.name] = try refusal(
        of: new, one, "\(ReplicatorQueries.operation) to \(one.described.name)")
    }
    return Self.joined(refused, ReplicatorQueries.operation)
  }

  /// Asks the server whether it can evaluate queries on a class.
  private func refusal(
    of asked: some Sequence<KeptQuery>, _ one: ReplicaClass, _ operation: String
  ) throws -> ServerError? {
    for query in asked {
      do throws(ServerError) {
        var parameters: [WireParameter] = []
        let text = try queries.condition([query])?.text(adding: &parameters) ?? "true"
        _ = try connection.binary(
          "SELECT FROM \(one.exchange.rows) WHERE \(text) LIMIT 0", parameters, for: operation)
      } catch {
        guard Self.isOfClass(error) else { throw error }
        try noticeOtherClasses(error)
        return error
      }
    }
    return nil
  }

  /// One error for all classes that the server refuses.
  private static func joined(
    _ refused: [String: ServerError], _ operation: String
  ) -> ServerError? {
    let all = refused.sorted { $0.key < $1.key }
    guard all.count > 1, let first = all.first?.value else { return all.first?.value }
    let lines = all.map { name, error in
      let code = error.state.isEmpty ? "" : " (SQLSTATE \(error.state))"
      return "- \(name): \(error.message)\(code)"
    }
    return ServerError(
      state: first.state, operation, "the server refuses \(all.count) classes",
      detail: lines.joined(separator: "\n"))
  }

  /// Whether the server refuses the query of a class: it lacks the right, a column or a type.
  private static func isOfClass(_ error: ServerError) -> Bool {
    error.state.utf8.starts(with: "42".utf8)
  }

  private func refuse(_ version: UInt64, _ reason: String) throws(StorageError) {
    queries.hasFailed = true
    try replica.store.editSubscriptions { set in
      guard set.version == version, set.state != .failed(reason) else { return false }
      set.state = .failed(reason)
      return true
    }
  }

  /// Records in the subscriptions that the server has refused a download, for example because the
  /// role has lost the right to read a class.
  ///
  /// - Returns: the error, with all classes that the server refuses.
  func noteFailure(_ error: ServerError) throws -> ServerError {
    guard Self.isOfClass(error) else { return error }
    var refused: [String: ServerError] = [:]
    for one in downloaded {
      let name = one.described.name
      refused[name] = try refusal(
        of: progress[one.id]?.queries ?? [], one, "read the objects of \(name)")
    }
    let named =
      try Self.joined(refused, "read objects") ?? ServerObstacles.explained(error, connection)
    if let subscribed, subscribed > 0 { try refuse(subscribed, "\(named)") }
    return named
  }

  private func take(_ changed: [ClassID: ClassProgress], _ version: UInt64?) throws {
    var filters: [SQLCondition?] = []
    for one in classes {
      filters.append(try queries.condition(progress[one.id]?.queries ?? []))
    }
    if !changed.isEmpty {
      var next = replica.state
      next.classes.formUnion(classes.map(\.described.name))
      try replica.keep(next, progress: changed)
    }
    subscribed = version ?? 0
    for index in classes.indices {
      classes[index].exchange.filter = filters[index]
    }
    try tellCompletion()
  }

  /// Performs the next step for one class whose objects are not all here.
  ///
  /// - Returns: whether there was a class.
  func fill(clock: Int64) throws -> Bool {
    if try small.fill(self, clock: clock) {
      try tellRecovery()
      try tellCompletion()
      return true
    }
    guard
      // Superfluous objects may wait for commits that are sent only once other objects are here.
      let one = classes.first(where: { progress[$0.id]?.pending.isEmpty == false })
        ?? classes.first(where: { progress[$0.id]?.isIncomplete == true }),
      let known = progress[one.id]
    else {
      try tellRecovery()
      return false
    }
    progress[one.id] = try ClassFilling(self, one, clock: clock).step(known, &pageSize)
    try tellRecovery()
    try tellCompletion()
    return true
  }

  /// Records that the objects of classes equal those of the server.
  func markEqual(_ classes: [ReplicaClass]) throws(StorageError) {
    var equal: [ClassID: ClassProgress] = [:]
    for one in classes {
      guard var next = progress[one.id] else { continue }
      next.complete = Set(next.queries)
      (next.last, next.isBehind) = (nil, false)
      equal[one.id] = next
      progress[one.id] = next
    }
    try replica.keep(replica.state, progress: equal)
    try tellCompletion()
  }

  /// Records the classes with objects that leave later.
  func note(postponedIn edit: ReplicaEdit) throws(StorageError) {
    for id in edit.postponed {
      guard var next = progress[id] else { continue }
      next.hasOthers = true
      progress[id] = next
      edit.note(next, of: id)
    }
  }

  /// Records that a class must be compared, because more has changed than one step can hold.
  func noteBehind(_ one: ReplicaClass, _ edit: ReplicaEdit) throws(StorageError) {
    guard var next = progress[one.id] else { return }
    next.isBehind = true
    progress[one.id] = next
    edit.note(next, of: one.id)
  }

  /// Makes the next download compare all objects.
  func markBehind() throws(StorageError) {
    for (id, known) in progress {
      var next = known
      next.isBehind = true
      progress[id] = next
    }
    try replica.keep(replica.state, progress: progress)
  }

  /// Records in the subscriptions that not all objects are here any more.
  func tellPending() throws(StorageError) {
    guard progress.values.contains(where: \.isBehind), let subscribed, subscribed > 0 else {
      return
    }
    try replica.store.editSubscriptions { set in
      guard set.version == subscribed, set.state == .complete else { return false }
      set.state = .pending
      return true
    }
  }

  /// Records in the subscriptions that the server answers again.
  private func tellRecovery() throws(StorageError) {
    guard queries.hasFailed, queries.refusal == nil, let subscribed else { return }
    queries.hasFailed = false
    let state: SubscriptionSet.State = isComplete ? .complete : .pending
    try replica.store.editSubscriptions { set in
      guard set.version == subscribed, case .failed = set.state else { return false }
      set.state = state
      return true
    }
  }

  private func tellCompletion() throws(StorageError) {
    guard isComplete, let subscribed, subscribed > 0,
      try SubscriptionSet.read(in: replica.store.newestSnapshot())?.state == .pending
    else { return }
    try replica.store.editSubscriptions { set in
      guard set.version == subscribed, set.state == .pending else { return false }
      set.state = .complete
      return true
    }
  }

  /// Fetches the objects with the keys of new ones in a push, unless the next download has them:
  /// they are the same objects.
  func meet(_ plan: PushPlan) throws {
    let position = replica.state.position
    for one in classes {
      if one.exchange.isAsymmetric { continue }
      if one.exchange.filter == nil, progress[one.id]?.isComplete == true { continue }
      let isComing = [one.exchange.filter, SQLCondition(sql: position.isNew)].compactMap(\.self)
      let sent = plan.keys.filter { $0.class.id == one.id }
      if sent.isEmpty { continue }
      let keys = Dictionary(sent.map { (ElementKey($0.primaryKey), $0.key) }) { $1 }
      let rows = try ClassPages(connection: connection, one: one.exchange)
        .rows(
          with: sent.map(\.primaryKey), where: "NOT (\(SQLCondition.joined(isComing, " AND ")))"
        ).rows
      if rows.isEmpty { continue }
      try replica.edit { edit, _ throws(StorageError) in
        for row in rows {
          if let key = keys[row.key] { try edit.meet(row, key, one) }
        }
        // Objects that no subscription selects leave once the push is accepted.
        edit.postpone(one.id)
        try note(postponedIn: edit)
      }
    }
  }
}
