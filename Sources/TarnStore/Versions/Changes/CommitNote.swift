internal import Glibc

/// The data about a commit in its change record besides the changes: when it was made, by which
/// program, and its place in the history of the file.
///
/// The note is a section that libraries without it skip, so that programs with and without it may
/// share a file. Times depend on a machine's clock; commits are ordered by version.
package struct CommitNote: Equatable, Sendable {
  /// The wall clock at the commit, in microseconds since 1970. It may go backwards.
  package var time: Int64
  /// A hybrid logical clock timestamp in microseconds since 1970: the wall clock if that is greater
  /// than the former stamp, else the former stamp plus one or more. It is unique in a history.
  package var stamp: UInt64
  /// The age of the history in microseconds: the sum of the times between commits. While a process
  /// has the file open, they are measured by a clock that nobody sets; otherwise by the wall clock,
  /// and limited to an hour each. A wall clock that is wrong for a while hardly affects it.
  package var age: UInt64
  /// The bytes of all records up to and including this one.
  package var logBytes: UInt64
  /// The numbers of the cursors that the commit belongs to, in order.
  package var cursors: [UInt32]
  /// The program that made it: at most 64 bytes of UTF-8.
  package var origin: String

  /// The longest name of a program, in bytes.
  package static let originBytesMax = 64
  /// The maximum number of cursors of one commit.
  package static let cursorsMax = 16
  /// The most that one commit can add to the age by the wall clock.
  static let ageStepMax: UInt64 = 3_600_000_000

  package init(
    time: Int64, stamp: UInt64, age: UInt64, logBytes: UInt64, cursors: [UInt32] = [],
    origin: String = ""
  ) {
    self.time = time
    self.stamp = stamp
    self.age = age
    self.logBytes = logBytes
    self.cursors = cursors
    self.origin = origin
  }

  /// The note of the commit after `last`; nil for the first one that has a note.
  ///
  /// - Parameters:
  ///   - time: the wall clock, in microseconds since 1970.
  ///   - elapsed: the microseconds since the last commit; nil if only the wall clock tells.
  ///   - floor: the minimum stamp.
  init(
    after last: CommitNote?, at time: Int64, elapsed: UInt64? = nil, cursors: [UInt32],
    origin: String, stampAtLeast floor: UInt64 = 0
  ) {
    self.init(
      time: time, stamp: max(UInt64(clamping: time), floor, last.map { $0.stamp &+ 1 } ?? 0),
      age: last?.age(at: time, elapsed: elapsed) ?? 0, logBytes: last?.logBytes ?? 0,
      cursors: cursors.isEmpty ? cursors : cursors.sorted(), origin: Self.shortened(origin))
  }

  /// The age of the history some time after this commit, if there is no later one.
  ///
  /// - Parameters:
  ///   - time: the wall clock, in microseconds since 1970.
  ///   - elapsed: the microseconds since this commit; nil if only the wall clock tells.
  func age(at time: Int64, elapsed: UInt64?) -> UInt64 {
    let clock = UInt64(clamping: time)
    let shown = clock - min(clock, UInt64(clamping: self.time))
    return age &+ (elapsed ?? min(shown, Self.ageStepMax))
  }

  /// The wall clock now.
  static var now: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }

  /// The longest beginning of a name that has at most that many bytes.
  static func shortened(_ name: String, to bytesMax: Int = originBytesMax) -> String {
    var start = name
    while start.utf8.count > bytesMax { start.removeLast() }
    return start
  }
}

extension CommitNote {
  /// The maximum size of the section, including its head.
  static let bytesMax = 3 + 4 * 8 + 1 + 4 * cursorsMax + originBytesMax
  /// The offset of `logBytes` from the section's start.
  private static let logBytesOffset = 3 + 3 * 8

  /// Appends the section.
  ///
  /// - Returns: the offset at which to write `logBytes` once it is known.
  func write(into writer: inout RecordWriter) -> Int {
    let start = writer.bytes.count
    // At once: every commit writes one.
    var head = InlineArray<36, UInt8>(repeating: 0)
    unsafe withUnsafeMutableBytes(of: &head) { bytes in
      func store<T: FixedWidthInteger>(_ number: T, _ offset: Int) {
        unsafe bytes.storeBytes(of: number.littleEndian, toByteOffset: offset, as: T.self)
      }
      store(ChangeRecord.Section.note, 0)
      store(UInt16(bytes.count - 3 + 4 * cursors.count + origin.utf8.count), 1)
      store(time, 3)
      store(stamp, 11)
      store(age, 19)
      store(logBytes, Self.logBytesOffset)
      store(UInt8(cursors.count), 35)
      unsafe writer.bytes.append(contentsOf: UnsafeRawBufferPointer(bytes))
    }
    for number in cursors { writer.word(number) }
    writer.bytes.append(contentsOf: origin.utf8)
    return start + Self.logBytesOffset
  }

  /// Reads the payload.
  init(
    _ part: inout RecordReader, skippingOrigin: Bool = false
  ) throws(StorageError) {
    time = try part.word()
    stamp = try part.word()
    age = try part.word()
    logBytes = try part.word()
    cursors = try Self.readCursors(&part)
    guard part.remaining <= Self.originBytesMax else {
      throw .damagedRecord("the name of its program is too long")
    }
    let name = unsafe try part.rest(of: part.remaining)
    origin = unsafe skippingOrigin ? "" : String(decoding: name, as: UTF8.self)
  }

  private static func readCursors(_ part: inout RecordReader) throws(StorageError) -> [UInt32] {
    let count = try part.byte()
    guard count <= cursorsMax else { throw .damagedRecord("it belongs to too many cursors") }
    var cursors: [UInt32] = []
    for _ in 0..<count { cursors.append(try part.word()) }
    return cursors
  }

  /// Reads only the cursors of the payload.
  static func cursors(in part: inout RecordReader) throws(StorageError) -> [UInt32] {
    try part.skip(4 * MemoryLayout<UInt64>.size)
    let cursors = try readCursors(&part)
    guard part.remaining <= originBytesMax else {
      throw .damagedRecord("the name of its program is too long")
    }
    return cursors
  }
}
