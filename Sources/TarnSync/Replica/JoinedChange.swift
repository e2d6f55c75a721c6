import TarnStore

/// The net changes of one object by unsent commits that were joined.
struct JoinedChange: Equatable {
  /// The commit that created an object, or that last wrote a property.
  struct Write: Equatable {
    var version: UInt64
    /// Its stamp, in microseconds since 1970.
    var time: Int64
  }

  /// Nil if no commit created the object.
  var created: Write?
  /// The version of the commit that deleted an object with this key; 0 if none did.
  var deleted: UInt64 = 0
  /// The primary key of the object that was deleted, in PostgreSQL's binary format.
  var primaryKey: [UInt8]?
  var writes: [ColumnID: Write] = [:]

  var isEmpty: Bool { created == nil && deleted == 0 && writes.isEmpty }

  /// Whether the object does not exist after the commits.
  var isDeletion: Bool { deleted > 0 && created == nil }

  /// The changes by commits after a version.
  func pending(after version: UInt64) -> UnsentChanges.Pending {
    UnsentChanges.Pending(
      isCreated: created.map { $0.version > version } ?? false, isDeleted: deleted > version,
      columns: writes.filter { $0.value.version > version }.keys.sorted())
  }

  /// Adds the changes of later commits.
  mutating func add(_ pending: UnsentChanges.Pending, by last: Write) {
    if pending.isDeleted { (created, deleted, writes) = (nil, last.version, [:]) }
    if pending.isCreated { (created, writes) = (last, [:]) }
    for column in pending.columns { writes[column] = last }
  }

  /// Drops the changes of commits up to a version.
  mutating func drop(through version: UInt64) {
    if let first = created, first.version <= version { created = nil }
    if deleted <= version { (deleted, primaryKey) = (0, nil) }
    writes = writes.filter { $0.value.version > version }
  }
}

extension JoinedChange {
  private enum Form {
    static let each: UInt8 = 0
    /// All properties have the same last write, so the record is short.
    static let common: UInt8 = 1
  }

  private static let bytesMax = 3_900

  var encoded: [UInt8] {
    let whole = encoded(Form.each)
    return whole.count <= Self.bytesMax ? whole : encoded(Form.common)
  }

  private func encoded(_ form: UInt8) -> [UInt8] {
    var writer = BigEndianWriter()
    writer.write(form)
    Self.write(created ?? Write(version: 0, time: 0), to: &writer)
    writer.writeVariable(deleted)
    writer.write(UInt8(primaryKey == nil ? 0 : 1))
    if let primaryKey {
      writer.write(count: primaryKey.count)
      writer.write(primaryKey)
    }
    writer.write(count: writes.count)
    if form == Form.common, let last = writes.values.max(by: { $0.version < $1.version }) {
      Self.write(last, to: &writer)
    }
    var former: UInt16 = 0
    for (column, write) in writes.sorted(by: { $0.key < $1.key }) {
      writer.writeVariable(UInt64(column.rawValue - former))
      former = column.rawValue
      if form == Form.each { Self.write(write, to: &writer) }
    }
    return writer.bytes
  }

  private static func write(_ write: Write, to writer: inout BigEndianWriter) {
    writer.writeVariable(write.version)
    writer.writeVariable(UInt64(bitPattern: write.time))
  }

  private static func write(_ reader: inout BigEndianReader) -> Write? {
    guard let version = reader.readVariable(), let time = reader.readVariable() else { return nil }
    return Write(version: version, time: Int64(bitPattern: time))
  }

  /// - Returns: nil for damaged bytes.
  init?(decoding bytes: [UInt8]) {
    var reader = BigEndianReader(bytes)
    guard let form: UInt8 = reader.read(), form <= Form.common,
      let created = Self.write(&reader), let deleted = reader.readVariable(),
      let hasKey: UInt8 = reader.read()
    else { return nil }
    self.created = created.version == 0 ? nil : created
    self.deleted = deleted
    if hasKey != 0 {
      guard let key = reader.readBytes() else { return nil }
      primaryKey = key
    }
    guard let count = reader.readCount() else { return nil }
    var common: Write?
    if form == Form.common, count > 0 {
      common = Self.write(&reader)
      if common == nil { return nil }
    }
    var last: UInt64 = 0
    for _ in 0..<count {
      guard let gap = reader.readVariable(), let column = UInt16(exactly: last + gap),
        let write = common ?? Self.write(&reader)
      else { return nil }
      writes[ColumnID(column)] = write
      last = UInt64(column)
    }
    guard reader.isAtEnd else { return nil }
  }
}
