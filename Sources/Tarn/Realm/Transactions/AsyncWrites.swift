import Dispatch
import Synchronization
import TarnStore

/// Writes of one instance that wait to begin, or for the disk.
///
/// - They begin one after the other in the order in which they were queued, each in a turn of the
///   instance's scheduler (blocks) or where its task runs (`asyncWrite`), and only while the
///   instance has no write open and none on its way to the disk. So a write that the program begins
///   itself goes first.
/// - The write lock is not waited for here: if it is not free, the instance joins the store's queue
///   and is called.
/// - A durable commit is made on the store's thread. Until it is on the disk the instance reads
///   through the write and does not advance: `settling`. Calls that need more than reading wait for
///   it, and no other writer can have committed meanwhile, because the write lock is still held.
/// - Completions are called in the order of the commits, in a turn, or at the end of the next write
///   that the program makes itself.
///
/// Threading: confined to the instance's scheduler.
final class AsyncWrites: PendingWrites {
  typealias Completion = (Realm.Error?) -> Void

  /// A write that waits to begin.
  struct Request {
    enum Work {
      case block(begun: () -> Void, failed: (Realm.Error) -> Void)
      case task(TaskTurn)
    }
    let id: UInt32
    let work: Work
    /// The time at which it fails if it has not begun.
    var deadline: ContinuousClock.Instant?

    func isLate(at time: ContinuousClock.Instant = .now) -> Bool {
      deadline.map { $0 <= time } ?? false
    }
  }

  /// A commit that is on its way to the disk.
  private struct Settling {
    let commit: BackgroundCommit
    let settled: (BackgroundCommit.Outcome) -> Realm.Error?
  }

  /// Commits that share a transaction.
  private struct Member {
    let id: UInt32
    let mark: WriteMark?
    var completion: Completion?
  }

  /// Consecutive commits that share a transaction and have the same observers, all but those that
  /// are left out.
  struct Part {
    /// The observers that do not receive the only commit in it.
    let skipped: [Observation]
    /// The write at its end; nil for the last part, whose end is the committed version.
    var end: WriteSession?
  }
  /// The most commits that share a transaction.
  private static let groupCountMax = 20
  /// The longest that the first of them waits for others.
  var groupDuration = Duration.milliseconds(4)

  private struct Due {
    let id: UInt32
    let completion: Completion
    let error: Realm.Error?
  }

  // The instance is the only owner of this.
  private unowned let core: RealmCore
  // Needed at the instance's end as well.
  private let store: Store
  private let scheduler: Scheduler
  /// The instance's position in the store's queue.
  let waiter: GateLine.WaiterID = Generation.next()
  private let alarm: TurnAlarm
  private var requests: [Request] = []
  private var lastID: UInt32 = 0
  /// The time of a turn that was scheduled because of a deadline.
  private var deadlineTurn: ContinuousClock.Instant?
  private var isRunning = false
  /// A turn is running blocks, and those behind them may follow at once.
  private var isInTurn = false
  /// The error of the last commit.
  private var lastError: Realm.Error?
  private var settling: Settling?
  /// The commits on their way to the disk, or waiting for others to join.
  private var group: [Member] = []
  /// The same in the parts that observers receive one by one.
  private(set) var parts: [Part] = []
  private var groupEnd = ContinuousClock.now
  /// The finished commits whose completions have not been called.
  private var due: [Due] = []

  init(_ core: RealmCore) {
    self.core = core
    store = core.store
    scheduler = core.scheduler
    alarm = TurnAlarm(core)
  }

  /// True if a write is queued, running, or not on the disk yet.
  var isBusy: Bool { !requests.isEmpty || isRunning || !group.isEmpty || !due.isEmpty }

  // MARK: - Queueing

  func claimID() -> UInt32 {
    lastID &+= 1
    return lastID
  }

  /// - Parameter timeout: how long it waits to begin; nil for no limit.
  func queue(_ work: Request.Work, within timeout: Duration?) -> UInt32 {
    let id = append(work, timeout)
    alarm.ring()
    return id
  }

  /// The task begins by itself, and waits for `turn` if it cannot.
  func queueTask(_ turn: TaskTurn, within timeout: Duration?) -> UInt32 {
    append(.task(turn), timeout)
  }

  private func append(_ work: Request.Work, _ timeout: Duration?) -> UInt32 {
    let id = claimID()
    // Longer timeouts are limited to a century, because a clock might not hold more.
    let deadline = timeout.map { ContinuousClock.now + min($0, .seconds(3_153_600_000)) }
    requests.append(Request(id: id, work: work, deadline: deadline))
    if let deadline { wakeUp(at: deadline) }
    return id
  }

  /// Removes a block that has not begun, else a completion that has not been called.
  func cancel(_ id: UInt32) {
    if requests.contains(where: { $0.id == id }) { return remove(id) }
    for index in group.indices where group[index].id == id { group[index].completion = nil }
    due.removeAll { $0.id == id }
  }

  func remove(_ id: UInt32) {
    requests.removeAll { $0.id == id }
    letNextCome()
  }

  /// Drops the blocks that have not begun. Tasks stay.
  func dropBlocks() {
    requests.removeAll { request in
      if case .block = request.work { return true }
      return false
    }
    letNextCome()
  }

  func askForTurn() { alarm.ring() }

  /// The head of the queue has changed, or its obstacle has ended.
  private func letNextCome() {
    if requests.isEmpty { store.line.leave(waiter) } else { alarm.ring() }
  }

  // MARK: - Beginning

  private func takeTurn() {
    core.checkThread()
    finishIfDone()
    tellDue()
    if let next = requests.first, canBegin {
      switch next.work {
      case .task(let turn): turn.call()
      case .block(let begun, let failed):
        isInTurn = true
        run(next.id, begun, failed)
        runJoining()
        isInTurn = false
      }
    }
    giveUpLate()
  }

  // MARK: - Giving up

  /// Schedules a turn for that time, unless one runs before, which looks again.
  private func wakeUp(at time: ContinuousClock.Instant) {
    if let deadlineTurn, deadlineTurn <= time { return }
    deadlineTurn = time
    alarm.ring(at: time)
  }

  /// Removes requests that have waited too long to begin. Tasks are called, and check it
  /// themselves.
  private func giveUpLate() {
    // One time for all: what becomes late meanwhile is left to the next turn.
    let now = ContinuousClock.now
    guard let deadlineTurn, deadlineTurn <= now else { return }
    self.deadlineTurn = nil
    for late in requests where late.isLate(at: now) {
      switch late.work {
      case .task(let turn): turn.call()
      case .block(_, let failed):
        guard requests.contains(where: { $0.id == late.id }) else { continue }
        remove(late.id)
        failed(Realm.Error(store.gate.busy()))
      }
    }
    let next = requests.compactMap { $0.isLate(at: now) ? nil : $0.deadline }.min()
    if let next { wakeUp(at: next) }
  }

  /// The task fails if it has waited too long.
  private func giveUp(_ id: UInt32) throws(Realm.Error) {
    guard requests.contains(where: { $0.id == id && $0.isLate() }) else { return }
    remove(id)
    throw Realm.Error(store.gate.busy())
  }

  // MARK: - Running

  /// Runs the blocks that share the transaction of the one before, then starts its commit.
  private func runJoining() {
    // A block that has not begun is called when the lock is free: ringing for it would never end.
    guard isGroupOpen else { return }
    while isGroupOpen {
      guard canWait, case .block(let begun, _)? = requests.first?.work, join() else { break }
      isRunning = true
      requests.removeFirst()
      begun()
      isRunning = false
    }
    startGroup()
    letNextCome()
  }

  /// True if commits are waiting for others to join.
  private var isGroupOpen: Bool { !group.isEmpty && settling == nil }

  private func join() -> Bool {
    do {
      return try core.joinWrite()
    } catch {
      // The commit will report that it cannot be read now.
      return false
    }
  }

  private func startGroup() {
    guard isGroupOpen, core.write.isSettling, let session = core.session else { return }
    core.startCommit(session, self)
  }

  /// False while an obstacle exists that will notify when it ends.
  private var canBegin: Bool {
    guard !isRunning, settling == nil, core.session == nil else { return false }
    if core.delivery.isTellingOfProperties || core.sectionKeyDepth > 0 {
      alarm.ring()
      return false
    }
    return true
  }

  private func run(_ id: UInt32, _ begun: () -> Void, _ failed: (Realm.Error) -> Void) {
    isRunning = true
    defer { isRunning = false }
    do {
      // If not, the store's queue calls.
      guard try beginWrite() else { return }
    } catch {
      remove(id)
      return failed(error)
    }
    defer { letNextCome() }
    // Observers called at the start may have cancelled it.
    guard let index = requests.firstIndex(where: { $0.id == id }) else {
      if core.isInWriteTransaction { core.cancelWrite() }
      return
    }
    requests.remove(at: index)
    begun()
  }

  /// Begins the write of a task that has queued `turn`, if it is the next.
  func begin(_ id: UInt32) throws(Realm.Error) -> Bool {
    core.checkThread()
    finishIfDone()
    guard requests.first?.id == id, canBegin else {
      try giveUp(id)
      return false
    }
    isRunning = true
    let hasBegun: Bool
    do {
      hasBegun = try beginWrite()
    } catch {
      isRunning = false
      remove(id)
      throw error
    }
    guard hasBegun else {
      isRunning = false
      try giveUp(id)
      return false
    }
    requests.removeAll { $0.id == id }
    return true
  }

  /// The block of the task that has begun has returned; its write may continue.
  func taskBlockEnded() {
    isRunning = false
    letNextCome()
  }

  private func beginWrite() throws(Realm.Error) -> Bool {
    let (store, waiter, alarm) = (store, waiter, alarm)
    return try core.beginWrite { () throws(StorageError) in
      try store.claimGate(waiter) { alarm.ring() }
    }
  }

  /// A write of the instance has ended, begun by any call.
  func writeEnded() {
    if !isRunning { tellDue() }
    if !requests.isEmpty { alarm.ring() }
  }

  // MARK: - Committing

  /// The callback of the commit's thread.
  var whenDone: @Sendable () -> Void { { [alarm] in alarm.ring() } }

  /// The write is committed as far as the instance is concerned.
  ///
  /// - Parameters:
  ///   - skipped: the observers that do not receive it.
  ///   - before: the state after the earlier commits in the same transaction; nil for the first
  ///     one.
  func join(
    _ id: UInt32, _ mark: WriteMark?, _ completion: Completion?, leavingOut skipped: [Observation],
    after before: WriteSession?
  ) {
    if group.isEmpty {
      groupEnd = .now + groupDuration
      parts = [Part(skipped: skipped)]
    } else if !skipped.isEmpty || parts.last?.skipped.isEmpty == false {
      parts[parts.count - 1].end = before
      parts.append(Part(skipped: skipped))
    }
    group.append(Member(id: id, mark: mark, completion: completion))
  }

  /// The marks of the writes that are committed together.
  var marks: [WriteMark] { group.compactMap(\.mark) }

  /// True if the write may wait for the next block in the queue, which runs in this very turn.
  var canWait: Bool {
    guard group.count < Self.groupCountMax, !requests.isEmpty, isInTurn else { return false }
    return ContinuousClock.now < groupEnd
  }

  /// The instance reads through its write until `commit` is finished; then `settled` is called.
  func settle(
    _ commit: BackgroundCommit, settled: @escaping (BackgroundCommit.Outcome) -> Realm.Error?
  ) {
    settling = Settling(commit: commit, settled: settled)
  }

  /// The commit has failed before it went to the disk.
  var hasFailed: Bool {
    if case .failure = settling?.commit.outcome { return true }
    return false
  }

  /// Commits and waits for the disk.
  func commitNow(_ commit: () -> Void) throws(Realm.Error) {
    lastError = nil
    commit()
    finishSync()
    if let lastError { throw lastError }
  }

  /// Waits for a commit on its way to the disk, if there is one, and advances the instance.
  func finishSync() {
    startGroup()
    guard let settling else { return }
    finish(settling, settling.commit.wait())
  }

  private func finishIfDone() {
    guard let settling, let outcome = settling.commit.outcome else { return }
    finish(settling, outcome)
  }

  private func finish(_ settling: Settling, _ outcome: BackgroundCommit.Outcome) {
    self.settling = nil
    let error = settling.settled(outcome)
    lastError = error
    for member in group {
      if let completion = member.completion { tellLater(member.id, completion, error) }
    }
    group = []
    parts = []
    if !requests.isEmpty { alarm.ring() }
  }

  /// Calls a completion in a later turn.
  func tellLater(_ id: UInt32, _ completion: @escaping Completion, _ error: Realm.Error?) {
    due.append(Due(id: id, completion: completion, error: error))
    alarm.ring()
  }

  private func tellDue() {
    while !due.isEmpty {
      let next = due.removeFirst()
      next.completion(next.error)
    }
  }

  /// No completion can be called any more. Blocks hold the objects that they change, which retain
  /// the instance.
  func abandon() {
    store.line.leave(waiter)
    requests = []
    due = []
    for index in group.indices { group[index].completion = nil }
  }

  /// The instance is released. Its commits are on the disk when this returns, and their completions
  /// are called in a later turn; blocks that have not begun are dropped.
  func end() {
    store.line.leave(waiter)
    var left = due
    if let settling {
      var error: Realm.Error?
      if case .failure(let failure) = settling.commit.wait() { error = Realm.Error(failure) }
      for member in group {
        guard let completion = member.completion else { continue }
        left.append(Due(id: member.id, completion: completion, error: error))
      }
    }
    guard !left.isEmpty else { return }
    nonisolated(unsafe) let last = left  // because: no other code has them from here on
    scheduler.schedule {
      for due in unsafe last { due.completion(due.error) }
    }
  }

  /// Asks for turns, from any thread.
  private final class TurnAlarm: @unchecked Sendable {
    // because: `core` is read on its own scheduler only, and set before this is shared.
    private weak var core: RealmCore?
    private let scheduler: Scheduler
    private let isWaiting = Atomic<Bool>(false)

    init(_ core: RealmCore) {
      self.core = core
      scheduler = core.scheduler
    }

    func ring() {
      guard !isWaiting.exchange(true, ordering: .acquiringAndReleasing) else { return }
      let turn = Turn(self)
      scheduler.schedule { turn.take() }
    }

    /// The same at that time, if the instance still exists.
    func ring(at time: ContinuousClock.Instant) {
      // The two clocks may differ a little, and the turn must not run early.
      let seconds = ContinuousClock.now.duration(to: time) / .seconds(1) + 0.001
      DispatchQueue.global().asyncAfter(deadline: .now() + max(0, seconds)) { [weak self] in
        self?.ring()
      }
    }

    /// A requested turn. If it is released without having run, the scheduler has ended, and no
    /// other code uses the instance.
    private final class Turn: @unchecked Sendable {
      // because: it is taken in the turn, or never, and released after that.
      private var alarm: TurnAlarm?

      init(_ alarm: TurnAlarm) { self.alarm = alarm }

      func take() {
        guard let alarm = alarm.take() else { return }
        alarm.isWaiting.store(false, ordering: .sequentiallyConsistent)
        // The callee may release the instance, whose parts do not retain it.
        guard let core = alarm.core else { return }
        withExtendedLifetime(core) { core.asyncWrites?.takeTurn() }
      }

      deinit {
        guard let core = alarm?.core else { return }
        withExtendedLifetime(core) { core.asyncWrites?.abandon() }
      }
    }
  }
}
