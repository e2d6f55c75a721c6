import Dispatch
import Foundation
import Tarn
import TarnStore
import ToolSupport

/// The changes of one watch for any number of clients, each at its own place: a client that is slow
/// gets one bigger difference, not a queue.
///
/// One cursor for each file retains what clients need to resume; differences that several clients
/// need are made once. Threading: everything is on the hub's queue.
final class FeedHub: FileTable.Listener {
  /// A file of the watch.
  private struct Channel {
    let file: OpenFile
    let classes: PresentClasses
    let status: SinkStatus
    /// Nil if the file cannot be written, or if somebody else has the cursor.
    var retaining: RetainingCursor?
    /// Nil until it can be made. While the file has no class of the watch, it selects nothing.
    var reader: ChangeCursor?
    let keeper = MovingPosition()
    /// Wakes the hub when a commit may concern the reader.
    var following: FeedRegistration?
    /// Why it has no cursor that retains, or cannot serve.
    var fault: String?
    /// When that is tried again.
    var retry = DispatchTime.now() + FeedHub.retryPause
    /// The lines that lead on from a position, until the next commit.
    var made: [ChangePosition: (line: [UInt8], end: ChangePosition)] = [:]
  }

  /// A longer difference is made for each client apart.
  private static let sharedBytesMax = 1 << 20

  private static let retryPause = DispatchTimeInterval.seconds(30)

  let watch: WatchSettings
  /// The sum of the watch's selection, which each position for a client has.
  let selection: String
  let queue = DispatchQueue(label: "tarn-hub")
  private let sinkName: String
  private let context: DaemonContext
  private let log: DaemonLog
  private let state = Lock(State())

  private struct State {
    var channels: [String: Channel] = [:]
    var subscribers: [Subscriber] = []
    /// How many clients have been admitted, and are not added yet.
    var admitted = 0
    var hasStopped = false
    var isServing = false
    var statuses: [SinkStatus] = []
  }

  init(_ watch: WatchSettings, sink: String, _ context: DaemonContext) {
    self.watch = watch
    selection = watch.selectionSum
    sinkName = sink
    self.context = context
    log = context.log
  }

  var statuses: [SinkStatus] { state.withLock { $0.statuses } }
  var subscriberCount: Int { state.withLock { $0.subscribers.count } }

  // MARK: - Files

  func begin(_ file: OpenFile) {
    let status = SinkStatus(watch.name, sinkName, file.path)
    let classes = PresentClasses(of: watch, in: file, status, log)
    // This may wait for a writer, so it is not on the hub's queue.
    let (retaining, fault) = prepare(file, classes, status, former: nil)
    queue.sync {
      if state.withLock({ $0.hasStopped }) {
        retaining?.close()
        return
      }
      do {
        if let cause = file.copyCause {
          log.write(.warning, "the file is not followed: \(cause)", of: status)
        }
        var channel = Channel(
          file: file, classes: classes, status: status, retaining: retaining, fault: fault)
        try select(&channel)
        state.withLock { state in
          state.channels[file.path] = channel
          state.statuses.removeAll { $0.path == file.path }
          state.statuses.append(status)
        }
        for subscriber in state.withLock({ $0.subscribers }) { subscriber.begin(file.path) }
        serve()
      } catch {
        status.failed("\(error)")
        log.write(.warning, "\(error)", of: status)
      }
    }
  }

  /// Makes the reader of the classes that the file has. On the queue.
  private func select(_ channel: inout Channel) throws {
    channel.reader = nil
    let present = try channel.classes.look { true }
    let reader = try channel.file.reader(watch.name, present, keeper: channel.keeper)
    let following = try reader.followCommits { [weak self] in self?.news() }
    channel.following?.end()
    (channel.reader, channel.following) = (reader, following)
    if present.selectsNothing {
      channel.status.isCurrent(at: channel.file.store.newestKnownVersion.rawValue)
    }
  }

  /// The same again, if the file has got a class that it did not have.
  private func selectAgain(_ path: String) {
    guard var channel = state.withLock({ $0.channels[path] }) else { return }
    do {
      try select(&channel)
      // Its cursor retains what the former classes need: another one is opened.
      channel.retry = .now()
      channel.fault = channel.fault ?? "other classes"
      channel.made = [:]
    } catch {
      channel.status.failed("\(error)")
      log.write(.warning, "\(error)", of: channel.status)
    }
    state.withLock { [channel] in $0.channels[path] = channel }
  }

  /// Opens the cursor that retains, if there can be one. Waits for writers.
  ///
  /// - Parameter former: what was wrong before, and is logged.
  private func prepare(
    _ file: OpenFile, _ classes: PresentClasses, _ status: SinkStatus, former: String?
  ) -> (RetainingCursor?, fault: String?) {
    let watch: WatchSettings
    do {
      watch = try classes.look()
      try file.checkSelection(of: watch)
      if former != nil { status.update { $0.failingSince = nil } }
    } catch is AwaitedClasses {
      return (nil, nil)
    } catch {
      status.failed("\(error)")
      if "\(error)" != former { log.write(.warning, "\(error)", of: status) }
      return (nil, "\(error)")
    }
    guard file.isWritable else { return (nil, nil) }
    do {
      let name = context.cursorName(watch.name, sinkName)
      return (try RetainingCursor(name, watch, file), nil)
    } catch {
      if "\(error)" != former {
        log.write(
          .warning, "clients can resume only as far as the file's retention: \(error)", of: status)
      }
      return (nil, "\(error)")
    }
  }

  /// Tries again to open the cursor that retains. On the queue.
  private func prepareAgain(_ channel: Channel) {
    state.withLock { $0.channels[channel.file.path]?.retry = .now() + Self.retryPause }
    let (file, status, former) = (channel.file, channel.status, channel.fault)
    channel.retaining?.close()
    DispatchQueue.global().async { [self] in
      let (retaining, fault) = prepare(file, channel.classes, status, former: former)
      queue.async { [self] in
        let isTaken = state.withLock { state in
          guard state.channels[file.path]?.file === file else { return false }
          state.channels[file.path]?.retaining = retaining
          state.channels[file.path]?.fault = fault
          return true
        }
        if !isTaken { retaining?.close() }
        if isTaken, fault == nil { serve() }
      }
    }
  }

  func end(_ path: String) {
    queue.sync {
      let channel = state.withLock { state in
        state.statuses.removeAll { $0.path == path }
        return state.channels.removeValue(forKey: path)
      }
      guard let channel else { return }
      channel.following?.end()
      channel.retaining?.close()
      log.write(.notice, "the file was replaced, moved or deleted", of: channel.status)
      for subscriber in state.withLock({ $0.subscribers }) { subscriber.end(path) }
    }
  }

  func isWaiting(for path: String, _ reason: String) {
    log.write(.notice, "waiting for \(path): \(reason)", [("TARN_WATCH", watch.name)])
  }

  /// Lets all clients go.
  func stop() {
    queue.sync {
      let (channels, subscribers) = state.withLock { state in
        state.hasStopped = true
        defer {
          state.channels = [:]
          state.subscribers = []
        }
        return (state.channels.values.map { $0 }, state.subscribers)
      }
      for subscriber in subscribers { subscriber.drop("the daemon ends") }
      for channel in channels {
        channel.following?.end()
        channel.retaining?.close()
      }
    }
  }

  // MARK: - Clients

  /// Keeps room for a client that is added soon, or dismissed. Any thread.
  ///
  /// - Returns: false if there are as many clients as there may be.
  func admit(of most: Int) -> Bool {
    if take(of: most, besides: []) { return true }
    // Those that have left are noticed by the next heartbeat, or here.
    let left = state.withLock { $0.subscribers }.filter(\.hasLeft)
    if !left.isEmpty { queue.async { for subscriber in left { subscriber.endIfLeft() } } }
    return take(of: most, besides: Set(left.map { ObjectIdentifier($0) }))
  }

  private func take(of most: Int, besides left: Set<ObjectIdentifier>) -> Bool {
    state.withLock { state in
      let count = state.subscribers.count { !left.contains(ObjectIdentifier($0)) }
      guard count + state.admitted < most else { return false }
      state.admitted += 1
      return true
    }
  }

  /// Any thread.
  func dismiss() { state.withLock { $0.admitted -= 1 } }

  /// Adds a client; it gets its first lines at once. On the queue.
  ///
  /// - Parameter isAdmitted: whether there is room for it already.
  func add(_ subscriber: Subscriber, isAdmitted: Bool = false) {
    let paths = state.withLock { state -> [String]? in
      if isAdmitted { state.admitted -= 1 }
      if state.hasStopped { return nil }
      state.subscribers.append(subscriber)
      return state.channels.keys.sorted()
    }
    guard let paths else { return subscriber.drop("the daemon ends") }
    for path in paths { subscriber.begin(path) }
    serve(subscriber)
    count()
  }

  /// Removes a client. On the queue.
  func remove(_ subscriber: Subscriber, dropped: Bool) {
    state.withLock { $0.subscribers.removeAll { $0 === subscriber } }
    if dropped { for status in statuses { status.update { $0.dropped += 1 } } }
    count()
  }

  private func count() {
    let count = subscriberCount
    for status in statuses {
      status.update { $0.clients = count }
      if count > 0 { status.follows(nil) }
    }
    if count == 0 { rest() }
  }

  private func news() {
    let isFirst = state.withLock { state in
      defer { state.isServing = true }
      return !state.isServing
    }
    guard isFirst else { return }
    let delay = max(watch.delivery.delay, watch.delivery.interval)
    if delay > .zero {
      queue.asyncAfter(deadline: .now() + delay.interval) { [weak self] in self?.serve() }
    } else {
      queue.async { [weak self] in self?.serve() }
    }
  }

  private func serve() {
    let (subscribers, paths) = state.withLock { state in
      state.isServing = false
      for path in state.channels.keys { state.channels[path]?.made = [:] }
      return (state.subscribers, Array(state.channels.keys))
    }
    for path in paths where state.withLock({ $0.channels[path]?.classes.haveGrown }) == true {
      selectAgain(path)
    }
    for subscriber in subscribers {
      for path in paths { subscriber.begin(path) }
      serve(subscriber)
    }
    if subscriberCount == 0 { rest() }
  }

  /// Without clients, there is nothing to do before a commit concerns the watch.
  private func rest() {
    for channel in state.withLock({ Array($0.channels.values) }) {
      if let reader = channel.reader, let snapshot = try? channel.file.store.newestSnapshot() {
        let newest = ChangePosition(FeedPlace(snapshot.head))
        try? channel.keeper.move(
          to: FeedPoint.Place(position: newest, standing: .confirmed), in: snapshot)
        _ = try? reader.next(limit: limit)
      }
      channel.status.isCurrent(at: channel.file.store.newestKnownVersion.rawValue)
      channel.status.follows(channel.following)
    }
  }

  private var limit: BatchLimit { watch.delivery.isEveryCommit ? .everyCommit : .none }

  /// Gives a client what it lacks, as far as it takes it. On the queue.
  func serve(_ subscriber: Subscriber) {
    // Each turn sends a line, moves the client on, or finds it current in a file.
    while subscriber.wantsMore, let path = subscriber.nextPath() {
      if let line = line(subscriber, path) { subscriber.send(line) }
    }
  }

  /// What comes next for a client in a file; nil if nothing is to be sent now.
  private func line(_ subscriber: Subscriber, _ path: String) -> Subscriber.Line? {
    guard let channel = state.withLock({ $0.channels[path] }), let reader = channel.reader else {
      subscriber.isCurrent(path)
      return nil
    }
    let place = subscriber.place(in: path)
    // A client that has nothing waits for the classes.
    if place == nil, channel.classes.areAllAwaited {
      subscriber.isCurrent(path)
      return nil
    }
    if let place, place.standing != .ofOtherSelection, let made = channel.made[place.position] {
      return Self.whole(made.line, path, made.end)
    }
    do {
      try channel.keeper.move(to: place, in: try channel.file.store.newestSnapshot())
      guard let batch = try reader.next(limit: limit) else {
        // A commit that has just added an awaited class does not wake the reader again.
        if channel.classes.haveGrown {
          selectAgain(path)
          return nil
        }
        subscriber.confirm(path)
        subscriber.isCurrent(path)
        return nil
      }
      if channel.classes.areMissed(in: batch.storeSchema) {
        selectAgain(path)
        return nil
      }
      if batch.isEmpty {
        subscriber.moved(path, to: batch.position)
        return nil
      }
      return try line(batch, place, path, channel)
    } catch {
      channel.status.failed("\(error)")
      log.write(.warning, "\(error)", of: channel.status)
      subscriber.isCurrent(path)
      return nil
    }
  }

  private func line(
    _ batch: ChangeBatch, _ place: FeedPoint.Place?, _ path: String, _ channel: Channel
  ) throws(StorageError) -> Subscriber.Line {
    var delivery = Delivery(batch: batch, watch: channel.classes.watch, path: path)
    delivery.position = "\(ClientPosition(batch.position, selection: selection))"
    let lines = delivery.lines()
    let first = try lines.next() ?? []
    let isLast = lines.isAtLastLine
    channel.status.delivered(upTo: batch.to, isNewBeginning: batch.fullResync != nil)
    guard isLast, first.last == 0x0a, first.count <= Self.sharedBytesMax else {
      return Subscriber.Line(
        path: path, end: batch.position,
        first: Subscriber.Piece(bytes: first, isOfLastLine: isLast), rest: lines)
    }
    // A client that the file confirmed, at the same position, gets another line than one that needs
    // a full resync.
    if let place, place.standing == .confirmed || batch.fullResync == nil {
      state.withLock { $0.channels[path]?.made[place.position] = (first, batch.position) }
    }
    return Self.whole(first, path, batch.position)
  }

  private static func whole(
    _ bytes: [UInt8], _ path: String, _ end: ChangePosition
  ) -> Subscriber.Line {
    Subscriber.Line(
      path: path, end: end, first: Subscriber.Piece(bytes: bytes, isOfLastLine: true), rest: nil)
  }

  /// The open file that has a history; nil if several have it. Any thread.
  func path(ofHistory history: UUID) -> String? {
    let paths = state.withLock { Array($0.channels.values) }.map(\.file).filter { file in
      (try? file.newestPosition().historyID) == history
    }.map(\.path)
    return paths.count == 1 ? paths[0] : nil
  }

  /// Lets go of records that clients need no more. On any queue.
  func tidy() {
    queue.async { [weak self] in
      guard let self else { return }
      for channel in state.withLock({ Array($0.channels.values) }) {
        channel.retaining?.moveSoon { [log, status = channel.status] error in
          log.write(.warning, "cannot move the cursor: \(error)", of: status)
        }
        if channel.fault != nil, channel.retry <= .now() { prepareAgain(channel) }
      }
      for subscriber in state.withLock({ $0.subscribers }) { subscriber.check() }
    }
  }
}
