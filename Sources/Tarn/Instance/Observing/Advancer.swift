import Dispatch
import TarnStore

/// Moves an instance from version to version: in turns of its scheduler, and when a refresh, a
/// write or its own commit asks for it. After a move in a turn, `Delivery` calls the observers.
///
/// Threading: confined to the instance's scheduler.
final class Advancer {
  // Only the instance references this.
  unowned let host: any DeliveryHost
  /// When to ask a worker, and the work it has been asked for.
  var workLimits: WorkAhead.Limits
  var workAhead: WorkAhead?
  /// Calls for when a worker has nothing left to do for the instance.
  private var waiting: [() -> Void] = []
  /// When the next turn looks for a free read transaction; nil if the last look found one.
  private var nextLook: ContinuousClock.Instant?
  /// Milliseconds between two such looks, for which no other process wakes this one.
  private static let lookInterval = 250

  init(_ host: any DeliveryHost) {
    self.host = host
    workLimits = WorkAhead.Limits(on: host.scheduler)
  }

  private var delivery: Delivery { host.delivery }
  var observers: ObserverTable { host.delivery.observers }

  // MARK: - Turns

  /// One turn of the scheduler: follows the file, then calls observers.
  func takeTurn() {
    host.checkThread()
    defer { callWhoWaits() }
    if let refusal = delivery.refusal { return observers.end(with: refusal) }
    if host.session != nil || delivery.isBusy { return delivery.oweTurn() }
    delivery.turnBegins()
    // A truncated file cannot be read.
    if let loss = host.store.loss, loss.code == .corrupted { return fail(loss) }
    do {
      delivery.tellOfMove(try followInTurn())
      nextLook = nil
      if !host.autorefresh, host.isBehind { delivery.tellRealmObservers(.newerVersion) }
      // A realm-level observer may have left a write open.
      if host.session == nil { delivery.deliverRound() } else { delivery.oweTurn() }
      // Commits made before the loss are shown first.
      if let loss = host.store.loss, host.session == nil, workAhead == nil { fail(loss) }
    } catch {
      guard error.code == .readersFull else { return fail(error) }
      awaitReader(error)
    }
  }

  /// All read transactions are in use: the version stays until one is free.
  func awaitReader(_ error: StorageError) {
    let now = ContinuousClock.now
    if let nextLook, now < nextLook { return }
    if nextLook == nil {
      StoreLog.shared.write(.warning, "\(error). Newer versions are shown when one is free.")
    }
    nextLook = now + .milliseconds(Self.lookInterval)
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Self.lookInterval)) {
      [weak wakeUp = host.wakeUp] in wakeUp?.schedule()
    }
  }

  /// Calls back in the first turn in which a worker has nothing left to do for the instance.
  func callWhenWorkIsDone(_ call: @escaping () -> Void) { waiting.append(call) }

  private func callWhoWaits() {
    guard workAhead == nil, !waiting.isEmpty else { return }
    let calls = waiting
    waiting = []
    for call in calls { call() }
  }

  /// The store can no longer be followed: observers receive the error once, and the version stays.
  func fail(_ error: StorageError) {
    cancelWork()
    delivery.end(with: error)
  }

  func cancelWork() { workAhead?.work.cancel() }

  // MARK: - Moving

  /// Moves the instance in one step. Everything that observers need is computed here, while both
  /// versions are held.
  func move(_ move: PreparedMove) throws(StorageError) {
    guard let properties = host.properties else { return try step(move) }
    let changes = move.changes
    // All observers are called before the move, and then all after it, so that none sees a part of
    // it.
    let telling = delivery.telling {
      properties.begin(properties.effects(of: changes), in: changes.classes.map(\.id))
    }
    try step(move)
    delivery.telling { telling.finish() }
    host.endProperties()
  }

  /// Moves after the instance's own commit, of which property observers have been notified.
  ///
  /// - Parameters:
  ///   - news: the former values of observed objects; nil to read them from the current version.
  ///   - former: the state before, if that is not the current version.
  func moveAfterCommit(
    to snapshot: Snapshot, _ changes: ChangeSet, _ news: [ObjectNews]? = nil,
    from former: PastState? = nil
  ) throws(StorageError) {
    host.endProperties()
    try step(PreparedMove(snapshot: snapshot, changes: changes), news, from: former)
  }

  private func step(
    _ move: PreparedMove, _ news: [ObjectNews]? = nil, from past: PastState? = nil
  ) throws(StorageError) {
    guard let reader = host.reader else {
      host.state.begin(with: try SnapshotReader(move.snapshot))
      return host.rowsMoved()
    }
    let news = news ?? observers.readOldValues(move.changes, Rows(reader))
    let former = try host.state.move(reader, to: move.snapshot, move.changes)
    host.rowsMoved()
    let made = LiveMove(move.changes, from: past ?? .version(former), to: Rows(reader))
    observers.log(made, step: host.step, news, move.prepared, concerned: move.concerned)
  }

  /// Moves to the newest version.
  ///
  /// - Returns: true if the version changed.
  func advance() throws(StorageError) -> Bool {
    host.state.clearReset()
    return try advance(to: host.newestFittingSnapshot())
  }

  /// Advances to a snapshot, unless it is the current one.
  func advance(to newest: Snapshot) throws(StorageError) -> Bool {
    guard let reader = host.reader else {
      let changes = ChangeSet(from: .zero, to: newest.version)
      try move(PreparedMove(snapshot: newest, changes: changes))
      return true
    }
    let shown = reader.snapshot
    if newest.version == shown.version {
      if newest.schema.epoch != shown.schema.epoch {
        try reader.move(to: newest)
        host.rowsMoved()
      }
      return false
    }
    let changes = try ChangeLog.changes(from: shown, to: newest)
    try move(PreparedMove(snapshot: newest, changes: changes))
    return true
  }
}

/// A move to a newer version, and the results computed for it in advance.
struct PreparedMove {
  let snapshot: Snapshot
  /// The changes since the current version.
  let changes: ChangeSet
  /// The sources that it can concern; nil to look for them. A source added since is not followed
  /// yet, and one whose last observer has ended is not followed any more: neither needs the move.
  var concerned: [any ObservedSource]?
  /// The results that a worker has computed for these sources.
  var prepared: PreparedSteps = [:]
}
