/// The settings of a file's cursors, and how long it keeps change records without them:
///
///     u8 format | u8 flags | u64 changes | u32 next number | limits | u32 checksum
///
/// Format 1 has one set of limits, whose fields the flags name. Format 2 has several: their number
/// as a byte, and then for each the flags of its fields and the fields.
package struct FeedSettings: Equatable, Sendable {
  package static let format: UInt8 = 2

  /// Raised by every change of a cursor or of the settings, so that processes know whether their
  /// copy is still current. Begins at a random number, because a file that had no cursors for a
  /// while must not get the same counter again.
  package var changes: UInt64
  package var nextNumber: UInt32
  package var retention: RetentionPolicy

  package init(
    changes: UInt64 = .random(in: 1...1 << 62), nextNumber: UInt32 = 1,
    retention: RetentionPolicy = RetentionPolicy()
  ) {
    self.changes = changes
    self.nextNumber = nextNumber
    self.retention = retention
  }

  /// The lowest bits are those of the limits.
  private struct Flags {
    static let oldValues: UInt8 = 8
    static let known: UInt8 = 15
  }

  /// In the oldest format that can hold it.
  package func encoded() -> [UInt8] {
    let limits = retention.limits
    var writer = RecordWriter(capacity: 48)
    writer.byte(limits.count > 1 ? 2 : 1)
    let oldValues = retention.keepsOldValues ? Flags.oldValues : 0
    writer.byte(oldValues | (limits.count == 1 ? limits[0].flags : 0))
    writer.word(changes)
    writer.word(nextNumber)
    if limits.count > 1 { writer.byte(UInt8(limits.count)) }
    for one in limits {
      if limits.count > 1 { writer.byte(one.flags) }
      for number in [one.age, one.versions, one.bytes] {
        if let number { writer.word(number) }
      }
    }
    writer.seal()
    return writer.bytes
  }

  package init(decoding bytes: UnsafeRawBufferPointer) throws(StorageError) {
    var reader = try unsafe RecordReader.sealed(
      bytes, formats: 1...Self.format, "the record of the feed")
    let isLong = unsafe bytes[0] > 1
    let flags = try reader.byte()
    guard flags & ~Flags.known == 0 else {
      throw .newerRecord("the record of the feed has unknown flags")
    }
    changes = try reader.word()
    nextNumber = try reader.word()
    var limits: [RetentionLimits] = []
    if isLong {
      for _ in 0..<(try reader.byte()) {
        limits.append(try RetentionLimits(&reader, flags: reader.byte()))
      }
    } else {
      limits = [try RetentionLimits(&reader, flags: flags)]
    }
    retention = RetentionPolicy(limits, keepsOldValues: flags & Flags.oldValues != 0)
    guard reader.isAtSeal else {
      throw .damagedRecord("the record of the feed has a wrong length")
    }
  }
}

extension RetentionLimits {
  fileprivate var flags: UInt8 {
    (age == nil ? 0 : 1) | (versions == nil ? 0 : 2) | (bytes == nil ? 0 : 4)
  }

  fileprivate init(_ reader: inout RecordReader, flags: UInt8) throws(StorageError) {
    self.init()
    if flags & 1 != 0 { age = try reader.word() }
    if flags & 2 != 0 { versions = try reader.word() }
    if flags & 4 != 0 { bytes = try reader.word() }
  }
}
