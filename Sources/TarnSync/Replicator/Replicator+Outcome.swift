import TarnStore

/// The consequences of the server's answer to a push.
extension Replicator {
  /// Stores the outcome of a push, and sets the links that waited for its new objects.
  func accept(
    _ plan: PushPlan, _ next: ReplicaState, acknowledging place: FeedPlace? = nil
  ) throws(StorageError) {
    let holders = try holders(plan)
    let isAwaited = try isAwaited(plan)
    let successors = try successors(plan)
    guard isAwaited || !holders.isEmpty || !successors.isEmpty else {
      return try replica.keep(next, acknowledging: place, plan.outcome)
    }
    try replica.edit(to: next) { edit, _ throws(StorageError) in
      try edit.take(plan.outcome, leavingAlone: successors)
      for holder in holders { try edit.joinLinks(of: holder) }
      for (one, key, primaryKey) in plan.created {
        // A later commit may have deleted it.
        let present = try edit.session.find(primaryKey: primaryKey, in: one.id)
        if present == key { try edit.join(primaryKey, key, one) }
      }
    }
    if let place { try replica.keep(replica.state, acknowledging: place) }
  }

  /// Reads the incarnations of new objects from the server: a copy of this file may have sent them
  /// in other runs, with other incarnations.
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

  /// The objects that later commits have created with the keys of objects that a push deletes.
  private func successors(
    _ plan: PushPlan
  ) throws(StorageError) -> [(key: ObjectKey, one: ReplicaClass)] {
    var found: [(key: ObjectKey, one: ReplicaClass)] = []
    var reader: SnapshotReader?
    for (id, key, object) in plan.outcome.objects where object == nil {
      guard let one = classes.first(where: { $0.id == id }), one.hasContents else { continue }
      if reader == nil { reader = try SnapshotReader(replica.store.newestSnapshot()) }
      if try reader?.row(key, in: id) != nil { found.append((key, one)) }
    }
    return found
  }

  /// The objects of a push, and objects with waiting links to those that it deletes: others may
  /// have created the targets again while there were unsent changes of the links.
  private func holders(_ plan: PushPlan) throws(StorageError) -> Set<ObjectRef> {
    let snapshot = try replica.store.newestSnapshot()
    var holders = Set(plan.outcome.waiting.map(\.place.object))
    var isAny = false
    for one in classes where !isAny { isAny = try WaitingLinks.isAny(to: one.id, in: snapshot) }
    guard isAny else { return holders }
    let objects = ReplicaObjects(snapshot)
    for (one, key, _) in plan.keys {
      let object = ObjectRef(classID: one.id, key: key)
      if try !WaitingLinks.links(of: object, objects).isEmpty { holders.insert(object) }
    }
    return holders
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
    /// The same commits can be sent again, in another push.
    case again
    case pullFirst
    case refused(ServerError)
  }

  /// Sends a push of commits, and prepares sending them again if necessary.
  func sendOnce(_ plan: PushPlan, to last: CommitName) throws -> PushOutcome {
    if let refusal = plan.refusal { return .refused(refusal) }
    let answer: Push.Answer
    do {
      answer = try send(plan, to: last)
    } catch let error as ServerError {
      guard try hasNewRules(error) else { throw error }
      try noteConflict()
      return .again
    }
    switch answer {
    case .taken:
      conflicts = Conflicts()
      replica.noteSent(plan.time)
      return .taken
    case .mergeFirst:
      try meet(plan)
      try noteConflict()
      return .pullFirst
    case .otherVersion:
      try noteConflict()
      return .pullFirst
    case .lost(let incarnations):
      try noteConflict()
      try forget(incarnations)
      return .again
    case .refused(let error):
      guard try !hasNewRules(error) else {
        try noteConflict()
        return .again
      }
      conflicts = Conflicts()
      return .refused(error)
    }
  }

  /// Notes that the server has newer data than a push was made from. Usually the next download has
  /// it; if not, all objects are compared.
  func noteConflict() throws {
    switch conflicts.next(at: replica.state.position) {
    case .download: break
    case .compareAll: try markStale()
    case .giveUp(let isMoving):
      conflicts = Conflicts()
      throw ServerError(
        state: "TN001", Self.operation,
        isMoving
          ? "other programs change the same values, each time before this replica's commits arrive"
          : "the server has values that it does not send to this replica",
        hint: isMoving
          ? "The replica tries again later. Let fewer programs write the same lists, sets and maps."
          : "Run 'tarn server status'.")
    }
  }
}

/// Consecutive pushes that the server refused because it has newer data.
struct Conflicts {
  enum Step: Equatable {
    case download, compareAll
    /// - Parameter isMoving: whether the downloads between them had changes.
    case giveUp(isMoving: Bool)
  }

  /// The maximum number if the downloads between them had no changes.
  static let standingMax = 8
  /// The maximum number in all: others' commits change the position all the time.
  static let most = 64

  private var position = ServerPosition.none
  private var standing = 0
  private var count = 0

  mutating func next(at position: ServerPosition) -> Step {
    standing = position == self.position ? standing + 1 : 0
    self.position = position
    count += 1
    if standing >= Self.standingMax { return .giveUp(isMoving: false) }
    if count >= Self.most { return .giveUp(isMoving: true) }
    return standing >= Self.standingMax / 2 || count == Self.most / 2 ? .compareAll : .download
  }
}

/// Commits that a copy of this file may have sent, or that a restored server has lost.
extension Replicator {
  /// Sets the objects of a push to their rows, after the server has received its commits from a
  /// copy of the file: the copy may have sent them one by one, and the server may have refused
  /// some.
  func takeBackRefused(_ plan: PushPlan) throws {
    for one in downloaded {
      let sent = plan.keys.filter { $0.class.id == one.id }
      if sent.isEmpty { continue }
      let page = try ClassPages(connection: connection, one: one.exchange)
        .rows(with: sent.map(\.primaryKey), where: one.exchange.filter)
      let present = Set(page.rows.map(\.key))
      let unreadable = Set(page.unreadable.map(\.incarnation))
      let objects = ReplicaObjects(try replica.store.newestSnapshot())
      var missing: [(key: ObjectKey, incarnation: Int64)] = []
      for (_, key, primaryKey) in sent where !present.contains(ElementKey(primaryKey)) {
        guard let known = try objects[one.id, key], !unreadable.contains(known.incarnation) else {
          continue
        }
        missing.append((key, known.incarnation))
      }
      let gone = try Departures(self, one).gone(missing)
      try replica.edit { edit, _ throws(StorageError) in
        for row in page.rows { try edit.apply(row, one) }
        for (key, _) in missing { try edit.depart(key, one, gone: gone) }
        try note(postponedIn: edit)
      }
    }
  }

  /// The entries of the objects changed by commits that a restored server has lost. Their rows are
  /// fetched, even if they equal those of the last download.
  func changedObjects(
    since place: FeedPlace
  ) throws -> [(class: ClassID, key: ObjectKey, object: ReplicaObject?)] {
    let snapshot = try replica.store.newestSnapshot()
    let objects = ReplicaObjects(snapshot)
    let changes = try UnsentChanges(after: place, without: replica.cursor.number, in: snapshot)
    var entries: [(class: ClassID, key: ObjectKey, object: ReplicaObject?)] = []
    for one in classes {
      for key in try changes.keys(in: one.id) {
        guard var object = try objects[one.id, key] else { continue }
        object.version = 0
        entries.append((one.id, key, object))
      }
    }
    return entries
  }
}

/// Commits that the server refused.
extension Replicator {
  /// Rolls back a commit that the server refused.
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
      // Objects that the server does not have are sent in their former state.
      next.hasUploads = true
      try edit.note(commit)
    }
    try tellRefusals()
  }

  /// Reports refused commits. A message is removed when the call has returned.
  func tellRefusals() throws {
    for commit in try replica.refusals() {
      refused(commit)
      try replica.forgetRefusal(of: commit.version)
    }
  }
}

/// The rules of the server's tables that matter to the order of writing.
extension Replicator {
  /// Reads the rules.
  ///
  /// - Returns: whether they differ from the former ones.
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

  /// Whether a push was refused because of a rule that is new on the server since this replicator
  /// was made, so that it may be accepted if it is sent according to that rule.
  func hasNewRules(_ error: ServerError) throws -> Bool {
    // 55000, for example: a key that ON CONFLICT no longer accepts.
    if !error.state.beginsWithBytes(of: "23"), error.state != "55000" { return false }
    return try readRules()
  }
}
