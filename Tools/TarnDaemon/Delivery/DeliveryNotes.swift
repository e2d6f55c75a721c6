import Tarn
import TarnStore

/// Notes in the position file what is on its way to a sink, so that a daemon that starts again
/// after a kill knows what the receiver may have. Any thread.
final class DeliveryNotes: Sendable {
  private struct State {
    /// Up to there an earlier process may have delivered, if that is not known better.
    var formerEnd: ChangePosition?
    /// From this version on, the position file has noted all deliveries to a sink that repeats
    /// them exactly; nil if it has not.
    var notedFrom: UInt64?
    /// The names of the classes, in the order of the lines.
    var classes: [String] = []
    /// The end of the last batch whose commits are sent apart, because the receiver refused it.
    var refusedThrough: UInt64 = 0
  }

  private let positions: PositionFile?
  /// Whether a repeated delivery must be the same.
  private let isExact: Bool
  private let state: Lock<State>

  init(_ positions: PositionFile?, isExact: Bool) {
    self.positions = positions
    self.isExact = isExact
    state = Lock(State(refusedThrough: positions?.content.refusedThrough ?? 0))
  }

  /// The cursor was opened.
  ///
  /// - Parameters:
  ///   - formerEnd: up to there an earlier process may have delivered, if that is not known better.
  ///   - isClean: whether none has delivered what it did not acknowledge.
  ///   - divides: whether a refused batch is sent in parts.
  func opened(
    _ watch: WatchSettings, formerEnd: ChangePosition?, isClean: Bool, divides: Bool
  ) throws {
    let names = watch.classes.map(\.name)
    let isNoted = isClean || positions?.notesDeliveries ?? false
    state.withLock { state in
      state.formerEnd = formerEnd
      state.notedFrom =
        positions == nil ? nil : isNoted ? 0 : positions?.earlierIntended?.version
      state.classes = names
    }
    guard let content = positions?.content, let part = content.part, let end = content.intended,
      !divides || !part.isOf(names)
    else { return }
    // A batch that cannot go on with its part begins again, and may have what was taken apart.
    state.withLock { $0.refusedThrough = max($0.refusedThrough, end.version) }
    try positions?.update { content in
      content.refusedThrough = max(content.refusedThrough, end.version)
      content.part = nil
    }
  }

  /// All objects are sent again.
  func forget() { state.withLock { $0 = State(classes: $0.classes) } }

  /// Whether nothing is known of a batch that was sent and not acknowledged.
  var isEmpty: Bool {
    positions?.content.intended == nil && state.withLock { $0.refusedThrough == 0 }
  }

  /// Whether the receiver refused a larger batch that has the changes after a version.
  func isAfterRefusal(_ version: UInt64) -> Bool { state.withLock { version < $0.refusedThrough } }

  /// False if the receiver got no other batch after a version than the one that is made next; nil
  /// if that is not known.
  func mayRepeat(after version: UInt64) -> Bool? {
    let isKnown = state.withLock { state in
      state.notedFrom.map { version >= max($0, state.refusedThrough) } ?? false
    }
    return isKnown ? false : nil
  }

  /// Whether an earlier version began to send a batch.
  func isOfEarlierVersion(_ batch: ChangeBatch) -> Bool {
    isExact && batch.startAnew == nil && positions?.earlierIntended == batch.position
  }

  /// The end of a batch that was sent, and may have been taken.
  func intendedEnd(after position: ChangePosition) -> UInt64? {
    guard let intended = positions?.content.intended,
      intended.historyID == position.historyID, intended.version > position.version
    else { return nil }
    return intended.version
  }

  /// The part of a batch that an earlier process was sending when it ended.
  func partInFlight(of batch: ChangeBatch) -> SentPart? {
    guard isExact, batch.startAnew == nil, let content = positions?.content,
      content.acknowledged == batch.startPosition, content.intended == batch.position
    else { return nil }
    return content.part?.part
  }

  /// Notes a batch, or a part of it, before it is delivered.
  func note(_ batch: ChangeBatch, _ part: SentPart? = nil) throws {
    guard let positions else { return }
    let isBeginning = batch.startAnew != nil
    if isExact {
      // A new beginning is made anew.
      if isBeginning { return }
      let names = state.withLock { $0.classes }
      return try positions.noteDelivery(
        from: batch.startPosition, upTo: batch.position,
        part: part.map { PartInFlight($0, ofClasses: names) }, isDurable: true)
    }
    // The parts of what is not repeated exactly are not known after a kill.
    if part != nil { return }
    let formerEnd = state.withLock { $0.formerEnd }
    try positions.noteDelivery(
      from: isBeginning ? nil : batch.startPosition, upTo: batch.position.orLater(formerEnd),
      isDurable: false)
  }

  /// Notes that a batch is sent in smaller ones, which may have changes that the receiver took.
  ///
  /// - Parameter isOfCommits: whether its commits are sent apart, and not its objects.
  func noteRefusal(of batch: ChangeBatch, isOfCommits: Bool) throws {
    state.withLock { state in
      state.formerEnd = batch.position.orLater(state.formerEnd)
      if isOfCommits { state.refusedThrough = max(state.refusedThrough, batch.to) }
    }
    guard isExact, isOfCommits else { return }
    try positions?.update { $0.refusedThrough = max($0.refusedThrough, batch.to) }
  }
}
