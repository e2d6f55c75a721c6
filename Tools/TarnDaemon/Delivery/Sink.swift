import Tarn
import TarnStore
import TarnText
import ToolSupport

/// A batch on its way to a sink.
struct Delivery {
  let batch: ChangeBatch
  let watch: WatchSettings
  let path: String
  var keys = RequestKeys(consumer: "")
  /// Whether the receiver refused a larger batch with these changes, and may have taken some.
  var isAfterRefusal = false
  /// Whether an earlier version began to send it.
  var isOfEarlierVersion = false
  /// The position that the last line has, if it is not the batch's.
  var position: String?

  /// Whether it may have been delivered before.
  var isRepeated: Bool { batch.isRepeated || isAfterRefusal }

  /// Whether old values are delivered. They may also be kept for other reasons. A batch that an
  /// earlier version began to send has them in any case.
  private var tellsOldValues: Bool {
    watch.keepsOldValues || isOfEarlierVersion || keys.areOfEarlierVersion
  }

  /// The lines of a class.
  ///
  /// - Parameters:
  ///   - limit: the approximate maximum size of a line in bytes.
  ///   - isRepeated: whether they say that they may have been delivered before; nil if the delivery
  ///     knows that.
  func line(
    ofClass name: String, limit: Int = .max, parts: FeedLine.Parts = .all, isRepeated: Bool? = nil
  ) -> FeedLine {
    let one = watch.classes.first { $0.name == name } ?? watch.classes[0]
    return FeedLine(
      batch, ofClass: one.name, columns: one.columns.map { ChosenColumns($0) }, limit: limit,
      parts: parts, position: position, isRepeated: isRepeated ?? self.isRepeated,
      tellsOldValues: tellsOldValues,
      [JSONMember("watch", .string(watch.name)), JSONMember("file", .string(path))])
  }

  /// The classes of its lines, in their order: those with changes, or all in a full resync.
  var changedClasses: [String] {
    let all = watch.classes.map(\.name)
    if batch.fullResync != nil { return all }
    let changed = Set(batch.classNames)
    let some = all.filter { changed.contains($0) }
    return some.isEmpty ? [all[0]] : some
  }

  /// The batch as lines, of one class after another.
  func lines(limit: Int = .max, isRepeated: Bool? = nil) -> BatchLines {
    BatchLines(changedClasses) { name, parts in
      line(ofClass: name, limit: limit, parts: parts, isRepeated: isRepeated)
    }
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
struct DeliveryFailure: Error, Equatable, CustomStringConvertible {
  let description: String
  /// When the receiver wants to be asked again.
  var retryAfter: Duration?
  /// Set if the receiver got it, and refused it.
  var refusal: Refusal?
}

extension DeliveryFailure {
  /// What reading a batch has met: a damaged file, for example.
  init(_ error: StorageError) { self.init(description: "cannot read the batch: \(error)") }
}

/// Reads a part of a batch.
func readingBatch<R>(
  _ body: () throws(StorageError) -> R
) throws(DeliveryFailure) -> R {
  do throws(StorageError) {
    return try body()
  } catch {
    throw DeliveryFailure(error)
  }
}

extension BatchLines {
  /// The next piece; nil at the end.
  func piece() throws(DeliveryFailure) -> [UInt8]? { try readingBatch(next) }
}

/// Takes batches, one at a time.
protocol Sink: AnyObject, Sendable {
  /// Whether a repeated delivery must be the same, byte for byte.
  var repeatsExactly: Bool { get }
  /// What many deliveries share; nil without a limit.
  var slots: Slots? { get }
  /// The approximate maximum size of a batch's part in bytes.
  var partBytesMax: Int { get }
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
  var partBytesMax: Int { .max }
  func reopen() {}
}
