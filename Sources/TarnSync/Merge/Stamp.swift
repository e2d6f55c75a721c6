/// When a value was written, and by which replica. The value with the later stamp wins.
package struct Stamp: Hashable, Comparable, Sendable {
  /// Microseconds since 1970, unique in a replica and later than all stamps that it has seen.
  package let time: Int64
  /// The replica's number on the server; 0 is the server itself. It breaks ties.
  package let writer: UInt32

  package init(_ time: Int64, by writer: UInt32) {
    self.time = time
    self.writer = writer
  }

  /// Later than every other one.
  static let latest = Stamp(.max, by: .max)

  package static func < (a: Stamp, b: Stamp) -> Bool {
    (a.time, a.writer) < (b.time, b.writer)
  }
}
