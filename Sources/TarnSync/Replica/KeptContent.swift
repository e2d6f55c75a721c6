import TarnStore

/// A replica's copy of a property with parts: the server's content, and the content of this file
/// after a download that found unsent changes of it.
///
/// The merge needs the content from which the unsent changes began. There is one for each download
/// since the first unsent change, usually only one: a push sends the changes up to some commit, and
/// these began with the last download before that commit.
struct KeptContent: Equatable {
  /// The version of this file whose content is described.
  var version: UInt64
  /// The server's stamp of the column.
  var stamp: Stamp
  var server: WireValue
  /// The content here; nil if it equals the server's.
  var local: WireValue?

  /// The version of an entry for a former object, which was deleted here before another one was
  /// created with its key: only commits before that deletion need the server's content.
  static let formerVersion = UInt64.max

  var isOfFormer: Bool { version == Self.formerVersion }

  /// The stored contents of an object, by property, oldest first.
  typealias Table = [ColumnID: [KeptContent]]

  static func encoded(_ table: Table) -> [UInt8]? {
    if table.isEmpty { return nil }
    var writer = BigEndianWriter()
    writer.write(count: table.count)
    for (column, list) in table.sorted(by: { $0.key < $1.key }) {
      writer.write(column.rawValue)
      writer.write(count: list.count)
      for kept in list { kept.write(to: &writer) }
    }
    return writer.bytes
  }

  private func write(to writer: inout BigEndianWriter) {
    writer.writeVariable(version)
    writer.write(stamp.time)
    writer.write(stamp.writer)
    server.write(to: &writer)
    writer.write(UInt8(local == nil ? 0 : 1))
    local?.write(to: &writer)
  }

  /// - Returns: nil for damaged bytes.
  static func table(_ bytes: [UInt8]) -> Table? {
    var reader = BigEndianReader(bytes)
    guard let count = reader.readCount() else { return nil }
    var table: Table = [:]
    for _ in 0..<count {
      guard let column: UInt16 = reader.read(), let length = reader.readCount() else { return nil }
      var list: [KeptContent] = []
      for _ in 0..<length {
        guard let kept = KeptContent(&reader) else { return nil }
        list.append(kept)
      }
      table[ColumnID(column)] = list
    }
    return reader.isAtEnd ? table : nil
  }

  private init?(_ reader: inout BigEndianReader) {
    guard let version = reader.readVariable(), let time: Int64 = reader.read(),
      let writer: UInt32 = reader.read(), let server = WireValue(&reader),
      let isChanged: UInt8 = reader.read()
    else { return nil }
    self.init(version: version, stamp: Stamp(time, by: writer), server: server)
    if isChanged != 0 {
      guard let local = WireValue(&reader) else { return nil }
      self.local = local
    }
  }

  init(version: UInt64, stamp: Stamp, server: WireValue, local: WireValue? = nil) {
    (self.version, self.stamp, self.server, self.local) = (version, stamp, server, local)
  }
}

extension KeptContent {
  /// The content here. Its parts have the stamps of this file; unsent ones may be later than the
  /// column's.
  func shown(_ coder: ContentCoder) -> Content<WireItem> {
    local.map { coder.content($0, at: .latest) } ?? coder.content(server, at: stamp)
  }

  /// Drops the contents that only sent commits need.
  static func trimmed(_ kept: [KeptContent], sentUpTo version: UInt64) -> [KeptContent] {
    guard let first = kept.lastIndex(where: { $0.version <= version }) else { return kept }
    return Array(kept[first...])
  }
}

extension WireValue {
  fileprivate func write(to writer: inout BigEndianWriter) {
    writer.write(count: bytes.count)
    writer.write(bytes)
    writer.write(UInt8(exact == nil ? 0 : 1))
    guard let exact else { return }
    writer.write(count: exact.count)
    writer.write(exact)
  }

  fileprivate init?(_ reader: inout BigEndianReader) {
    guard let bytes = reader.readBytes(), let isExact: UInt8 = reader.read() else { return nil }
    var exact: [UInt8]?
    if isExact != 0 {
      exact = reader.readBytes()
      if exact == nil { return nil }
    }
    self.init(bytes, exact: exact)
  }
}
