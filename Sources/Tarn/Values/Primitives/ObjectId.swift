import CTarn
public import Foundation
import Synchronization
import TarnStore

/// A twelve-byte identifier that can be created anywhere without coordination: four bytes of
/// seconds since 1970, five random bytes per process, three of a counter. So ids sort roughly by
/// creation time, and ids of one process and second usually in order.
public struct ObjectId: Hashable, Comparable, Sendable {
  /// The first eight bytes, most significant first.
  @usableFromInline let _high: UInt64
  /// The last four bytes, most significant first.
  @usableFromInline let _low: UInt32

  @inlinable init(high: UInt64, low: UInt32) {
    _high = high
    _low = low
  }

  /// The id of twelve zero bytes. Call `generate()` for a new one.
  public init() { self.init(high: 0, low: 0) }

  /// A new id.
  public static func generate() -> ObjectId {
    // Not `time`: its seconds begin some milliseconds after those of `Date`.
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    return ObjectId(
      seconds: UInt32(truncatingIfNeeded: now.tv_sec), process: Source.ofProcess.process,
      count: Source.ofProcess.next())
  }

  /// An id with a given time, and with the low 24 bits of the first number and the low 16 bits of
  /// the second instead of the process's random bytes. The counter continues.
  public init(timestamp: Date, machineId: Int = 0, processId: Int = 0) {
    let seconds = UInt32(truncatingIfNeeded: Int64(timestamp.timeIntervalSince1970))
    let process = UInt64(machineId & 0xFF_FFFF) << 16 | UInt64(processId & 0xFFFF)
    self.init(seconds: seconds, process: process, count: Source.ofProcess.next())
  }

  private init(seconds: UInt32, process: UInt64, count: UInt32) {
    self.init(
      high: UInt64(seconds) << 32 | process >> 8,
      low: UInt32(truncatingIfNeeded: process & 0xFF) << 24 | count & 0xFF_FFFF)
  }

  /// Reads 24 hexadecimal digits, upper or lower case.
  /// - Throws: an error that describes the problem of the text.
  public init(string: String) throws {
    guard let id = ObjectId(digits: string.utf8) else {
      throw ObjectIdFormatError(text: string)
    }
    self = id
  }

  /// Reads 24 hexadecimal digits from a literal; traps if it is anything else.
  public init(_ string: StaticString) {
    guard let id = ObjectId(digits: string.description.utf8) else {
      trap("\(ObjectIdFormatError(text: string.description))")
    }
    self = id
  }

  private init?(digits: String.UTF8View) {
    guard digits.count == 24 else { return nil }
    var high: UInt64 = 0
    var low: UInt32 = 0
    for (index, digit) in digits.enumerated() {
      guard let value = Character(Unicode.Scalar(digit)).hexDigitValue else { return nil }
      if index < 16 { high = high << 4 | UInt64(value) } else { low = low << 4 | UInt32(value) }
    }
    self.init(high: high, low: low)
  }

  /// 24 lower-case hexadecimal digits.
  public var stringValue: String {
    func padded(_ digits: String, to count: Int) -> String {
      String(repeating: "0", count: count - digits.count) + digits
    }
    return padded(String(_high, radix: 16), to: 16) + padded(String(_low, radix: 16), to: 8)
  }

  /// The time when the id was created, to the second.
  public var timestamp: Date { Date(timeIntervalSince1970: TimeInterval(_high >> 32)) }

  /// Compares bytewise, which is mostly the order in which ids were created.
  public static func < (a: ObjectId, b: ObjectId) -> Bool {
    (a._high, a._low) < (b._high, b._low)
  }
}

extension ObjectId: CustomStringConvertible {
  public var description: String { stringValue }
}

/// As a string of 24 digits.
extension ObjectId: Codable {
  /// Decodes the digits. Throws if they are not an id.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let id = ObjectId(digits: text.utf8) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: ObjectIdFormatError(text: text).description)
    }
    self = id
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(stringValue)
  }
}

/// A string that is not an `ObjectId`.
struct ObjectIdFormatError: Error, CustomStringConvertible, LocalizedError {
  var text: String
  var description: String {
    "\"\(text)\" is not an ObjectId. Write it as 24 hexadecimal digits"
  }
  var errorDescription: String? { description }
}

/// Makes the ids of this process different from others, and from each other.
private struct Source: ~Copyable {
  static let ofProcess = Source()

  private let random = Atomic<UInt64>(Self.drawn)
  private let counter = Atomic<UInt32>(.random(in: 0..<1 << 24))

  private init() {
    // A child made by fork shares the memory, but must not make the same ids.
    pthread_atfork(nil, nil) { Source.ofProcess.random.store(Source.drawn, ordering: .relaxed) }
  }

  private static var drawn: UInt64 { .random(in: 0..<1 << 40) }

  /// Five random bytes.
  var process: UInt64 { random.load(ordering: .relaxed) }

  func next() -> UInt32 { counter.wrappingAdd(1, ordering: .relaxed).oldValue }
}

extension ObjectId {
  var bytes: Bytes12 { Bytes12(high: _high, low: _low) }
  init(_ bytes: Bytes12) { self.init(high: bytes.high, low: bytes.low) }
}
