import Foundation
import Tarn
import TarnStore

/// Delivers to a receiver whose refusals go to a file, so that the rest goes on.
///
/// Threading: everything is on the queue of the sink's runner, but for `stop`.
final class DeadLetters: @unchecked Sendable {
  // because: the state is used on the runner's queue only.

  private let sink: any RefusableSink
  private let file: DeadLetterFile
  private let path: String
  private let status: SinkStatus
  private let log: DaemonLog
  private var refusals: Refusals
  private var divided: DividedBatch?
  private let hasStopped = Lock(false)

  init(
    _ settings: DeadLetterSettings, _ sink: any RefusableSink, _ outputs: OutputFiles,
    _ status: SinkStatus, _ log: DaemonLog
  ) {
    self.sink = sink
    file = DeadLetterFile(settings.path, outputs)
    path = settings.path
    refusals = Refusals(attemptsMax: settings.attemptsMax)
    self.status = status
    self.log = log
  }

  /// Any thread.
  func stop() { hasStopped.withLock { $0 = true } }

  /// The end of the next batch; nil if it is everything.
  func limit(after version: UInt64) -> UInt64? { refusals.limit(after: version) }

  /// Whether the commits of a refused batch are sent apart.
  var isDividing: Bool { refusals.isDividing }

  /// The batch that is being sent in parts.
  var batch: ChangeBatch? { divided?.delivery.batch }

  /// The next delivery begins again with the parts that were not taken.
  func forgetBatch() { divided = nil }

  /// What was refused is not sent any more.
  func reset() {
    divided = nil
    refusals = Refusals(attemptsMax: refusals.attemptsMax)
  }

  /// Delivers a batch, or the next part of one that was refused.
  ///
  /// - Parameters:
  ///   - first: the part with which a batch goes on that an earlier process divided.
  ///   - note: is called with a part before it is sent.
  /// - Returns: whether all of the batch was taken or given up.
  /// - Throws: `SmallerDelivery` if the batch is to be made smaller, and otherwise
  ///   `DeliveryFailure`.
  func deliver(
    _ delivery: Delivery, from first: SentPart?, noting note: (SentPart) throws -> Void
  ) throws -> Bool {
    if divided == nil, let first {
      divided = try DividedBatch(delivery, limit: sink.partBytesMax, from: first)
    }
    if let divided { return try deliverPart(of: divided, noting: note) }
    let isFirst = !refusals.isDividing
    do throws(DeliveryFailure) {
      try sink.deliver(delivery)
    } catch {
      switch verdict(error, delivery) {
      case .again: throw error
      case .commits: throw SmallerDelivery(failure: error, isOfCommits: true, isFirst: isFirst)
      case .objects:
        try divide(delivery, error.refusal?.part)
        throw SmallerDelivery(failure: error, isOfCommits: false, isFirst: isFirst)
      }
    }
    refusals.isDone()
    return true
  }

  private func verdict(_ failure: DeliveryFailure, _ delivery: Delivery) -> Refusals.Verdict {
    guard let refusal = failure.refusal else { return .again }
    let batch = delivery.batch
    // Parts that were taken are not sent again with fewer commits.
    let isPartlyTaken = refusal.part.map { $0.line > 0 || $0.items.lowerBound > 0 } ?? false
    return refusals.refused(
      isFinal: refusal.isFinal, batch.from...max(batch.from, batch.to),
      isDivisible: !isPartlyTaken && batch.fullResync == nil
        && !delivery.watch.delivery.isEveryCommit)
  }

  private func divide(_ delivery: Delivery, _ refused: SentPart?) throws(DeliveryFailure) {
    let made = try DividedBatch(delivery, limit: sink.partBytesMax, from: refused)
    if let refused {
      try made.halve(refused)
    } else if let whole = made.part?.place, delivery.changedClasses.count == 1 {
      try made.halve(whole)
    }
    divided = made
  }

  private func deliverPart(
    of divided: DividedBatch, noting note: (SentPart) throws -> Void
  ) throws -> Bool {
    guard let part = divided.part else { return end() }
    try note(part.place)
    do throws(DeliveryFailure) {
      try sink.deliver(part, of: divided.delivery)
    } catch {
      guard let refusal = error.refusal else { throw error }
      if !part.isSingle {
        try reading { () throws(DeliveryFailure) in try divided.halve(refusal.part ?? part.place) }
        throw SmallerDelivery(failure: error, isOfCommits: false, isFirst: false)
      }
      let attempts = refusals.attempts + 1
      guard part.isObject, refusals.refusedObject(isFinal: refusal.isFinal) else { throw error }
      try giveUp(part, divided.delivery, attempts, error)
    }
    refusals.isDone()
    try reading(divided.advance)
    return divided.part == nil ? end() : false
  }

  private func end() -> Bool {
    divided = nil
    return true
  }

  /// After a batch that cannot be read, another object like this begins again.
  private func reading(_ body: () throws(DeliveryFailure) -> Void) throws(DeliveryFailure) {
    do throws(DeliveryFailure) {
      try body()
    } catch {
      divided = nil
      throw error
    }
  }

  private static var now: Timestamp {
    let seconds = Date().timeIntervalSince1970
    return Timestamp(seconds: Int64(seconds), nanoseconds: 0)
  }

  private func giveUp(
    _ part: ObjectPart, _ delivery: Delivery, _ attempts: Int, _ failure: DeliveryFailure
  ) throws(DeliveryFailure) {
    try file.append(
      part.bytes, of: delivery, sink: status.sink, attempts: attempts, failure, at: Self.now,
      unless: { hasStopped.withLock { $0 } })
    status.update { $0.deadLetters += 1 }
    log.write(.warning, "\(failure): an object is in \(path) now", of: status)
  }
}

/// A batch was refused, and is made smaller.
struct SmallerDelivery: Error {
  let failure: DeliveryFailure
  /// Whether its commits are sent apart, and not its objects.
  let isOfCommits: Bool
  /// Whether it is not a part of a batch that was refused already.
  let isFirst: Bool
}
