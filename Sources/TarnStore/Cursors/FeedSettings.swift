/// What a file says about its cursors together, and how long it keeps change records without them:
///
///     u8 format | u8 flags | u64 changes | u32 next number | optional numbers | u32 checksum
package struct FeedSettings: Equatable, Sendable {
  package static let format: UInt8 = 1

  /// Raised by every change of a cursor or of the settings, so that processes know whether what
  /// they read before is still right. Begins at random: a file that had no cursors for a while
  /// must not get the same counter again.
  package var changes: UInt64
  package var nextNumber: UInt32
  package var retention: RetentionLimits

  package init(
    changes: UInt64 = .random(in: 1...1 << 62), nextNumber: UInt32 = 1,
    retention: RetentionLimits = RetentionLimits()
  ) {
    self.changes = changes
    self.nextNumber = nextNumber
    self.retention = retention
  }

  package func encoded() -> [UInt8] {
    var writer = RecordWriter(capacity: 48)
    writer.byte(Self.format)
    var flags: UInt8 = 0
    if retention.age != nil { flags |= 1 }
    if retention.versions != nil { flags |= 2 }
    if retention.bytes != nil { flags |= 4 }
    if retention.keepsOldValues { flags |= 8 }
    writer.byte(flags)
    writer.word(changes)
    writer.word(nextNumber)
    for number in [retention.age, retention.versions, retention.bytes] {
      if let number { writer.word(number) }
    }
    writer.checksum()
    return writer.bytes
  }

  package init(decoding bytes: UnsafeRawBufferPointer) throws(StorageError) {
    var reader = try unsafe RecordReader.checked(
      bytes, format: Self.format, "the record of the feed")
    let flags = try reader.byte()
    guard flags < 16 else { throw .newerRecord("the record of the feed has unknown flags") }
    changes = try reader.word()
    nextNumber = try reader.word()
    retention = RetentionLimits(keepsOldValues: flags & 8 != 0)
    if flags & 1 != 0 { retention.age = try reader.word() }
    if flags & 2 != 0 { retention.versions = try reader.word() }
    if flags & 4 != 0 { retention.bytes = try reader.word() }
    guard reader.remaining == 4 else {
      throw .damagedRecord("the record of the feed has a wrong length")
    }
  }
}
