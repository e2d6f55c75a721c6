import Tarn
import TarnStore
import ToolSupport

/// The lines of a batch: a line of one class, or the lines of several classes one after another, as
/// parts of the batch. Confined to one thread at a time.
final class BatchLines {
  private let make: (String, FeedLine.Parts) -> FeedLine
  /// The classes after the present one, the last first.
  private var rest: [String]
  private var line: FeedLine
  private var classIndex = 0

  /// - Parameters:
  ///   - classes: in the order in which they are written; at least one.
  ///   - make: returns the lines of a class.
  init(_ classes: [String], _ make: @escaping (String, FeedLine.Parts) -> FeedLine) {
    self.make = make
    rest = classes.dropFirst().reversed()
    line = make(classes[0], FeedLine.Parts(first: 1, isEnd: classes.count == 1))
  }

  /// The items of the last line, by the number of its class.
  var lineItems: (line: Int, items: Range<Int>) { (classIndex, line.lineItems) }

  /// Whether no line follows the present one. For lines without a limit.
  var isAtLastLine: Bool { rest.isEmpty }

  /// The next piece, which is never empty; nil at the end. For lines without a limit.
  func next() throws(StorageError) -> [UInt8]? {
    while true {
      if let piece = try line.next() { return piece }
      guard goOn() else { return nil }
    }
  }

  /// The next line; nil at the end.
  func nextLine() throws(StorageError) -> [UInt8]? {
    while true {
      if let bytes = try line.nextLine() { return bytes }
      guard goOn() else { return nil }
    }
  }

  private func goOn() -> Bool {
    guard let next = rest.popLast() else { return false }
    line = make(next, FeedLine.Parts(first: line.nextPart, isEnd: rest.isEmpty))
    classIndex += 1
    return true
  }
}
