import Tarn
import TarnStore
import ToolSupport

/// A batch that is sent in parts because its receiver refused it: each refused part is halved,
/// until an object is refused alone.
///
/// It keeps the batch's version in the file until it is done, so that the parts stay the same while
/// one is tried again. Confined to one thread at a time.
final class DividedBatch {
  /// A larger part is not put together in memory.
  private static let partBytesMax = 1 << 20

  let delivery: Delivery
  private let limit: Int
  private let classes: [String]
  private var line: FeedLine
  /// The part to send next: a part that is taken is not sent again.
  private var next: SentPart
  /// Where the parts of the class end, the next one last.
  private var ends: [Int]
  /// The part to send; nil at the end.
  private(set) var part: ObjectPart?

  /// - Parameters:
  ///   - limit: the approximate maximum size of a part in bytes.
  ///   - first: the first part to send; nil to begin with the first item.
  init(_ delivery: Delivery, limit: Int, from first: SentPart?) throws(DeliveryFailure) {
    self.delivery = delivery
    self.limit = min(limit, Self.partBytesMax)
    classes = delivery.changedClasses
    next = first ?? SentPart(line: 0, items: 0..<0, number: 1)
    next.line = min(next.line, classes.count - 1)
    line = Self.line(next.line, of: classes, delivery, self.limit)
    ends = [try readingBatch(line.itemCount)]
    if let first, next.items.upperBound < ends[0], !next.items.isEmpty {
      ends.append(first.items.upperBound)
    }
    try make()
  }

  private static func line(
    _ index: Int, of classes: [String], _ delivery: Delivery, _ limit: Int
  ) -> FeedLine {
    delivery.line(
      ofClass: classes[index], limit: limit,
      parts: FeedLine.Parts(first: index + 1, isEnd: index == classes.count - 1), isRepeated: true)
  }

  /// The receiver has the part, or it was given up.
  ///
  /// - Throws: if the batch cannot be read. Then it begins anew with another object like this.
  func advance() throws(DeliveryFailure) {
    next = SentPart(
      line: next.line, items: next.items.upperBound..<next.items.upperBound,
      number: next.number + 1)
    while let end = ends.last, end <= next.items.lowerBound { ends.removeLast() }
    if ends.isEmpty {
      guard next.line + 1 < classes.count else {
        part = nil
        return
      }
      next = SentPart(line: next.line + 1, items: 0..<0, number: next.number)
      line = Self.line(next.line, of: classes, delivery, limit)
      ends = [try readingBatch(line.itemCount)]
    }
    try make()
  }

  /// The receiver refused some items: those before them are taken, and they are halved.
  func halve(_ refused: SentPart) throws(DeliveryFailure) {
    let items = refused.items
    next = SentPart(line: next.line, items: items, number: max(next.number, refused.number))
    while let end = ends.last, end <= items.upperBound { ends.removeLast() }
    ends.append(items.upperBound)
    if items.count > 1 { ends.append(items.lowerBound + items.count / 2) }
    try make()
  }

  private func make() throws(DeliveryFailure) {
    let wanted = next.items.lowerBound..<max(next.items.lowerBound, ends[ends.count - 1])
    let number = next.number
    let (line, index) = (line, next.line)
    let made = try readingBatch { () throws(StorageError) in
      let (bytes, items) = try line.line(of: wanted, number: number)
      return ObjectPart(
        bytes: bytes, place: SentPart(line: index, items: items, number: number),
        objects: try ObjectItems(line, items))
    }
    next = made.place
    part = made
  }
}

/// A line with some objects of a batch. That with the beginning or the end may have none.
struct ObjectPart {
  let bytes: [UInt8]
  let place: SentPart
  let objects: ObjectItems

  /// Whether it cannot be divided.
  var isSingle: Bool { place.items.count <= 1 }
  /// Whether it is an object, which can be given up. The beginning and the end cannot.
  var isObject: Bool { isSingle && !objects.keys.isEmpty }
}

/// The keys of the objects among some items of a class.
struct ObjectItems {
  struct Key {
    let text: String
    /// The item of the object.
    let item: Int
    /// Whether the consumer has the object no more after the batch.
    let isRemoved: Bool
  }

  private(set) var keys: [Key] = []
  /// All items, including those that are not objects.
  let items: Range<Int>

  init(_ line: FeedLine, _ items: Range<Int>) throws(StorageError) {
    self.items = items
    for item in items {
      guard let identity = try line.identity(ofItem: item) else { continue }
      keys.append(
        Key(text: Delivery.text(of: identity), item: item, isRemoved: try line.isRemoval(item)))
    }
  }
}

/// A sink whose receiver may refuse what it gets.
protocol RefusableSink: Sink {
  func deliver(_ part: ObjectPart, of delivery: Delivery) throws(DeliveryFailure)
}
