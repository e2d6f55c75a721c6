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

  /// Whether the next batch is to be one commit.
  var takesOneCommit: Bool { refusals.size != .batch }

  /// The batch that is being sent object by object.
  var batch: ChangeBatch? { divided?.delivery.batch }

  /// Its parts begin anew with the next delivery.
  func forgetBatch() { divided = nil }

  /// What was refused is not sent any more.
  func reset() {
    divided = nil
    refusals = Refusals(attemptsMax: refusals.attemptsMax)
  }

  /// - Throws: `SmallerDelivery` if the batch is to be made smaller, and otherwise
  ///   `DeliveryFailure`.
  func deliver(_ delivery: Delivery) throws {
    if refusals.size == .object {
      try deliverObjects(delivery)
    } else {
      do throws(DeliveryFailure) {
        try sink.deliver(delivery)
      } catch {
        guard verdict(error, delivery) == .again else { throw SmallerDelivery(failure: error) }
        throw error
      }
    }
    refusals.delivered(upTo: delivery.batch.to)
  }

  private func verdict(
    _ failure: DeliveryFailure, _ delivery: Delivery
  ) -> Refusals.Verdict {
    guard let refusal = failure.refusal else { return .again }
    let batch = delivery.batch
    return refusals.refused(
      isFinal: refusal.isFinal, upTo: batch.to,
      isOneCommit: delivery.watch.delivery.isEveryCommit || batch.startAnew != nil
        || batch.to <= batch.from + 1)
  }

  private func deliverObjects(_ delivery: Delivery) throws(DeliveryFailure) {
    let divided: DividedBatch
    if let known = self.divided {
      divided = known
    } else {
      divided = try DividedBatch(delivery, tellsRepeats: !sink.repeatsExactly)
    }
    self.divided = divided
    while let part = divided.part {
      do throws(DeliveryFailure) {
        try sink.deliver(part, of: divided.delivery)
      } catch {
        let attempts = refusals.attempts + 1
        guard part.key != nil, verdict(error, divided.delivery) == .giveUp else { throw error }
        try giveUp(part, divided.delivery, attempts, error)
      }
      refusals.isDone()
      do throws(DeliveryFailure) {
        try divided.advance()
      } catch {
        self.divided = nil
        throw error
      }
    }
    self.divided = nil
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
}
