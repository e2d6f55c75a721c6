import Tarn
import TarnText
import ToolSupport

/// A batch on its way to a sink.
struct Delivery {
  let batch: ChangeBatch
  let watch: WatchSettings
  let path: String
  var keys = RequestKeys(consumer: "")

  /// The columns to write; nil for all.
  private var columns: ChosenColumns? { watch.columns.map { ChosenColumns($0) } }

  /// The batch as a line of JSON, or as several of about that many bytes at most.
  func line(
    limit: Int = .max, isByObject: Bool = false, tellsRepeats: Bool = true
  ) -> FeedLine {
    FeedLine(
      batch, ofClass: watch.className, columns: columns, limit: limit, isByObject: isByObject,
      tellsRepeats: tellsRepeats,
      [JSONMember("watch", .string(watch.name)), JSONMember("file", .string(path))])
  }

  /// A key as text.
  static func text(of identity: ObjectIdentity) -> String {
    switch RecordedJSON.name(of: identity) {
    case .string(let text): text
    case let value: JSONText.text(value)
    }
  }
}

/// Why a delivery did not succeed. Shown in logs and metrics, so it has no value of a property.
struct DeliveryFailure: Error, CustomStringConvertible {
  let description: String
  /// When the receiver wants to be asked again.
  var retryAfter: Duration?
  /// Set if the receiver got it, and refused it.
  var refusal: Refusal?
}

/// Takes batches, one at a time.
protocol Sink: AnyObject, Sendable {
  /// Whether a repeated delivery must be the same, byte for byte.
  var repeatsExactly: Bool { get }
  /// What many deliveries share; nil without a limit.
  var slots: Slots? { get }
  /// Delivers a batch; returns when the receiver has it. Blocks.
  func deliver(_ delivery: Delivery) throws(DeliveryFailure)
  /// Delivers a line that a person has asked for, to see whether the receiver answers. A sink that
  /// does only this, and nothing else.
  ///
  /// - Returns: what happened, for people.
  func tryOut(_ line: [UInt8], of watch: WatchSettings) throws(DeliveryFailure) -> String
  /// Closes what is open, so that the next delivery opens it again: its name may mean another file
  /// by now. Not during a delivery.
  func reopen()
  /// Lets a delivery that is running end soon, with a failure. Later ones fail, too. Never waits.
  func stop()
}

extension Sink {
  var repeatsExactly: Bool { false }
  var slots: Slots? { nil }
  func reopen() {}
}
