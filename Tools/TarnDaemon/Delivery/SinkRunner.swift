import Dispatch
import Tarn
import TarnStore
import ToolSupport

/// Delivers the changes of one file to one sink: opens the cursor, makes batches, waits, and tries
/// again after failures.
///
/// A sink that is slow gets one bigger difference. Threading: everything is on its own queue, where
/// deliveries block.
final class SinkRunner: Sendable {
  /// Acknowledgements are made durable that often at most.
  static let flushEvery = DispatchTimeInterval.milliseconds(100)

  let status: SinkStatus
  private let watch: WatchSettings
  private let sink: any Sink
  /// Nil if a refused batch is sent until it is taken.
  private let letters: DeadLetters?
  private let place: Slots.Place?
  private let file: OpenFile
  private let classes: PresentClasses
  private let cursorName: String
  private let positions: PositionFile?
  private let notes: DeliveryNotes
  let asked: AskedActions
  /// Whether the watch had begun before the file was found.
  private let isLater: @Sendable () -> Bool
  private let log: DaemonLog
  private let queue: DispatchQueue
  private let state: Lock<State>

  init(
    _ watch: WatchSettings, _ sink: any Sink, _ letters: DeadLetters?, _ file: OpenFile,
    cursorName: String, positions: PositionFile?, isLater: @escaping @Sendable () -> Bool,
    _ status: SinkStatus, _ log: DaemonLog
  ) {
    self.watch = watch
    self.sink = sink
    self.letters = letters
    place = sink.slots?.place()
    self.file = file
    classes = PresentClasses(of: watch, in: file, status, log)
    self.cursorName = cursorName
    self.positions = positions
    notes = DeliveryNotes(positions, of: sink, in: file.path)
    asked = AskedActions(positions)
    self.isLater = isLater
    self.status = status
    self.log = log
    queue = DispatchQueue(label: "tarn-sink")
    state = Lock(
      State(backoff: Backoff(first: watch.delivery.firstRetry, last: watch.delivery.lastRetry)))
  }

  // MARK: - Control

  /// Delivers nothing after the delivery that is running, until it is resumed. Any thread.
  func pause(_ isPaused: Bool) {
    status.update { $0.isPaused = isPaused }
    state.withLock { $0.isPaused = isPaused }
    if !isPaused { hurry() }
  }

  /// Drops what the receiver lacks now, also while it is paused. Any thread.
  func skip() throws {
    try ask(.skip(through: file.store.newestKnownVersion.rawValue))
  }

  /// Sends all objects again, as a new beginning. Any thread.
  func resend() throws { try ask(.resend) }

  private func ask(_ action: AskedAction) throws {
    try asked.ask(action)
    hurry()
  }

  private func hurry() {
    state.withLock { state in
      state.notBefore = .now()
      state.backoff.reset()
    }
    schedule(after: .zero)
  }

  /// Does what an operator has asked for.
  ///
  /// - Returns: whether that was something.
  private func obey(_ cursor: ChangeCursor) throws -> Bool {
    guard let action = asked.next else { return false }
    switch action {
    case .resend: try forgetPosition()
    case .skip(let through): try drop(cursor, through)
    }
    try asked.isDone(action)
    return true
  }

  private func forgetPosition() throws {
    close()
    letters?.reset()
    state.withLock { $0.unsaved = nil }
    // First, because it may wait for a writer, and the daemon may end meanwhile.
    if try file.isWritable && file.cursorRecord(cursorName) != nil {
      try file.store.deleteCursor(cursorName)
    }
    try positions?.update { $0 = PositionFile.Content(asked: $0.asked) }
    state.withLock { $0.beginsWithAll = true }
    notes.forget()
    status.isBehind(from: 0)
    log.write(.notice, "sends all objects again, as it was asked to", of: status)
  }

  private func drop(_ cursor: ChangeCursor, _ through: UInt64) throws {
    guard let batch = try cursor.next(through: through) else { return }
    try batch.acknowledge()
    // It is done when that is durable.
    try notes.acknowledge(batch.position)
    acknowledged(batch)
    letters?.reset()
    status.update { content in
      content.skipped += 1
      content.failingSince = nil
      content.version = batch.to
    }
    log.write(
      .notice, "skipped what follows version \(batch.from) up to \(batch.to), as it was asked to",
      of: status)
  }

  // MARK: - Beginning and end

  /// Opens the cursor, and begins.
  ///
  /// - Parameter begun: is called, on any thread, when the cursor stands, or cannot be opened soon.
  func start(_ begun: @escaping @Sendable () -> Void) {
    state.withLock { state in
      state.begun = begun
      state.beganAt = .now()
    }
    queue.sync { openIfNeeded() }
    schedule(after: .zero)
  }

  func reopen() { queue.async { [sink] in sink.reopen() } }

  /// Lets a running delivery end soon; none begins any more. Never waits.
  func stopSoon() {
    state.withLock { $0.hasStopped = true }
    endBeginning()
    sink.stop()
    letters?.stop()
  }

  /// Ends a running delivery and makes durable what is acknowledged.
  func stop() {
    stopSoon()
    queue.sync {
      sink.reopen()
      place?.leave()
      flush()
      close()
    }
  }

  // MARK: - Time

  private func schedule(after wait: Duration) {
    let due = state.withLock { state -> DispatchTime? in
      let wanted = max(.now() + wait.interval, state.notBefore)
      if state.hasStopped || state.due.map({ $0 <= wanted }) ?? false { return nil }
      state.due = wanted
      return wanted
    }
    guard let due else { return }
    if due <= .now() {
      queue.async { [weak self] in self?.stepIfDue(due) }
    } else {
      queue.asyncAfter(deadline: due) { [weak self] in self?.stepIfDue(due) }
    }
  }

  private func stepIfDue(_ due: DispatchTime) {
    let isDue = state.withLock { state in
      guard state.due == due, !state.hasStopped else { return false }
      state.due = nil
      return true
    }
    if isDue { step() }
  }

  private func wait(_ time: Duration) {
    state.withLock { $0.notBefore = .now() + time.interval }
  }

  // MARK: - On the queue

  private func openIfNeeded() {
    if state.withLock({ $0.cursor != nil }) { return }
    if state.withLock({ $0.hasStopped }) { return endBeginning() }
    do {
      try follow()
      try file.forgetOtherPositions(positions)
      let present = try classes.look { try file.owesResync(cursorName, after: positions) }
      let cursor = file.isWritable ? try openCursor(present) : try openReader(present)
      try follow(cursor)
      state.withLock { $0.cursor = cursor }
      let version = startsOver ? 0 : (try? cursor.position.version) ?? 0
      status.update { $0.version = version }
    } catch is AwaitedClasses {
      status.isCurrent(at: file.store.newestKnownVersion.rawValue)
    } catch  where Passing.isBusy(error) && state.withLock({ $0.isBeginning }) {
      failed("cannot open the cursor: \(error)", nil, again: Passing.pause)
      return
    } catch {
      failed("cannot open the cursor: \(error)", nil)
    }
    endBeginning()
  }

  private func endBeginning() { state.withLock { $0.begun.take() }?() }

  /// Whether all objects are owed.
  private var startsOver: Bool {
    if !file.isWritable { return positions?.content.acknowledged == nil && !startsAtNewest }
    return (try? file.cursorRecord(cursorName))??.reason != nil
  }

  /// - Parameter cursor: nil if there is none yet.
  private func follow(_ cursor: ChangeCursor? = nil) throws {
    if state.withLock({ $0.registration != nil && cursor == nil }) { return }
    let wake: @Sendable () -> Void = { [weak self] in
      guard let self else { return }
      status.isBehind()
      schedule(after: watch.delivery.delay)
    }
    let following = try cursor?.followCommits(wake)
    let registration = try cursor == nil ? file.store.follow(usesWatcher: true, wake) : nil
    status.follows(following)
    let former = state.withLock { state in
      defer { (state.registration, state.following) = (registration, following) }
      return state.registration.take()
    }
    former?.end()
  }

  private func openCursor(_ watch: WatchSettings) throws -> ChangeCursor {
    try file.takeOverCursor(cursorName)
    let known = try file.cursorRecord(cursorName)
    var grouped: GroupedAcknowledgements?
    let delivered = positions?.delivered
    let cursor = try file.cursor(
      cursorName, watch, startingAt: startsAtNewest ? .newest : .snapshot,
      keeping: sink.repeatsExactly || watch.needsOldValues ? .oldValues : .keys,
      limit: watch.keeps.map { LagLimit($0) },
      expecting: ExpectedPosition.of(positions, known),
      delivered: delivered
    ) { held, snapshot throws(StorageError) in
      let made = try GroupedAcknowledgements(held, in: snapshot)
      grouped = made
      return made
    }
    let consumer = try file.cursorRecord(cursorName).map { "cursor \($0.created)" }
    // No process held the cursor, or all was acknowledged.
    let isClean = known?.owner == nil
    let formerEnd = delivered != nil || isClean ? nil : try file.newestPosition()
    state.withLock { state in
      state.grouped = grouped
      state.consumer = consumer ?? ""
    }
    try notes.opened(watch, formerEnd: formerEnd, isClean: isClean, divides: letters != nil)
    return cursor
  }

  /// Whether a consumer without a position begins with the newest version. What has come into being
  /// since the watch began, a file or a class, is delivered from its beginning.
  private var startsAtNewest: Bool {
    watch.start == .newest && !isLater() && !state.withLock { $0.beginsWithAll }
  }

  private func openReader(_ watch: WatchSettings) throws -> ChangeCursor {
    guard let positions else {
      throw ToolError("neither the file nor a state folder can be written, for the position")
    }
    if let cause = file.copyCause { throw ToolError("the file cannot be followed: \(cause)") }
    let snapshot = try file.store.newestSnapshot()
    let newest = ChangePosition(FeedPlace(snapshot.head))
    // A cursor in a file asks for a full resync by itself if it selects something else.
    let isSame = notes.isPosition(of: watch)
    if !isSame { state.withLock { $0.beginsWithAll = true } }
    var start = isSame ? positions.content.acknowledged : nil
    if start == nil, startsAtNewest { start = newest }
    let delivered = positions.delivered
    try notes.opened(
      watch, formerEnd: delivered == nil && start != nil ? newest : nil, isClean: start == nil,
      divides: letters != nil)
    state.withLock { $0.consumer = "reader \(cursorName)" }
    let keeper = try KeptPosition(
      at: start.map { FeedPlace($0) }, because: isSame ? nil : .selection, in: snapshot)
    return try file.reader(
      cursorName, watch, delivered: (delivered ?? newest).version, keeper: keeper)
  }

  private func close() {
    let (cursor, registration, following) = state.withLock { state in
      defer { state.grouped = nil }
      return (state.cursor.take(), state.registration.take(), state.following.take())
    }
    registration?.end()
    status.follows(nil)
    following?.end()
    cursor?.close()
    letters?.forgetBatch()
  }

  private func step() {
    if classes.haveGrown {
      flush()
      close()
    }
    openIfNeeded()
    guard let cursor = state.withLock({ $0.cursor }) else { return }
    do {
      if try obey(cursor) { return schedule(after: .zero) }
      if state.withLock({ $0.isPaused }) { return }
      guard let batch = try nextBatch(cursor) else {
        // It may have waited for a slot, or been handed one.
        place?.leave()
        // A commit that has just added an awaited class does not wake the cursor again.
        if classes.haveGrown { return schedule(after: .zero) }
        let newest = file.store.newestKnownVersion.rawValue
        return status.isCurrent(at: newest)
      }
      if classes.areMissed(in: batch.storeSchema) {
        place?.leave()
        close()
        return schedule(after: .zero)
      }
      if !batch.isEmpty {
        let hasSlot = place?.take { [weak self] in self?.schedule(after: .zero) }
        guard hasSlot ?? true else { return }
        if try !deliver(batch) {
          // The next part is the next step, so that an operator can pause the sink, and skip.
          place?.leave()
          return schedule(after: .zero)
        }
      }
      place?.leave()
      try batch.acknowledge()
      acknowledged(batch)
      schedule(after: .zero)
    } catch let smaller as SmallerDelivery {
      place?.leave()
      status.failed(smaller.failure.description)
      log.write(
        smaller.isFirst ? .notice : .debug, "\(smaller.failure): sent again in smaller batches",
        of: status)
      state.withLock { $0.backoff.reset() }
      schedule(after: .zero)
    } catch let failure as DeliveryFailure {
      failed(failure.description, failure.retryAfter)
    } catch {
      close()
      failed("\(error)", nil)
    }
  }

  private func nextBatch(_ cursor: ChangeCursor) throws -> ChangeBatch? {
    if let batch = letters?.batch { return batch }
    let limit: BatchLimit = watch.delivery.isEveryCommit ? .everyCommit : .none
    let isExact = sink.repeatsExactly
    if !(letters?.isDividing ?? false), !isExact || notes.isEmpty {
      return try cursor.nextToDeliver(
        limit: limit, isExact: isExact, mayRepeat: isExact ? notes.mayRepeat(after: .max) : nil)
    }
    let position = try cursor.position
    let mayRepeat = isExact ? notes.mayRepeat(after: position.version) : nil
    let end =
      letters?.limit(after: position.version)
      ?? (isExact ? notes.intendedEnd(after: position) : nil)
    if let end,
      let batch = try cursor.nextToDeliver(through: end, isExact: isExact, mayRepeat: mayRepeat)
    {
      return batch
    }
    return try cursor.nextToDeliver(limit: limit, isExact: isExact, mayRepeat: mayRepeat)
  }

  /// - Returns: false if a part of the batch was delivered, and more parts are left.
  private func deliver(_ batch: ChangeBatch) throws -> Bool {
    status.isBehind(from: batch.fullResync == nil ? batch.from : 0)
    let isBegun = letters?.batch != nil
    let first = letters == nil || isBegun ? nil : notes.partInFlight(of: batch)
    if first == nil, !isBegun { try notes.note(batch) }
    let keys = notes.keys(of: batch, for: state.withLock { $0.consumer })
    if let reason = batch.fullResync, reason != .snapshot, !isBegun {
      log.write(.notice, "full resync: \(reason)", of: status)
    }
    let began = ContinuousClock.now
    batch.noteDelivery()
    var delivery = Delivery(batch: batch, watch: classes.watch, path: file.path, keys: keys)
    delivery.isAfterRefusal = notes.isAfterRefusal(batch.from)
    delivery.isOfEarlierVersion = notes.isOfEarlierVersion(batch)
    guard try send(delivery, from: first) else {
      status.update { $0.failingSince = nil }
      state.withLock { $0.backoff.reset() }
      return false
    }
    status.delivered(
      upTo: batch.to, isNewBeginning: batch.fullResync != nil, seconds: (.now - began).seconds)
    state.withLock { $0.backoff.reset() }
    wait(watch.delivery.interval)
    return true
  }

  private func send(_ delivery: Delivery, from first: SentPart?) throws -> Bool {
    guard let letters else {
      try sink.deliver(delivery)
      return true
    }
    do {
      return try letters.deliver(delivery, from: first) { try notes.note(delivery.batch, $0) }
    } catch let smaller as SmallerDelivery {
      try notes.noteRefusal(of: delivery.batch, isOfCommits: smaller.isOfCommits)
      throw smaller
    }
  }

  /// - Parameter pause: when it is tried again; nil to wait longer with each failure.
  private func failed(
    _ reason: String, _ retryAfter: Duration?, again pause: Duration? = nil
  ) {
    place?.leave()
    let isNew = pause == nil || status.content.lastError != reason
    let wait = state.withLock { state -> Duration? in
      if state.hasStopped { return nil }
      let wait = pause ?? max(state.backoff.next(), retryAfter ?? .zero)
      state.notBefore = .now() + wait.interval
      return wait
    }
    guard let wait else { return }
    status.failed(reason)
    if isNew { log.write(.warning, "\(reason); trying again in \(wait.rounded) s", of: status) }
    schedule(after: wait)
  }

  // MARK: - Acknowledging

  private func acknowledged(_ batch: ChangeBatch) {
    let now = DispatchTime.now()
    enum Flush { case now, later, none }
    let flush = state.withLock { state -> Flush in
      state.unsaved = batch.position
      if state.isFlushDue { return .none }
      state.isFlushDue = true
      return state.lastFlush + Self.flushEvery <= now ? .now : .later
    }
    switch flush {
    case .now: self.flush()
    case .later:
      queue.asyncAfter(deadline: now + Self.flushEvery) { [weak self] in self?.flush() }
    case .none: break
    }
  }

  private func flush() {
    let (grouped, position) = state.withLock { state in
      defer {
        state.isFlushDue = false
        state.lastFlush = .now()
      }
      return (state.grouped, state.unsaved.take())
    }
    guard let position else { return }
    do {
      try notes.acknowledge(position)
      try grouped?.flush()
    } catch {
      log.write(.warning, "cannot make the position durable: \(error)", of: status)
      state.withLock { $0.unsaved = $0.unsaved ?? position }
    }
  }
}
