import Foundation
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
    /// The form of the requests, and that of a new beginning, which has also what is selected.
    var form = ""
    var beginningForm = ""
    /// Tells the new beginning that may be on its way from all others.
    var beginning: String?
    /// The selection that the next position is for; nil if the cursor in the file knows it.
    var selection: String?
    /// The end of the last batch whose commits are sent apart, because the receiver refused it.
    var refusedThrough: UInt64 = 0
  }

  private let positions: PositionFile?
  /// The sink's.
  private let isExact: Bool
  private let partBytesMax: Int
  private let path: String
  private let state: Lock<State>

  init(_ positions: PositionFile?, of sink: any Sink, in path: String) {
    self.positions = positions
    isExact = sink.repeatsExactly
    partBytesMax = sink.partBytesMax
    self.path = path
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
    let form = form(of: watch)
    let isNoted = isClean || positions?.notesDeliveries ?? false
    state.withLock { state in
      state.formerEnd = formerEnd
      state.notedFrom =
        positions == nil ? nil : isNoted ? 0 : positions?.earlierIntended?.version
      state.form = form
      state.beginningForm = form + watch.selectionSum
    }
    guard let content = positions?.content, let end = content.intended,
      content.part != nil && !divides || content.form ?? form != form
    else { return }
    // A batch that cannot be repeated as it was begins again, and may have what was taken then.
    state.withLock { $0.refusedThrough = max($0.refusedThrough, end.version) }
    try positions?.update { content in
      content.refusedThrough = max(content.refusedThrough, end.version)
      content.part = nil
    }
  }

  /// A sum of everything in the configuration that makes the bytes of a request, and does not make
  /// the sink need a full resync.
  private func form(of watch: WatchSettings) -> String {
    let facts = [
      watch.name, path, watch.classNames, "\(watch.keepsOldValues)", "\(partBytesMax)",
    ]
    return ShortSum.short(of: facts)
  }

  /// The keys of a batch that was noted. Requests in another form have other keys.
  func keys(of batch: ChangeBatch, for consumer: String) -> RequestKeys {
    var keys = RequestKeys(consumer: consumer)
    keys.form = state.withLock { state in
      batch.fullResync == nil ? state.form : state.beginningForm + (state.beginning ?? "")
    }
    guard isExact, batch.fullResync == nil, let content = positions?.content else { return keys }
    keys.areOfEarlierVersion = content.isOfEarlierVersion
    if content.intended == batch.position { keys.form = content.form ?? "" }
    return keys
  }

  /// Whether a position of a sink whose file has no cursor is for the classes, filters and columns
  /// of a watch.
  func isPosition(of watch: WatchSettings) -> Bool {
    let sum = watch.selectionSum
    state.withLock { $0.selection = sum }
    return positions?.content.selection ?? sum == sum
  }

  /// The consumer has everything up to a position.
  func acknowledge(_ position: ChangePosition) throws {
    let selection = state.withLock { state in
      state.beginning = nil
      return state.selection
    }
    try positions?.update { content in
      content.acknowledge(position)
      content.selection = selection
    }
  }

  /// All objects are sent again.
  func forget() {
    state.withLock { state in
      state.formerEnd = nil
      state.notedFrom = nil
      state.refusedThrough = 0
      state.beginning = nil
    }
  }

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
    isExact && batch.fullResync == nil && positions?.earlierIntended == batch.position
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
    guard isExact, batch.fullResync == nil, let content = positions?.content,
      content.acknowledged == batch.startPosition, content.intended == batch.position
    else { return nil }
    return content.part
  }

  /// Notes a batch, or a part of it, before it is delivered.
  func note(_ batch: ChangeBatch, _ part: SentPart? = nil) throws {
    let isBeginning = batch.fullResync != nil
    if isExact, isBeginning { return try noteBeginning() }
    guard let positions else { return }
    if isExact {
      let form = state.withLock { $0.form }
      return try positions.noteDelivery(
        from: batch.startPosition, upTo: batch.position, part: part, form: form, isDurable: true)
    }
    // After a kill, only the parts of an exactly repeated batch are known.
    if part != nil { return }
    let formerEnd = state.withLock { $0.formerEnd }
    try positions.noteDelivery(
      from: isBeginning ? nil : batch.startPosition, upTo: batch.position.orLater(formerEnd),
      isDurable: false)
  }

  /// A new beginning is computed again when it is resent. Only another one, which may have the same
  /// version of the file, has other keys.
  private func noteBeginning() throws {
    let beginning = state.withLock { state in
      let known = state.beginning ?? positions?.content.beginning
      let beginning = known ?? String(ShortSum.of(UUID().uuidString).prefix(16))
      state.beginning = beginning
      return beginning
    }
    try positions?.update { $0.beginning = beginning }
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
