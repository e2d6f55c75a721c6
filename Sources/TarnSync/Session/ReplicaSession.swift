internal import Glibc
package import TarnStore

/// Keeps a file and a server in sync, on a separate thread, until it is released or stopped.
///
/// One process at a time has the session of a file; another one takes over when that process ends,
/// or has been stopped for a second. Any thread.
package final class ReplicaSession: Sendable {
  private let runner: SessionRunner
  private let leave: StoreLeave

  /// Starts the session.
  ///
  /// - Parameters:
  ///   - classes: the names of the classes to exchange. They are in the file.
  ///   - joiningBytes: the maximum size of the records of unsent commits, before those that cannot
  ///     be sent are joined.
  ///   - told: receives the session's events on its thread.
  /// - Throws: `StorageError` if the process can have no more threads or descriptors, or the file
  ///   cannot be followed.
  package init(
    _ store: Store, classes: [String], to address: ServerAddress,
    resetting: ResetRule = .standard, joiningAbove joiningBytes: Int = UnsentJoin.bytesMax,
    telling told: @escaping @Sendable (SyncEvent) -> Void = { _ in }
  ) throws(StorageError) {
    runner = try SessionRunner(store, classes, address, resetting, joiningBytes, told)
    let leave = StoreLeave(store)
    self.leave = leave
    let handed = HandedRunner(runner)
    let isStarted = BackgroundThread.start("tarn-sync") {
      leave.isHere()
      handed.run()
      leave.isOver()
    }
    guard isStarted else {
      throw StorageError(
        .limitExceeded, operation: "begin a session", path: store.path,
        detail: "the process cannot start another thread")
    }
  }

  deinit { stop() }

  /// Ends the session. It completes its current exchange first, unless the server does not answer
  /// for more than a second.
  package func stop() {
    leave.begin()
    runner.stop()
  }

  /// Skips the wait before the next attempt.
  package func reconnect() { runner.hurry() }
}

/// Passes the work of a session to its thread, which has no other reference to the file.
private final class HandedRunner: Sendable {
  private let runner: Lock<SessionRunner?>
  init(_ runner: SessionRunner) { self.runner = Lock(runner) }
  func run() { runner.withLock { $0.take() }?.run() }
}

/// The thread of a session.
private final class SessionRunner: Sendable {
  private let store: Store
  private let classes: [String]
  private let address: ServerAddress
  private let told: @Sendable (SyncEvent) -> Void
  private let resetting: ResetRule
  private let joiningBytes: Int
  private let alarm: SessionWake
  private let registration: StoreRegistration
  private let stopped: OnceSignal
  /// Whether another attempt was requested at once.
  private let isHurried = Lock(false)

  private static let operation = "exchange with the server"
  /// How often to check whether another process has ended.
  private static let election = Duration.milliseconds(200)
  /// How long a process may be stopped before another one takes over the session.
  private static let patience = Duration.seconds(1)
  private static let schemaWait = Duration.seconds(60)

  init(
    _ store: Store, _ classes: [String], _ address: ServerAddress, _ resetting: ResetRule,
    _ joiningBytes: Int, _ told: @escaping @Sendable (SyncEvent) -> Void
  ) throws(StorageError) {
    self.resetting = resetting
    self.joiningBytes = joiningBytes
    self.store = store
    self.classes = classes
    self.address = address
    self.told = told
    stopped = try OnceSignal()
    let alarm = try SessionWake()
    self.alarm = alarm
    registration = try store.follow(usesWatcher: true) { alarm.wake() }
  }

  func stop() {
    stopped.raise()
    alarm.wake()
  }

  func hurry() {
    isHurried.withLock { $0 = true }
    alarm.wake()
  }

  private var isStopped: Bool { stopped.time != nil }

  func run() {
    var backoff = Backoff(first: .milliseconds(100), last: .seconds(60))
    var owner: String?
    var noticed: Set<SyncNotice> = []
    var seenStopped: ContinuousClock.Instant?
    while !isStopped {
      do {
        try resumeWriting()
        let takes = seenStopped.map { .now - $0 >= Self.patience } ?? false
        let replica = try Replica(store, classes: classes, taking: takes)
        defer { replica.close() }
        replica.noticed = { [told] notice in
          if noticed.insert(notice).inserted { told(.notice(notice)) }
        }
        (owner, seenStopped) = (nil, nil)
        try work(replica) { backoff.reset() }
      } catch let error as StorageError where error.code == .busy {
        if owner != error.detail { told(.isElsewhere(error.detail)) }
        owner = error.detail
        let isOwnerStopped = (try? Replica.owner(of: store))?.isStopped ?? false
        seenStopped = isOwnerStopped ? seenStopped ?? .now : nil
        wait(Self.election)
      } catch let error as StorageError where error.code == .conflict {
        // Another process has taken the session while this one was stopped.
        seenStopped = nil
      } catch {
        if isStopped { break }
        let time = wait(after: error, &backoff)
        told(.waits(error, time))
        wait(time)
      }
    }
    told(.ended)
  }

  /// Goes on after a failure of the disk.
  private func resumeWriting() throws(StorageError) {
    do throws(StorageError) {
      try store.resumeWriting()
    } catch {
      // That another process writes does not mean that it has the session.
      throw StorageError(
        error.code == .busy ? .failed : error.code, operation: error.operation, path: error.path,
        detail: error.detail)
    }
  }

  /// A wrong login or a damaged file is not likely to be fixed soon.
  private func wait(after error: any Error, _ backoff: inout Backoff) -> Duration {
    // The disk has failed; the next attempt finds out whether it works again.
    if error is StorageError, store.environment.isClosedForWriting { return backoff.next() }
    guard let error = error as? ServerError, error.state != ResetRule.waitState else {
      return Self.schemaWait
    }
    switch ServerRefusal(error.state) {
    case .login, .commit: return Self.schemaWait
    case .schema, .merge, .version, .standby, .stuck, .again: return backoff.next()
    }
  }

  /// Waits for that time, or until `hurry` is called.
  private func wait(_ time: Duration) {
    let end = ContinuousClock.now + time
    while !isStopped, !isHurried.withLock({ $0 }), ContinuousClock.now < end {
      _ = alarm.sleep(atMost: end - .now)
    }
    isHurried.withLock { $0 = false }
  }

  /// Notes for other processes whether it is connected, and the reason if not.
  ///
  /// - Parameter lasting: the problem, if waiting does not solve it.
  private func note(
    connected: Bool, _ problem: String? = nil, lasting: ServerError? = nil
  ) throws(StorageError) {
    try SessionNotes.edit(store) { notes in
      if connected || notes.isConnected { notes.seen = UInt64(max(0, time(nil))) }
      notes.isConnected = connected
      notes.note(problem, lasting: lasting)
    }
  }

  /// - Parameter succeeded: called when the server has answered.
  private func work(_ replica: Replica, _ succeeded: () -> Void) throws {
    do {
      try exchange(replica, succeeded)
      try note(connected: false)
    } catch let error as StorageError where error.code == .conflict {
      throw error
    } catch  where isStopped {
      try? note(connected: false)
      throw error
    } catch {
      let lasting = (error as? ServerError).flatMap { error in
        error.isLasting || error.state == ResetRule.waitState ? error : nil
      }
      try? note(connected: false, "\(error)", lasting: lasting)
      if let failure = join(replica) {
        let both = "\(error); joining the unsent commits: \(failure)"
        try? note(connected: false, both, lasting: lasting)
      }
      throw error
    }
  }

  /// Joins commits that cannot be sent, if they are many.
  ///
  /// - Returns: the error, if it failed; the next attempt to connect joins them.
  private func join(_ replica: Replica) -> StorageError? {
    let isFirst = replica.state.joinedTime == 0
    do throws(StorageError) {
      if try UnsentJoin.run(replica, above: joiningBytes), isFirst { told(.joined) }
      return nil
    } catch {
      return error
    }
  }

  /// Connects to the server; other processes can see when it does not answer.
  private func connect() throws -> ServerConnection {
    // A process that was killed may have left a wrong note.
    try SessionNotes.edit(store) { $0.isConnected = false }
    let connection = try ServerConnection(address, until: stopped) { BackgroundThread.rest($0) }
    var former: SessionNotes?
    connection.silent = { [self] silence in
      if let silence {
        former = try? SessionNotes.read(in: store.newestSnapshot())
        try? note(connected: false, "the server has not answered for \(silence.secondsText)")
      } else if let notes = former.take() {
        try? note(connected: notes.isConnected, notes.problem)
      }
    }
    return connection
  }

  private func exchange(_ replica: Replica, _ succeeded: () -> Void) throws {
    let connection = try connect()
    let snapshot = try store.newestSnapshot()
    let view = snapshot.schema
    try ServerMigration(connection).runIfAllowed(
      view.schema, classes: replica.names, PropertyRenames(in: snapshot))
    let replicator = try Replicator(replica, connection, resetting: resetting) { [told] in
      told(.refused($0))
    }
    // The server does not know a property that a program has added meanwhile.
    if replica.epoch != view.epoch { return }
    try connection.keepPlans(for: Self.operation)
    told(.connected)
    let hints = SessionHints(connection, replicator.classes.map(\.exchange.id))
    replicator.following = { hints.statements(for: $0.map(\.exchange.id)) }
    var interval = PollInterval()
    try replicator.pull()
    var problem: ServerError?
    var census = try CensusTime(since: SessionNotes.read(in: store.newestSnapshot()).seen)
    try note(connected: true)
    while !isStopped {
      try tell(replicator, unless: &problem)
      if replicator.isApart, isHurried.withLock({ $0.take() }) { replicator.stuckTimes.endAll() }
      let sending = try replicator.sendAll()
      // Not after a download alone: a push that fails would then be repeated without a pause.
      succeeded()
      try tell(replicator, unless: &problem)
      // This session's own hint makes it download its own changes, together with others.
      if sending != .nothing { interval.reset() }
      let asked = try SessionNotes.read(in: store.newestSnapshot()).unanswered
      let hasClashes = sending == .sent && replica.hasClashes
      if try sending == .pullFirst || hasClashes || asked != nil || !replicator.isComplete
        || replicator.hasNewSubscriptions
      {
        try replicator.pull()
        if let asked, replicator.isComplete {
          try SessionNotes.edit(store) { $0.answered = max($0.answered, asked) }
        }
        continue
      }
      if try hints.send() { continue }
      if census.isDue, try replicator.compareDigests() {
        census.isDone()
        if !replicator.isComplete { continue }
      }
      if replicator.problem == nil { told(.isUpToDate) }
      try sleep(replicator, &interval, hints)
    }
  }

  /// Reports once a problem despite which the exchange continues.
  private func tell(
    _ replicator: Replicator, unless former: inout ServerError?
  ) throws(StorageError) {
    let problem = replicator.problem
    if problem == former { return }
    former = problem
    if let problem { told(.waits(problem, Self.schemaWait)) }
    try note(connected: true, problem.map { "\($0)" }, lasting: replicator.missing)
  }

  /// Waits until one side may have changes, and downloads those of the server.
  private func sleep(
    _ replicator: Replicator, _ interval: inout PollInterval, _ hints: SessionHints
  ) throws {
    let hint = hints.wait
    switch alarm.sleep(
      atMost: hint ?? interval.next(), orUntilReadable: replicator.connection.descriptor)
    {
    case .wish: break
    case .time:
      if hint == nil, try replicator.pull(looking: true) { interval.reset() }
    case .socket:
      let channels = try replicator.connection.takeNotifications(for: Self.operation)
      if try !channels.isEmpty && replicator.pull(expecting: SessionHints.classes(channels)) {
        interval.reset()
      }
    }
  }
}

extension Bool {
  /// Whether the flag was set; clears it.
  fileprivate mutating func take() -> Bool {
    defer { self = false }
    return self
  }
}

/// The hints with which sessions wake each other: they only mean that there may be changes, and
/// correctness does not depend on them.
private final class SessionHints {
  private static let operation = "wake other replicas"
  /// At most ten per second: each takes a lock that all databases of the server share.
  private static let distance = Duration.milliseconds(100)

  /// The classes with sent changes that no hint has followed yet.
  private var due: Set<Int> = []
  private let connection: ServerConnection
  private var last = ContinuousClock.now - .seconds(1)

  init(_ connection: ServerConnection, _ classes: [Int]) {
    self.connection = connection
    let listening = classes.map { "LISTEN \(Self.channel($0))" }.joined(separator: "; ")
    // A pooler may refuse this.
    try? connection.run(listening, for: Self.operation)
  }

  private static let prefix = "tarn_"

  private static func channel(_ id: Int) -> String { "\(prefix)\(id)" }

  /// The numbers of the classes with hints on these channels.
  static func classes(_ channels: Set<String>) -> Set<Int> {
    Set(channels.compactMap { Int($0.dropFirst(prefix.count)) })
  }

  /// The time until the next hint may be sent; nil if none is due.
  var wait: Duration? { due.isEmpty ? nil : max(.zero, last + Self.distance - .now) }

  /// The statements for a push of these classes, which follow its commit in a separate transaction;
  /// none if they must wait.
  func statements(for classes: [Int]) -> [String] {
    due.formUnion(classes)
    return take()
  }

  /// Sends the hints that are due and allowed.
  ///
  /// - Returns: whether it sent any.
  func send() throws -> Bool {
    let statements = take()
    if statements.isEmpty { return false }
    try connection.run(statements.joined(separator: "; "), for: Self.operation)
    return true
  }

  private func take() -> [String] {
    guard !due.isEmpty, ContinuousClock.now >= last + Self.distance else { return [] }
    defer { due = [] }
    last = .now
    return due.sorted().map { "SELECT pg_notify('\(Self.channel($0))', '')" }
  }
}
