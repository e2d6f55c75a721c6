public import Dispatch
import Tarn
import TarnStore

/// The synchronization of a file with the server.
///
/// One process at a time is connected to the server; all processes that have the file open as
/// synchronized can wait here, and see the same states. The session runs while a Realm of the file
/// or this object is referenced. Threading: any.
public final class SyncSession: Sendable {
  /// Whether a session synchronizes.
  public enum State: Sendable {
    /// It synchronizes, or waits for the server.
    case active
    /// It is suspended, or its user has logged out.
    case inactive
  }

  /// Whether a process is connected to the server for this file.
  public enum ConnectionState: Sendable {
    /// No process is connected, or tries to be.
    case disconnected
    /// A process is connecting, or the server has not answered for ten seconds.
    case connecting
    /// A process is connected, and the server answers.
    case connected
  }

  /// A direction of transfer.
  public enum ProgressDirection: Sendable {
    /// The file's commits, on their way to the server.
    case upload
    /// The server's changes, on their way to the file.
    case download
  }

  /// Distinguishes it from earlier and later sessions of the same file.
  let number = UInt64.random(in: .min ... .max)
  let store: Store
  let user: User
  let classes: [String]
  private let resetMode: ClientResetMode
  private let resetting: ResetRule
  /// Lets a manual reset continue.
  let permission = ResetPermission()
  /// The configuration of the file, without synchronization.
  let local: Realm.Configuration
  private let asymmetric: Set<String>
  private let status = Lock(Status())
  let followers = Lock([WeakFollower]())

  private struct Status {
    var session: ReplicaSession?
    var isSuspended = true
    /// A lasting problem: a wrong login, a missing class.
    var problem: SyncError?
  }

  init(
    _ store: Store, _ classes: [String], _ configuration: SyncConfiguration,
    _ opened: Realm.Configuration
  ) throws(StorageError) {
    self.store = store
    resetMode = configuration.clientResetMode
    var local = opened
    local.syncConfiguration = nil
    self.local = local
    resetting = resetMode.rule(local, permission)
    asymmetric = Set(opened.asymmetricClasses)
    user = configuration.user
    let schema = try store.newestSnapshot().schema.schema
    self.classes = try ExchangedClasses.chosen(classes, schema, store.path)
    user.follow(as: self) { [weak self] in self?.userChanged() }
  }

  /// Sets the rules for this process's commits to the file.
  func checkCommits() {
    let rules = CommitRules(classes, store.path)
    store.setCommitCheck { session, changes throws(StorageError) in
      try rules.check(session, changes)
    }
  }

  deinit {
    status.withLock { $0.session }?.stop()
    SessionHub.shared.end(number, of: store)
  }

  // MARK: - State

  /// Whether it synchronizes.
  public var state: State { status.withLock { $0.session == nil ? .inactive : .active } }

  /// Whether the file's session is connected to the server. Read it again after waiting, or follow
  /// ``connectionStates``.
  public var connectionState: ConnectionState {
    guard let snapshot = try? store.newestSnapshot(),
      let isConnected = try? SessionNotes.isConnected(store, snapshot)
    else { return .disconnected }
    if isConnected { return .connected }
    return state == .active ? .connecting : .disconnected
  }

  /// The connection's current state, and each later one.
  public var connectionStates: AsyncStream<ConnectionState> {
    AsyncStream { continuation in
      let task = Task { [store, weak self] in
        var last: ConnectionState?
        while let now = self?.connectionState {
          if now != last { continuation.yield(now) }
          last = now
          do {
            try await FileWait(store: store).until { [weak self] in self?.connectionState != now }
          } catch { break }
        }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  /// Stops synchronizing in this process until ``resume()``. Another process that has the file open
  /// takes over.
  public func suspend() {
    let session = status.withLock { status in
      status.isSuspended = true
      return status.session.take()
    }
    session?.stop()
  }

  /// Continues to synchronize.
  public func resume() {
    status.withLock { $0.isSuspended = false }
    start()
  }

  /// Tries to connect at once, instead of waiting after a failed attempt.
  public func reconnect() { status.withLock { $0.session }?.reconnect() }

  private func userChanged() {
    let (former, isSuspended) = status.withLock { status in
      status.problem = nil
      return (status.session.take(), status.isSuspended)
    }
    former?.stop()
    if !isSuspended { start() }
  }

  private func start() {
    guard let address = try? user.address() else { return }
    do throws(StorageError) {
      let session = try ReplicaSession(
        store, classes: classes, to: address, resetting: resetting
      ) { [weak self] event in self?.note(event) }
      let other = status.withLock { status -> ReplicaSession? in
        if status.session != nil || status.isSuspended { return session }
        status.session = session
        return nil
      }
      other?.stop()
    } catch {
      tell(SyncError(error))
    }
  }

  private func note(_ event: SyncEvent) {
    switch event {
    case .refused(let commit): tell(SyncError(commit))
    case .waits(let problem, _):
      let error = SyncError(problem)
      let isNews = status.withLock { status in
        defer { status.problem = error }
        return status.problem?.message != error.message
      }
      if isNews { tell(error) }
    case .connected, .isUpToDate: status.withLock { $0.problem = nil }
    case .joined:
      StoreLog.shared.write(.info, "synchronize \(store.path): \(SyncEvent.joinedText)")
    case .notice(let notice):
      StoreLog.shared.write(.info, "synchronize \(store.path): \(notice.text)")
    case .isElsewhere, .ended: break
    }
  }

  func tell(_ problem: SyncError) {
    let error = addReset(to: problem)
    var handler = user.app.syncManager.errorHandler
    if error.code == .clientResetError, case .manual(let own?) = resetMode { handler = own }
    guard let handler else {
      let level: StoreLog.Level = error.isPassing ? .warning : .error
      StoreLog.shared.write(level, "synchronize \(store.path): \(error.message)")
      return
    }
    handler(error, self)
  }

  // MARK: - Waiting

  /// Waits until the server has all commits that the file has now, or the file has all objects of
  /// its subscriptions in their present state on the server. Any process may have the session.
  ///
  /// If the session is suspended, it waits until ``resume()``.
  ///
  /// - Throws: ``SyncError`` if the server cannot evaluate the subscriptions, refuses the remaining
  ///   changes to send (``unsentChanges()``), or if waiting is useless: the server refuses the
  ///   login, is not prepared, or lacks a class, a reset is
  ///   ``ClientResetMode/manual(errorHandler:)``, or the user has logged out; `CancellationError`;
  ///   or `Realm.Error` if the file cannot be read.
  public func wait(for direction: ProgressDirection) async throws {
    do {
      switch direction {
      case .upload: try await waitForUpload()
      case .download:
        let problems = try LastingProblems(self, direction)
        let asked = try ask()
        try await FileWait(store: store).until { [self] in
          if try isAnswered(asked) { return true }
          try problems.check()
          return false
        }
      }
      await tellProgress(of: direction)
    } catch let error as StorageError {
      throw Realm.Error(synchronizing: error)
    }
  }

  /// Waits like ``wait(for:)``, and calls `completion` with nil or with the error.
  ///
  /// - Parameter queue: where to call it; nil for any thread.
  public func wait(
    for direction: ProgressDirection, queue: DispatchQueue? = nil,
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    Completion.run(on: queue, failing: completion) { try await self.wait(for: direction) }
  }

  private func waitForUpload() async throws {
    let snapshot = try store.newestSnapshot()
    let stuck = try StuckClasses.read(in: snapshot).classes
    let former = Dictionary(stuck.map { ($0.className, $0.attempts) }) { $1 }
    if !former.isEmpty { reconnect() }
    let target = snapshot.version
    let problems = try LastingProblems(self, .upload)
    try await FileWait(store: store).until { [store, classes] in
      guard let unsent = try UnsentCount(store, expecting: classes) else {
        try problems.check()
        return false
      }
      if try unsent.isNothing(upTo: target) { return true }
      switch try unsent.obstacle(upTo: target, since: former) {
      case nil:
        try problems.check()
        return false
      case .stuck(let error): throw SyncError(error)
      case .older(let error): throw SyncError(.writeRejected, error)
      }
    }
  }

  func blockUntilDownloaded(
    _ configuration: SyncConfiguration, _ isCancelled: @Sendable () -> Bool
  ) throws {
    let problems = try LastingProblems(self, .download)
    let asked = try ask()
    try FileWait(store: store).blockUntil {
      if try isCancelled() || isAnswered(asked) { return true }
      try problems.check()
      if let problem = status.withLock({ $0.problem }),
        problem.code == .clientResetError || configuration.cancelAsyncOpenOnNonFatalErrors
      {
        throw problem
      }
      return false
    }
  }

  private func ask() throws(StorageError) -> UInt64 {
    try SessionNotes.edit(store) { $0.asked += 1 }.asked
  }

  private func isAnswered(_ asked: UInt64) throws -> Bool {
    let snapshot = try store.newestSnapshot()
    if case .failed(let reason)? = try SubscriptionSet.read(in: snapshot)?.state {
      throw SyncError(.invalidFlexibleSyncSubscriptions, ServerError("subscribe", reason))
    }
    return try SessionNotes.read(in: snapshot).answered >= asked
  }

  // MARK: - Subscriptions

  /// Calls the configuration's block for the first subscriptions of a file.
  func subscribeInitially(
    _ configuration: SyncConfiguration, isFirst: Bool
  ) throws(StorageError) {
    let known = try SubscriptionSet.read(in: store.newestSnapshot())
    if let known, !asymmetric.isSubset(of: known.asymmetric) {
      try store.editSubscriptions { set in
        set.asymmetric.formUnion(asymmetric)
        set.renew()
        return true
      }
    }
    guard known == nil || configuration.rerunOnOpen && isFirst else { return }
    let set = SyncSubscriptionSet(store, local.objectTypes)
    set.draft { configuration.initialSubscriptions?(set) }
    try store.editSubscriptions { current in
      if known == nil, current.version > 0 { return false }
      let isSame = known != nil && set.isSame(as: current)
      if isSame { return false }
      current.subscriptions = set.subscriptions
      current.asymmetric.formUnion(asymmetric)
      current.renew()
      return true
    }
  }
}
