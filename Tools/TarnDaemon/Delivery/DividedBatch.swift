import Tarn
import ToolSupport

/// A batch whose objects are sent one by one, and how far that is.
///
/// It keeps the batch's version in the file until it is done, so that the parts stay the same while
/// one is tried again. Confined to one thread at a time.
final class DividedBatch {
  let delivery: Delivery
  private let line: BatchLines
  /// The part to send next; nil at the end.
  private(set) var part: ObjectPart?

  /// - Parameter tellsRepeats: whether a part may say that it was sent before, and so differ from
  ///   the one that was.
  init(_ delivery: Delivery, tellsRepeats: Bool) throws(DeliveryFailure) {
    self.delivery = delivery
    line = delivery.lines(isByObject: true, tellsRepeats: tellsRepeats)
    try advance()
  }

  /// - Throws: if the batch cannot be read. Then it begins anew with another object like this.
  func advance() throws(DeliveryFailure) {
    let number = (part?.number ?? 0) + 1
    part = try readingBatch(line.nextLine).map { bytes in
      ObjectPart(bytes: bytes, number: number, key: line.lineIdentity.map { Delivery.text(of: $0) })
    }
  }
}

/// A line with one object of a batch, or with none: at the beginning and at the end.
struct ObjectPart {
  let bytes: [UInt8]
  /// Counted from 1.
  let number: Int
  /// The object's key; nil without an object. Such a part is not given up.
  let key: String?
}

/// A sink whose receiver may refuse what it gets.
protocol RefusableSink: Sink {
  func deliver(_ part: ObjectPart, of delivery: Delivery) throws(DeliveryFailure)
}
