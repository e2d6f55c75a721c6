import TarnStore

/// Unsent commits that were joined.
extension Replicator {
  private static let objectsMax = 10_000

  /// Sends the net changes of joined commits: as one transaction, unless there are too many, or the
  /// server refuses some.
  func sendJoined() throws -> Sending {
    if replica.state.joinedTime == 0 { return .nothing }
    if try sendJoined(of: classes) == .pullFirst { return .pullFirst }
    try endJoined()
    return .sent
  }

  /// The same for the changes of some classes.
  func sendJoined(of some: [ReplicaClass]) throws -> Sending {
    var (count, sending) = (Self.objectsMax, Sending.nothing)
    while replica.state.joinedTime != 0 {
      let (state, snapshot) = (replica.state, try replica.snapshot())
      let joined = try firstJoined(count, snapshot, of: some)
      if joined.isEmpty { break }
      sending = .sent
      let plan = try PushPlan(
        joined, classes, state, without: replica.cursor.number, in: snapshot, bytesMax: pushBytes)
      if plan.isTooLarge {
        count = max(1, joined.count / 2)
        continue
      }
      if plan.lacksContents {
        try noteConflict()
        try markStale()
        return .pullFirst
      }
      let name = self.name(of: joined, state)
      let isEmpty = plan.classes.isEmpty && plan.refusal == nil
      switch isEmpty ? .taken : try sendOnce(plan, to: name) {
      case .taken:
        count = min(Self.objectsMax, count * 2)
        try acceptJoined(plan, plan.classes.isEmpty ? state.sent : name)
      case .again: break
      case .pullFirst: return .pullFirst
      case .refused(let error):
        if joined.count == 1 { try takeBack(plan, error) }
        count = max(1, joined.count / 2)
      }
    }
    return sending
  }

  /// Records that all joined changes are sent.
  func endJoined() throws(StorageError) {
    var next = replica.state
    next.joinedTime = 0
    try replica.keep(next, ReplicaOutcome(joined: allJoined(replica.store.newestSnapshot())))
    try joinWaiting()
  }

  /// Sets the waiting links whose targets exist here: joining commits has recorded links to deleted
  /// objects that other replicas may have created again since.
  private func joinWaiting() throws(StorageError) {
    let snapshot = try replica.store.newestSnapshot()
    var holders: Set<ObjectRef> = []
    for one in classes {
      try WaitingLinks.forEach(to: one.id, in: snapshot) { holders.insert($0.place.object) }
    }
    if holders.isEmpty { return }
    try replica.edit { edit, _ throws(StorageError) in
      for holder in holders { try edit.joinLinks(of: holder) }
    }
  }

  /// The first changes in the order of classes. Classes that foreign keys refer to come first, and
  /// deletions last: otherwise the server would apply its rules to rows that refer to a deleted one
  /// before it knows that they no longer do.
  func firstJoined(
    _ count: Int, _ snapshot: Snapshot, of some: [ReplicaClass]
  ) throws(StorageError) -> [JoinedChanges.Entry] {
    let joined = JoinedChanges(snapshot)
    var first: [JoinedChanges.Entry] = []
    func add(
      _ one: ReplicaClass, _ isWanted: (JoinedChange) -> Bool
    ) throws(StorageError) {
      if first.count >= count { return }
      try joined.forEach(in: one.id) { key, change throws(StorageError) in
        if isWanted(change) { first.append((ObjectRef(classID: one.id, key: key), change)) }
        return first.count < count
      }
    }
    let order = ForeignKey.parentsFirst(some.map(\.exchange)).map { some[$0] }
    guard order.contains(where: { !$0.exchange.rules.foreignKeys.isEmpty }) else {
      for one in order { try add(one) { _ in true } }
      return first
    }
    for one in order { try add(one) { !$0.isDeletion } }
    for one in order.reversed() { try add(one) { $0.isDeletion } }
    return first
  }

  /// The name of a push of joined changes: a version that no other push will have, and an id by
  /// which the push is identified if its answer is lost.
  ///
  /// There are as many versions as joined commits. Further pushes, such as those of one large
  /// commit, are repeated if their answers are lost.
  private func name(of joined: [JoinedChanges.Entry], _ state: ReplicaState) -> CommitName {
    guard state.sent.version < state.done.version.rawValue, let last = joined.last else {
      return state.sent
    }
    return CommitName(
      version: state.sent.version + 1, id: Self.id(joined.count, last.object, state))
  }

  private static func id(_ count: Int, _ last: ObjectRef, _ state: ReplicaState) -> UInt64 {
    let name = PushName(replica: state.id, commit: state.done.commitID &+ UInt64(count))
    return UInt64(bitPattern: name.incarnation(of: last.key, in: last.classID))
  }

  /// The push of joined changes whose answer was lost.
  ///
  /// - Parameter own: the last commit that the server has.
  private func joinedPlan(_ own: CommitName) throws -> PushPlan? {
    let (state, snapshot) = (replica.state, try replica.store.newestSnapshot())
    guard state.joinedTime != 0, own.version == state.sent.version + 1,
      own.version <= state.done.version.rawValue
    else { return nil }
    // Of all classes, or of one class that was sent separately.
    for some in [classes] + classes.map({ [$0] }) {
      let joined = try firstJoined(Self.objectsMax, snapshot, of: some)
      let last = joined.indices.first { Self.id($0 + 1, joined[$0].object, state) == own.id }
      guard let last else { continue }
      return try PushPlan(
        Array(joined[...last]), classes, state, without: replica.cursor.number, in: snapshot,
        bytesMax: .max)
    }
    return nil
  }

  /// Records that a push of joined changes whose answer was lost has been sent.
  ///
  /// - Returns: whether there was one.
  func acceptJoined(_ own: CommitName) throws -> Bool {
    guard let plan = try joinedPlan(own) else { return false }
    try acceptJoined(plan, own)
    return true
  }

  private func acceptJoined(_ plan: PushPlan, _ name: CommitName) throws(StorageError) {
    var next = replica.state
    (next.sent, next.attempt) = (name, nil)
    try accept(plan, next)
    try noteOthers(plan)
    try dropSent()
  }

  /// New objects that no subscription selects must leave. If a push is repeated, a download has
  /// reported that before they were known.
  private func noteOthers(_ plan: PushPlan) throws(StorageError) {
    var others: [ClassID: ClassProgress] = [:]
    for (one, _, _) in plan.created where one.exchange.filter != nil {
      guard var next = progress[one.id] else { continue }
      next.hasOthers = true
      others[one.id] = next
    }
    if others.isEmpty { return }
    progress.merge(others) { $1 }
    try replica.keep(replica.state, progress: others)
  }

  /// The objects with joined changes, including those of classes that are no longer exchanged.
  func allJoined(_ snapshot: Snapshot) throws(StorageError) -> [ObjectRef] {
    let joined = JoinedChanges(snapshot)
    var others: [ObjectRef] = []
    for one in snapshot.schema.schema.classes {
      for key in try joined.keys(in: one.id) { others.append(ObjectRef(classID: one.id, key: key)) }
    }
    return others
  }

  /// Records that a push has been sent which the server has, and whose commits were joined with
  /// later ones since. Every row is fetched, because others may have written them meanwhile.
  func settle(_ last: CommitName) throws(StorageError) {
    let state = replica.state
    let snapshot = try replica.store.newestSnapshot()
    let joined = JoinedChanges(snapshot)
    let name = PushName(replica: state.id, commit: last.id)
    var objects = ReplicaObjects(snapshot)
    let locals = try LocalContents(
      state, replica.names, without: replica.cursor.number, in: snapshot)
    for one in classes {
      try joined.forEach(in: one.id) { key, change throws(StorageError) in
        if one.hasContents { try settleContents(of: key, one, last, locals, &objects) }
        var rest = change
        rest.drop(through: last.version)
        if rest == change { return true }
        let record = JoinedChanges.key(one.id, key)
        objects.set(record, rest.isEmpty ? nil : rest.encoded)
        if change.deleted > rest.deleted { try objects.forget(key, in: one.id) }
        if change.created != nil, rest.created == nil {
          let known = try objects[one.id, key]
          let incarnation = known?.incarnation ?? name.incarnation(of: key, in: one.id)
          try objects.set(ReplicaObject(incarnation: incarnation, version: 0), key, in: one.id)
        }
        return true
      }
    }
    var next = state
    (next.sent, next.attempt, next.isStale) = (last, nil, true)
    objects.set(next)
    try replica.keep(next, objects.records)
  }

  /// Makes the contents that were stored with the push those of the server, merged with those that
  /// were downloaded by then.
  private func settleContents(
    of key: ObjectKey, _ one: ReplicaClass, _ last: CommitName, _ locals: LocalContents,
    _ objects: inout ReplicaObjects
  ) throws(StorageError) {
    var table = try objects.contents(of: key, in: one.id)
    for property in one.exchange.others {
      guard let coder = property.contents, let kept = table[property.id], kept.count > 1,
        let sent = kept.first, sent.version == last.version, var newest = kept.last
      else { continue }
      let base = coder.content(sent.server, at: sent.stamp)
      var (server, time) = (sent.shown(coder), sent.stamp.time)
      for met in kept.dropFirst().dropLast() {
        server = locals.merged(
          base, coder.content(met.server, at: met.stamp), sent.shown(coder), coder)
        time = met.stamp.time
      }
      newest.server = coder.wire(server)
      newest.stamp = Stamp(
        max(replica.state.attempt?.time ?? 0, time + 1), by: replica.state.number)
      table[property.id] = [newest]
      objects.set(table, of: key, in: one.id)
    }
  }
}
