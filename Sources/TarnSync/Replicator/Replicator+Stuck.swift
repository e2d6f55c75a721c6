internal import Glibc
import TarnStore

/// Pushes to which the server gives the same answer repeatedly, for a reason other than the values
/// of their objects.
///
/// After some of them the commits are joined, and each class is sent separately. A class whose
/// changes the server refuses is stuck: the session retries it occasionally, and records it in the
/// file, while it exchanges the others. When no class is stuck any more, commits are sent as usual.
extension Replicator {
  /// The number of equal answers to one push after which its class is stuck.
  static let equalAnswersMax: UInt64 = 5

  /// When to retry each class. The times belong to this session: another session retries at once.
  struct StuckTimes {
    private var backoffs: [String: Backoff] = [:]
    private var times: [String: ContinuousClock.Instant] = [:]

    func isWaiting(_ name: String) -> Bool { times[name].map { $0 > .now } ?? false }

    mutating func wait(_ name: String) {
      var backoff = backoffs[name] ?? Backoff(first: .seconds(1), last: .seconds(60))
      times[name] = .now + backoff.next()
      backoffs[name] = backoff
    }

    mutating func end(_ name: String) { (backoffs[name], times[name]) = (nil, nil) }

    /// Allows everything to be retried at once.
    mutating func endAll() { times = [:] }
  }

  /// Sends all unsent changes.
  package func sendAll() throws -> Sending {
    // A commit may have set a property that the server lacks, and would count as sent without it.
    if missing != nil { return .nothing }
    let hasSkipped = try takeBackSkipped()
    let sending: Sending
    isUploading = false
    do {
      sending = try isApart ? sendApart() : sendInOrder()
    } catch let error as ServerError {
      try noticeOtherClasses(error)
      guard try !isApart && counts(error) else { throw error }
      isApart = true
      sending = try sendApart()
    }
    return hasSkipped && sending == .nothing ? .sent : sending
  }

  /// Counts an answer to the next push.
  ///
  /// - Returns: whether the classes must be sent separately now.
  private func counts(_ error: ServerError) throws(StorageError) -> Bool {
    guard ServerRefusal(error.state) == .stuck else { return false }
    // For objects and joined commits, the version grows with the session's own commits.
    let state = replica.state
    let after = isUploading || state.joinedTime != 0 ? 0 : state.done.version.rawValue
    var next = stuck
    if next.failure?.after != after || next.failure?.state != error.state {
      next.failure = StuckClasses.Failure(after: after, state: error.state, count: 0)
    }
    next.failure?.count += 1
    try keep(next)
    return next.failure?.count ?? 0 >= Self.equalAnswersMax
  }

  /// Downloads and sends everything, for a program that does it once: refused changes are sent
  /// again until the class that blocks the others is known, and the others are sent.
  ///
  /// - Parameter pause: waits.
  package func synchronizeOnce(pausing pause: (Duration) -> Void) throws {
    var backoff = Backoff(first: .milliseconds(100), last: .seconds(1))
    var former = stuck.failure
    // Differing answers end the loop, too.
    for _ in 0..<2 * Self.equalAnswersMax {
      do {
        return try synchronize()
      } catch let error as ServerError {
        if isApart || stuck.failure == former { throw error }
        former = stuck.failure
        pause(backoff.next())
      }
    }
    try synchronize()
  }

  private func keep(_ next: StuckClasses) throws(StorageError) {
    if next == stuck { return }
    var objects = ReplicaObjects(try replica.store.newestSnapshot())
    next.store(in: &objects)
    try replica.cursor.keep(objects.records)
    stuck = next
  }

  /// Sends the changes of each class separately.
  private func sendApart() throws -> Sending {
    guard try joinAll() else { return .pullFirst }
    var hasSent = false
    for one in classes where !stuckTimes.isWaiting(one.described.name) {
      do {
        switch try sendAll(of: one) {
        case .nothing: break
        case .sent: hasSent = true
        case .pullFirst: return .pullFirst
        }
        try noteTaken(one)
      } catch let error as ServerError where ServerRefusal(error.state) == .stuck {
        try noteStuck(one, error)
      }
    }
    guard stuck.classes.isEmpty else { return hasSent ? .sent : .nothing }
    if replica.state.joinedTime != 0 { try endJoined() }
    try keep(StuckClasses())
    // Does the remaining work, such as recording that nothing is left to send.
    isApart = false
    return .sent
  }

  private func sendAll(of one: ReplicaClass) throws -> Sending {
    let joined = try sendJoined(of: [one])
    if joined == .pullFirst { return joined }
    guard replica.state.hasUploads, isComplete else { return joined }
    let uploaded = try upload(one)
    return uploaded == .nothing ? joined : uploaded
  }

  /// Joins all unsent commits, because parts of them will be sent before others.
  ///
  /// - Returns: false if something must be downloaded first.
  private func joinAll() throws(StorageError) -> Bool {
    if try UnsentJoin.run(replica, above: 0) { return true }
    let (state, snapshot) = (replica.state, try replica.snapshot())
    // The server may have the joined changes whose answer is missing.
    return state.done.version >= snapshot.version || state.attempt?.isJoined != true
  }

  private func noteTaken(_ one: ReplicaClass) throws(StorageError) {
    let name = one.described.name
    guard stuck[name] != nil else { return }
    stuckTimes.end(name)
    try forgetStuck(name)
  }

  func forgetStuck(_ name: String) throws(StorageError) {
    var next = stuck
    next.classes.removeAll { $0.className == name }
    try keep(next)
  }

  private func noteStuck(_ one: ReplicaClass, _ error: ServerError) throws(StorageError) {
    let name = one.described.name
    stuckTimes.wait(name)
    var next = stuck
    if let place = next.classes.firstIndex(where: { $0.className == name }) {
      next.classes[place].error = error
      next.classes[place].attempts += 1
    } else {
      let now = Int64(time(nil)) * 1_000_000
      next.classes.append(StuckClass(className: name, error: error, since: now))
    }
    try keep(next)
  }

  // MARK: - Skipping

  /// Rolls back the changes that a user skipped, except for commits that are not next.
  ///
  /// - Returns: whether there were any.
  private func takeBackSkipped() throws -> Bool {
    let request = try SkipRequest.read(in: replica.store.newestSnapshot())
    skipped = request
    let done = replica.state.done.version
    if request.versions.contains(where: { $0 <= done.rawValue }) {
      // It was sent or joined meanwhile.
      try SkipRequest.end(replica) { $0.remove(through: done) }
    }
    if request.classes.isEmpty { return false }
    for name in request.classes.sorted() {
      if let one = classes.first(where: { $0.described.name == name }) {
        try takeBackJoined(one)
        try takeBackOlder(one)
      }
      try forgetStuck(name)
      try SkipRequest.end(replica) { $0.remove(class: name) }
    }
    return true
  }

  private func takeBackJoined(_ one: ReplicaClass) throws {
    while replica.state.joinedTime != 0 {
      let snapshot = try replica.snapshot()
      let joined = try firstJoined(1_000, snapshot, of: [one])
      if joined.isEmpty { break }
      let plan = try PushPlan(
        joined, classes, replica.state, without: replica.cursor.number, in: snapshot,
        bytesMax: .max)
      try takeBack(plan, RefusedCommit.skipped)
    }
  }

  /// Deletes objects that the server never had, or has lost, and that no unsent commit changed.
  private func takeBackOlder(_ one: ReplicaClass) throws {
    guard replica.state.hasUploads else { return }
    let snapshot = try replica.snapshot()
    let reader = try SnapshotReader(snapshot)
    let unsent = try UnsentChanges(
      after: replica.state, without: replica.cursor.number, in: snapshot)
    let keys = try unsent.lacking(in: one.id, reader)
    for start in stride(from: 0, to: keys.count, by: 1_000) {
      let part = keys[start..<min(start + 1_000, keys.count)]
      let primaryKeys = try part.map { try primaryKey(of: $0, one, reader) }
      try replica.edit { edit, _ throws(StorageError) in
        for key in part { try edit.remove(key, one) }
      }
      refused(
        RefusedCommit(
          version: 0, objects: primaryKeys.map { (one.described.name, $0) },
          error: RefusedCommit.skipped))
    }
    unwelcome = unwelcome.filter { $0.classID != one.id }
    try keepUnwelcome()
  }

  /// Rolls back the next commit if a user has skipped it.
  ///
  /// - Parameter end: the end of the next push.
  /// - Returns: the end of a push without commits to skip; nil if the next commit was skipped.
  func endBeforeSkipped(_ end: Version, _ snapshot: Snapshot) throws -> Version? {
    let done = replica.state.done.version
    guard let next = skipped.next(after: done), next <= end else { return end }
    let last = Version(next.rawValue - 1)
    if last > done { return last }
    try skip(next, snapshot)
    return nil
  }

  private func skip(_ version: Version, _ snapshot: Snapshot) throws {
    let unsent = try UnsentChanges(
      after: replica.state.done, through: version, without: replica.cursor.number, in: snapshot)
    let plan = try PushPlan(
      unsent, classes, replica.state, without: replica.cursor.number, in: snapshot)
    try takeBack(plan, RefusedCommit.skipped)
    try SkipRequest.end(replica) { $0.remove(version: version) }
    skipped.remove(version: version)
  }
}
