/// A cursor as bytes, little endian:
///
///     u8 format | u8 flags | u8 level | u8 expiry and reason | i64 created | i64 acknowledged |
///     16 history | u64 version | u64 commit id | u64 schema epoch | u64 age | u64 log bytes |
///     u32 epoch | optional numbers of the flags | name | owner | selection | related classes |
///     u32 checksum
///
/// Texts and lists begin with their length (varint).
extension CursorRecord {
  package static let format: UInt8 = 1

  private struct Flags {
    static let limitAge: UInt8 = 1
    static let limitBytes: UInt8 = 2
    static let keptAge: UInt8 = 4
    static let keptBytes: UInt8 = 8
    static let owner: UInt8 = 16
    static let selection: UInt8 = 32
    static let expired: UInt8 = 64
    static let related: UInt8 = 128
  }

  /// The record, with its checksum.
  package func encoded() -> [UInt8] {
    var writer = RecordWriter(capacity: 256)
    writer.byte(Self.format)
    var flags: UInt8 = 0
    if limits.age != nil { flags |= Flags.limitAge }
    if limits.bytes != nil { flags |= Flags.limitBytes }
    if kept.age != nil { flags |= Flags.keptAge }
    if kept.bytes != nil { flags |= Flags.keptBytes }
    if owner != nil { flags |= Flags.owner }
    if selection != nil { flags |= Flags.selection }
    if expiredAt != nil { flags |= Flags.expired }
    if !related.isEmpty { flags |= Flags.related }
    writer.byte(flags)
    writer.byte(level.rawValue)
    writer.byte(reason?.rawValue ?? 0)
    writer.word(created)
    writer.word(acknowledgedAt)
    writer.word(acknowledged.historyID.high)
    writer.word(acknowledged.historyID.low)
    writer.word(acknowledged.version.rawValue)
    writer.word(acknowledged.commitID)
    writer.word(schemaEpoch)
    writer.word(age)
    writer.word(logBytes)
    writer.word(epoch)
    for number in [limits.age, limits.bytes, kept.age, kept.bytes] {
      if let number { writer.word(number) }
    }
    if let expiredAt { writer.word(expiredAt) }
    writer.text(name)
    if let owner {
      writer.word(owner.processID)
      writer.word(owner.startTime)
      writer.word(owner.since)
      writer.text(owner.name)
    }
    if let selection { writer.selection(selection) }
    if !related.isEmpty { writer.texts(related) }
    writer.seal()
    return writer.bytes
  }

  /// - Throws: `.corrupted` for a damaged record, `.newerFormat` for a record of a later library.
  package init(decoding bytes: UnsafeRawBufferPointer) throws(StorageError) {
    var reader = try unsafe RecordReader.sealed(
      bytes, formats: Self.format...Self.format, "a cursor")
    let flags = try reader.byte()
    guard let level = OldValueLevel(rawValue: try reader.byte()) else {
      throw .damagedRecord("a cursor has an impossible level")
    }
    self.level = level
    let reason = try reader.byte()
    self.reason = FeedReason(rawValue: reason)
    if reason != 0, self.reason == nil {
      throw .damagedRecord("a cursor has an impossible reason")
    }
    created = try reader.word()
    acknowledgedAt = try reader.word()
    let (high, low): (UInt64, UInt64) = (try reader.word(), try reader.word())
    acknowledged = FeedPlace(
      historyID: Bytes16(high: high, low: low), version: Version(try reader.word()),
      commitID: try reader.word())
    schemaEpoch = try reader.word()
    age = try reader.word()
    logBytes = try reader.word()
    epoch = try reader.word()
    limits = CursorLimits()
    kept = CursorLimits()
    if flags & Flags.limitAge != 0 { limits.age = try reader.word() }
    if flags & Flags.limitBytes != 0 { limits.bytes = try reader.word() }
    if flags & Flags.keptAge != 0 { kept.age = try reader.word() }
    if flags & Flags.keptBytes != 0 { kept.bytes = try reader.word() }
    if flags & Flags.expired != 0 { expiredAt = try reader.word() }
    name = try reader.text()
    if flags & Flags.owner != 0 {
      owner = CursorOwner(
        processID: try reader.word(), startTime: try reader.word(), name: "",
        since: try reader.word())
      owner?.name = try reader.text()
    }
    if flags & Flags.selection != 0 { selection = try reader.selection() }
    if flags & Flags.related != 0 { related = try reader.texts() }
    guard reader.isAtSeal else { throw .damagedRecord("a cursor has a wrong length") }
  }
}

extension RecordWriter {
  fileprivate mutating func selection(_ parts: [FeedSelectionName]) {
    varint(UInt64(parts.count))
    for part in parts {
      text(part.className)
      byte((part.condition == nil ? 0 : 1) | (part.keyPaths == nil ? 0 : 2))
      if let condition = part.condition { text(condition) }
      if let paths = part.keyPaths { texts(paths) }
    }
  }

  fileprivate mutating func texts(_ texts: [String]) {
    varint(UInt64(texts.count))
    for item in texts { text(item) }
  }
}

extension RecordReader {
  fileprivate mutating func selection() throws(StorageError) -> [FeedSelectionName] {
    var parts: [FeedSelectionName] = []
    let count: Int = try number()
    // A part has at least two bytes, so the loop over a damaged count ends early.
    for _ in 0..<count {
      var part = FeedSelectionName(className: try text(), condition: nil, keyPaths: nil)
      let has = try byte()
      if has & 1 != 0 { part.condition = try text() }
      if has & 2 != 0 { part.keyPaths = try texts() }
      parts.append(part)
    }
    return parts
  }

  fileprivate mutating func texts() throws(StorageError) -> [String] {
    let count: Int = try number()
    var all: [String] = []
    // Each has at least one byte, so the loop over a damaged count ends early.
    for _ in 0..<count { all.append(try text()) }
    return all
  }
}
