import TarnStore

/// A replica with a connection to its server: its rounds of downloading and sending. For one thread
/// at a time.
package final class Replicator {
  let replica: Replica
  let connection: ServerConnection
  var classes: [ReplicaClass] = []
  /// The same classes with the server's definitions when the replicator was created.
  private(set) var entries: [ServerCatalog.Entry] = []
  /// The progress of each class.
  var progress: [ClassID: ClassProgress] = [:]
  /// The version of the subscriptions that the server was asked about, or has refused.
  var subscribed: UInt64?
  /// The queries of the subscriptions.
  var queries = ReplicatorQueries()
  var pageSize = PageSize()
  /// The numbers of rows of classes whose first pages were not fetched yet, if they are small.
  var small = SmallClasses()
  /// The maximum number of pages in a step of a first download; the server reads the next one while
  /// one is stored. Tests lower it.
  var pagesMax = 8
  /// The maximum size of a class's changes in one step; tests lower it.
  var stepBytes = Pull.stepBytesMax
  /// The maximum size of a push's values, unless it has one commit; tests lower it.
  var pushBytes = 32 << 20
  /// The number of objects from before the first session in a push; tests lower it.
  var uploadMax = 1_000
  /// The maximum number of commits in a push; lower after a refusal.
  private var run = PushRun.commitsMax
  var conflicts = Conflicts()
  /// Objects that the server has refused. They are tried again in the next session.
  var unwelcome: Set<ObjectRef> = []
  /// Their classes.
  var older = StuckClasses()
  /// Called for each commit that the server refused, after it was rolled back; again in the next
  /// session if this one ends before the call has returned.
  let refused: (RefusedCommit) -> Void
  private let resetting: ResetRule
  /// Why nothing is sent: the server lacks properties of the file. Downloads continue.
  private(set) var missing: ServerError?
  /// Whether rows were fetched again that another reader has left out.
  var hasReadLeftOut = false
  /// Whether the file knows the tables of the classes.
  var hasTables = false
  /// The classes whose changes the server refuses.
  var stuck = StuckClasses()
  var stuckTimes = StuckTimes()
  /// Whether each class is sent separately, because one is stuck.
  var isApart = false
  /// Whether objects are being sent that no unsent commit changed.
  var isUploading = false
  /// The commits to roll back instead of sending them.
  var skipped = SkipRequest()
  /// Whether the unsent commits may include a migration.
  private var mayHaveMigrated = true
  /// Whether it has downloaded since it was made.
  var hasPulled = false
  /// The statements that follow the commit of a push of some classes.
  var following: ([ReplicaClass]) -> [String] = { _ in [] }
  /// Called after the server's answer to a push, before it is processed: tests lose answers here.
  var answered: () throws -> Void = {}

  static let operation = ServerSetup.exchange
  /// The message of the function that registers a replica.
  private static let otherLogin = "the replica belongs to another role"
  /// The maximum number of consecutive downloads because the server turns out to be another one.
  private static let attemptsMax = 8
  private static let unsteady = ServerError(
    operation, "each answer comes from another server, or from one that was restored",
    hint: "Use the address of one server, not of a proxy for several.")
  /// The number of commits irrelevant to the server that are passed only in memory.
  private static let unkeptMax: UInt64 = 256
  /// Without changes, the position is stored after this many transactions of the server.
  private static let unkeptPositions: UInt64 = 1_000

  /// - Throws: `ServerError` if the server lacks a class, or refuses the login.
  package init(
    _ replica: Replica, _ connection: ServerConnection, resetting: ResetRule = .standard,
    refused: @escaping (RefusedCommit) -> Void = { _ in }
  ) throws {
    self.resetting = resetting
    self.replica = replica
    self.connection = connection
    self.refused = refused
    try register()
    entries = try ServerCatalog(connection, Self.operation).entries(named: replica.names)
    let snapshot = try replica.store.newestSnapshot()
    let schema = snapshot.schema.schema
    replica.epoch = snapshot.schema.epoch
    for (name, entry) in zip(replica.names, entries) {
      guard let described = schema.named(name), !described.isVacant else {
        throw ServerError(Self.operation, "the file does not have a class \(name)")
      }
      classes.append(
        try ReplicaClass(entry, described, schema, among: replica.names, in: snapshot))
    }
    classes.sort { $0.exchange.id < $1.exchange.id }
    try readRules()
    missing = Self.missing(classes)
    stuck = try StuckClasses.read(in: replica.store.newestSnapshot())
    isApart = !stuck.classes.isEmpty || stuck.failure?.count ?? 0 >= Self.equalAnswersMax
    // They are tried again.
    try keepUnwelcome()
    try noteExchangedNames()
    // The first download of a class may have been interrupted before.
    for one in classes { try IndexMaking.run(one.id, replica) }
    try tellRefusals()
  }

  private func register() throws {
    let rows: [[String?]]
    do throws(ServerError) {
      rows = try connection.query(
        "SELECT tarn.register($1)", [replica.state.idText], for: Self.operation)
    } catch {
      guard error.state == "42501", error.message == Self.otherLogin else { throw error }
      // The file has been exchanged by another login, which may have seen other rows.
      return try begin(comparing: true)
    }
    guard let number = rows.first?[0].flatMap({ UInt32($0) }) else {
      throw ServerError(Self.operation, "the server gave the replica no number")
    }
    guard number != replica.state.number else { return }
    var next = replica.state
    next.number = number
    try replica.keep(next)
  }

  /// Downloads and sends until nothing is left of either.
  package func synchronize() throws {
    repeat { try pull() } while try sendAll() != .nothing || !isComplete
    if let problem { throw problem }
  }

  /// Sends all unsent changes, commit by commit.
  func sendInOrder() throws -> Sending {
    let joined = try sendJoined()
    if joined == .pullFirst { return joined }
    var hasSent = joined == .sent
    while true {
      switch try push() {
      case .nothing:
        isUploading = true
        let sending = try upload()
        return sending == .nothing && hasSent ? .sent : sending
      case .passed: break
      case .sent: hasSent = true
      case .pullFirst: return .pullFirst
      }
    }
  }

  /// The outcome of sending.
  package enum Sending: Equatable {
    case nothing, sent
    /// Something must be downloaded first.
    case pullFirst
  }

  // MARK: - Down

  /// Downloads the server's changes.
  ///
  /// - Parameters:
  ///   - looks: whether to ask first whether there are changes, which is cheapest if there are
  ///     none.
  ///   - expected: the server's numbers of classes that have probably changed, so that asking and
  ///     reading are one round trip.
  /// - Returns: whether there were changes.
  @discardableResult
  package func pull(
    looking looks: Bool = false, expecting expected: Set<Int> = []
  ) throws -> Bool {
    do {
      let hasChanged = try download(looking: looks, expecting: expected)
      return try sendClashes() || hasChanged
    } catch let error as ServerError {
      try noticeOtherClasses(error)
      throw try noteFailure(error)
    }
  }

  /// Sends unsent changes with the same unique values as the server's rows, which the server
  /// refuses, and stores these rows.
  private func sendClashes() throws -> Bool {
    guard replica.hasClashes else { return false }
    while try replica.hasClashes && sendAll() != .nothing { try download() }
    return true
  }

  /// - Parameter attempt: how often the server's last answers have led to another download.
  @discardableResult
  private func download(
    looking looks: Bool = false, expecting expected: Set<Int> = [], attempt: Int = 0
  ) throws -> Bool {
    guard attempt < Self.attemptsMax else { throw Self.unsteady }
    try takeUpSubscriptions()
    let answer = try Pull(
      connection: connection, replica: replica.state.idText, server: replica.state.server,
      stepBytes: stepBytes
    ).run(
      downloaded.map(\.exchange), since: replica.state.position, looking: looks, expecting: expected
    )
    guard let own = answer.own else {
      // It was restored to a time before this replica.
      try register()
      return try download(attempt: attempt + 1)
    }
    replica.noteClock(answer.clock)
    let isSame = answer.server == replica.state.server
    if try acceptJoined(CommitName(own)) { return try download(attempt: attempt + 1) }
    let standing = try ReplicaStanding(own, replica, isSameServer: isSame)
    if case .stranger = standing { try begin() } else { try take(standing, own) }
    if mayHaveMigrated {
      try UnsentJoin.passMigrations(replica)
      mayHaveMigrated = false
    }
    if let lacking = classes.first(where: { answer.missing.contains($0.exchange.id) }) {
      throw ServerError(Self.operation, "the server has dropped class \(lacking.described.name)")
    }
    try takeUpTables()
    if replica.state.server.isEmpty {
      // Everything is fetched in pages, and the changes from here on separately.
      var next = replica.state
      (next.server, next.position) = (answer.server, answer.position)
      try replica.keep(next)
      // A copy of this file has sent some of its commits: their objects may have to leave.
      if standing != .same { try markBehind() }
      return try fill(clock: answer.clock)
    }
    let state = replica.state
    let isPruned = answer.pruned >= state.position.end && state.position != .none
    // A server that crashed before its last commits were durable assigns their ids again.
    let isBack = answer.position.end < state.position.end
    let isOther = !isSame || isBack
    let isReset = isOther || isPruned
    if isOther || isReset && standing == .stranger { try markStale() }
    if isReset || standing == .stranger || state.isStale {
      let rule = isReset ? resetting : .standard
      try rule.run(self) {
        try ReplicaReconciliation(self, isOtherServer: isOther).run(downloaded, all: true)
        try markEqual(downloaded)
      }
      return try download(attempt: attempt + 1)
    }
    try noticeMigration(answer)
    try readLeftOutAgain()
    let others = downloaded.filter {
      answer.renewed.contains($0.exchange.id) || progress[$0.id]?.isBehind == true
    }
    if !others.isEmpty {
      try ReplicaReconciliation(self, isOtherServer: false).run(others, all: false)
      try markEqual(others)
    }
    let hasChanged = try apply(answer)
    return try fill(clock: answer.clock) || hasChanged
  }

  /// - Returns: whether there were changes.
  private func apply(_ answer: Pull.Answer) throws -> Bool {
    if answer.changes.isEmpty {
      // An idle replica writes nothing: an older position only makes it ask for more.
      if answer.position.end - replica.state.position.end >= Self.unkeptPositions {
        var next = replica.state
        next.position = answer.position
        try replica.keep(next)
      }
      return false
    }
    var leaving: [ClassID: (keys: [ObjectKey], gone: Set<Int64>?)] = [:]
    for one in classes {
      guard let changes = answer.changes[one.exchange.id], !changes.isTooLarge else { continue }
      let objects = try self.leaving(changes, one)
      leaving[one.id] = (objects.map(\.key), try Departures(self, one).gone(objects))
    }
    try replica.edit(clock: answer.clock) { edit, next throws(StorageError) in
      for one in classes {
        guard let changes = answer.changes[one.exchange.id] else { continue }
        let (keys, gone) = leaving[one.id] ?? ([], nil)
        for key in keys { try edit.depart(key, one, gone: gone) }
        try edit.forgetLeftOut(changes.departed, one)
        try changes.forEachRow(
          { row throws(StorageError) in try edit.apply(row, one) },
          unreadable: { row throws(StorageError) in try edit.leaveOut(row, one) })
        if changes.isTooLarge { try noteBehind(one, edit) }
      }
      next.position = answer.position
      try note(postponedIn: edit)
    }
    try tellPending()
    return true
  }

  /// The objects that changed on the server and that it has not sent.
  private func leaving(
    _ changes: Pull.Changes, _ one: ReplicaClass
  ) throws -> [(key: ObjectKey, incarnation: Int64)] {
    let departed = changes.departed
    if departed.isEmpty { return [] }
    let objects = ReplicaObjects(try replica.store.newestSnapshot())
    return try objects.keys(of: departed, in: one.id).map { ($0.value, $0.key) }
  }

  /// Continues as a separate replica: the file was copied, or restored from a backup, or it is
  /// exchanged with another login.
  ///
  /// - Parameter compares: whether the next download compares all objects.
  private func begin(comparing compares: Bool = false) throws {
    var next = replica.state
    if compares { next.isStale = true }
    next.id = .random()
    next.sent = CommitName()
    next.attempt = nil
    next.number = 0
    let sent = next.done.version.rawValue
    if let needed = next.authors.lastIndex(where: { $0.version <= sent }) {
      next.authors.removeFirst(needed)
    }
    let version = try replica.store.newestSnapshot().version.rawValue
    next.authors.append(
      LocalContents.Author(version: version, number: .random(in: 1 ... .max)))
    try replica.keep(next)
    try register()
  }

  /// Stores which of this replica's commits the server has.
  private func take(
    _ standing: ReplicaStanding, _ own: (version: Int64, commit: Int64)
  ) throws {
    var next = replica.state
    next.attempt = nil
    switch standing {
    case .stranger: return
    case .same: return try next == replica.state ? () : replica.keep(next)
    case .joined(let last): return try settle(last)
    case .ahead(let place):
      next.sent = CommitName(place)
      if next.done.version < place.version {
        let sent = try plan(upTo: place)
        next.done = place
        guard var sent else {
          next.isStale = true
          return try replica.keep(next)
        }
        try correct(&sent)
        try accept(sent, next)
        return try takeBackRefused(sent)
      }
    case .behind(let place, let isAll):
      // A restored server: the commits that it has lost are sent again.
      next.sent = CommitName(own)
      if !isAll { next.isStale = true }
      var outcome = ReplicaOutcome(objects: try changedObjects(since: place))
      if place.version < next.done.version {
        mayHaveMigrated = true
        // The change records also have the changes that were joined.
        next.joinedTime = 0
        outcome.joined = try allJoined(replica.store.newestSnapshot())
      }
      next.done = place
      return try replica.keep(next, outcome)
    }
    try replica.keep(next)
  }

  /// Makes the next downloads fetch every row. For example after a restore: the server has lost
  /// pushes of this file, and rows that they changed may have the version of the download before
  /// them again. And its new transactions have ids of lost ones, so rows of the same version may
  /// differ.
  func markStale() throws(StorageError) {
    var next = replica.state
    next.isStale = true
    try replica.keep(next)
  }

  /// The push whose answer was lost.
  ///
  /// - Returns: nil if its contents cannot be read: it is before a migration.
  private func plan(upTo place: FeedPlace) throws -> PushPlan? {
    let (state, number) = (replica.state, replica.cursor.number)
    let snapshot = try replica.store.newestSnapshot()
    let sent = try UnsentChanges(
      after: state.done, through: place.version, without: number, limit: state.limit,
      in: snapshot)
    guard sent.range.to == place.version else { return nil }
    let later = try UnsentChanges(after: place, without: number, in: snapshot)
    if later.range.lastMigration != nil { return nil }
    return try PushPlan(sent, classes, state, without: number, in: snapshot)
  }

  // MARK: - Up

  /// Commits that are not for the server are passed: no hint follows them.
  private enum Outcome { case nothing, passed, sent, pullFirst }

  /// Sends the next run of commits.
  private func push() throws -> Outcome {
    let state = replica.state
    let snapshot = try replica.snapshot()
    let runEnd = try PushRun.end(after: state.done.version, atMost: run, in: snapshot)
    guard let runEnd else { return .nothing }
    guard let end = try endBeforeSkipped(runEnd, snapshot) else { return .sent }
    let unsent = try UnsentChanges(
      after: state.done, through: end, without: replica.cursor.number, limit: state.limit,
      in: snapshot)
    let plan = try PushPlan(
      unsent, classes, state, without: replica.cursor.number, in: snapshot, bytesMax: pushBytes)
    if plan.isTooLarge {
      run = max(1, unsent.range.commits / 2)
      return .passed
    }
    if plan.lacksContents {
      try noteConflict()
      try markStale()
      return .pullFirst
    }
    guard !plan.isEmpty else {
      let isOfConcern = try classes.contains { try !unsent.keys(in: $0.id).isEmpty }
      try pass(plan.last, isKept: isOfConcern)
      return .passed
    }
    switch try sendOnce(plan, to: CommitName(plan.last)) {
    case .taken:
      run = min(PushRun.commitsMax, run * 2)
      var next = replica.state
      next.done = plan.last
      next.sent = CommitName(plan.last)
      try accept(plan, next, acknowledging: plan.last)
      try dropSent()
    case .again: break
    case .pullFirst: return .pullFirst
    case .refused(let error):
      if unsent.range.commits > 1 {
        run = max(1, unsent.range.commits / 2)
      } else {
        run = PushRun.commitsMax
        try takeBack(plan, error)
      }
    }
    return .sent
  }

  /// Sends a push, and records it if its answer is missing: the server may have received it.
  func send(_ plan: PushPlan, to last: CommitName) throws -> Push.Answer {
    do {
      return try exchange(plan, to: last)
    } catch let error as ServerError where ServerRefusal(error.state) == .stuck {
      // The server has answered: it has no part of the push.
      throw error
    } catch {
      var next = replica.state
      next.attempt = ReplicaState.Attempt(
        last: last, time: plan.time, isJoined: next.joinedTime != 0)
      if last != next.sent { try? replica.keep(next) }
      throw error
    }
  }

  private func exchange(_ plan: PushPlan, to last: CommitName) throws -> Push.Answer {
    let state = replica.state
    let sent = classes.filter { one in plan.classes.contains { $0.class.id == one.exchange.id } }
    try replica.settle()
    let answer = try Push(
      connection: connection, replica: (state.idText, state.number), server: state.server,
      following: following(sent)
    ).run(
      Push.Range(first: state.sent.pair, last: last.pair),
      plan.classes.map { ($0.class, $0.operations) })
    try answered()
    return answer
  }

  /// Passes commits that are not for the server.
  ///
  /// - Parameter isKept: whether the file must record this: they changed exchanged objects, and
  ///   would count as unsent, such as a commit with an object that was created and deleted.
  private func pass(_ place: FeedPlace, isKept: Bool) throws {
    var next = replica.state
    let last = try replica.cursor.state(in: replica.store.newestSnapshot()).acknowledged
    next.done = place
    // Less than the last one if a restored server receives commits again.
    if !isKept, place.version.rawValue < last.version.rawValue + Self.unkeptMax {
      replica.note(next)
    } else {
      try replica.keep(next, acknowledging: place)
    }
  }

  func forget(_ incarnations: Set<Int64>) throws {
    try replica.edit { edit, next throws(StorageError) in
      next.hasUploads = true
      for one in classes {
        for key in try edit.objects.keys(of: incarnations, in: one.id).values {
          try edit.forget(key, one)
        }
      }
    }
  }
}
