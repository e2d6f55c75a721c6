import TarnStore

/// A record of the values in a row of the server that a file does not have, because its properties
/// cannot hold them.
///
/// It counts when objects are compared with the server, so that the row is not fetched each time;
/// the row is fetched again when its version changes, or when another reader reads it.
struct LeftOut: Equatable {
  /// A part that is left out.
  struct Part: Equatable {
    /// The property's column; the key's if the whole row is left out.
    let column: ColumnID
    let fault: ValueFault
  }

  /// The version of the program and the schema, which determine whether a value can be held.
  struct Reader: Equatable {
    /// Raised with each version of the program that can hold more values.
    static let revision: UInt8 = 1

    var revision = Self.revision
    /// The epoch of the file's schema.
    var epoch: UInt64

    /// The reader of a row that is read again once unsent changes are sent.
    static func untilSent(_ epoch: UInt64) -> Reader { Reader(revision: 0, epoch: epoch) }
  }

  let version: Int64
  let reader: Reader
  /// The primary key as the server sent it.
  let key: [UInt8]
  /// Whether the file has no part of the row.
  let isWhole: Bool
  /// Only the first ones if there are many.
  let parts: [Part]

  static let kind: UInt8 = 6
  private static let format: UInt8 = 1
  /// A record fits into a page.
  private static let bytesMax = 3_000

  init(
    version: Int64, reader: Reader, key: [UInt8], isWhole: Bool, _ parts: [Part]
  ) {
    self.version = version
    self.reader = reader
    // A longer key is found by its prefix: two such keys are refused instead of one.
    self.key = Array(key.prefix(Self.keyBytes))
    self.isWhole = isWhole
    self.parts = parts
  }

  static let keyBytes = 400

  /// Whether it is left out only because of unsent changes.
  var isUntilSent: Bool { reader.revision == 0 }

  func isOf(_ primaryKey: Value) -> Bool {
    guard let bytes = WireValue(primaryKey)?.bytes else { return false }
    return bytes.prefix(Self.keyBytes).elementsEqual(key)
  }

  // MARK: - Records

  static func key(_ id: ClassID, _ incarnation: Int64) -> ReplicaKey {
    ReplicaKey(kind, id, incarnation)
  }

  var encoded: [UInt8] {
    var writer = BigEndianWriter()
    writer.write(Self.format)
    writer.write(version)
    writer.write(reader.revision)
    writer.write(reader.epoch)
    writer.write(UInt8(isWhole ? 1 : 0))
    writer.write(count: key.count)
    writer.write(key)
    for part in parts {
      var one = BigEndianWriter()
      one.write(part.column.rawValue)
      one.write(part.fault.kind.rawValue)
      one.write(text: part.fault.path.prefix(bytes: 200))
      one.write(text: part.fault.reason.prefix(bytes: 200))
      if writer.bytes.count + one.bytes.count > Self.bytesMax { break }
      writer.write(one.bytes)
    }
    return writer.bytes
  }

  /// - Returns: nil for damaged bytes.
  init?(_ bytes: [UInt8]) {
    var reader = BigEndianReader(bytes)
    guard reader.read(UInt8.self) == Self.format, let version: Int64 = reader.read(),
      let revision: UInt8 = reader.read(), let epoch: UInt64 = reader.read(),
      let isWhole: UInt8 = reader.read(), let key = reader.readBytes()
    else { return nil }
    var parts: [Part] = []
    while !reader.isAtEnd {
      guard let column: UInt16 = reader.read(),
        let kind = reader.read(UInt8.self).flatMap({ ValueFault.Kind(rawValue: $0) }),
        let path = reader.readText(), let reason = reader.readText()
      else { return nil }
      parts.append(Part(column: ColumnID(column), fault: ValueFault(kind, path: path, reason)))
    }
    self.init(
      version: version, reader: Reader(revision: revision, epoch: epoch), key: key,
      isWhole: isWhole != 0, parts)
  }

  /// All records of a class in a file, by incarnation.
  static func all(
    in id: ClassID, _ snapshot: Snapshot
  ) throws(StorageError) -> [Int64: LeftOut] {
    var found: [Int64: LeftOut] = [:]
    try ReplicaRecords.forEach(kind, id, in: snapshot.transaction) {
      incarnation, bytes throws(StorageError) in
      guard let one = LeftOut(bytes) else { throw ReplicaObjects.damaged() }
      found[incarnation] = one
      return true
    }
    return found
  }
}

extension String {
  /// As many scalars as fit into some bytes.
  fileprivate func prefix(bytes count: Int) -> String {
    if utf8.count <= count { return self }
    var scalars = unicodeScalars
    while String(scalars).utf8.count > count { scalars.removeLast() }
    return String(scalars)
  }
}

/// A value of the server, or a whole row, that a file does not have: for status.
package struct LeftOutValue: Hashable, Sendable {
  package let className: String
  /// As text; in hexadecimal if the bytes are not a valid key of the class.
  package let primaryKey: String
  /// With the position in it: `tags[3]`. The key if the whole object is left out.
  package let property: String
  package let reason: String
  /// Whether no part of the object is here.
  package let isWhole: Bool

  /// `Todo 7.tags[3]: …`
  package var text: String {
    isWhole
      ? "\(className) \(primaryKey), the whole object: \(property): \(reason)"
      : "\(className) \(primaryKey).\(property): \(reason)"
  }

  init(_ one: LeftOut, _ part: LeftOut.Part, _ described: ClassSchema) {
    className = described.name
    primaryKey = Self.text(one.key, described.primaryKey.map { described[$0].type })
    property = described[part.column].name + part.fault.path
    reason = part.fault.reason
    isWhole = one.isWhole
  }

  private static func text(_ key: [UInt8], _ type: ColumnType?) -> String {
    let value = type.flatMap { WireValue(key).value($0) }
    switch value {
    case .string(let text)?: return text
    case .int(let number)?: return "\(number)"
    case .objectID(let id)?: return id.hexadecimal
    case .uuid(let id)?: return id.uuidText
    default:
      return "\\x" + key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
  }

  /// All records of a file, in the order of the classes.
  ///
  /// - Parameter most: the maximum number.
  static func all(
    in snapshot: Snapshot, atMost most: Int = .max
  ) throws(StorageError) -> [LeftOutValue] {
    var values: [LeftOutValue] = []
    for described in snapshot.schema.schema.classes where values.count < most {
      try ReplicaRecords.forEach(LeftOut.kind, described.id, in: snapshot.transaction) {
        _, bytes throws(StorageError) in
        guard let one = LeftOut(bytes) else { throw ReplicaObjects.damaged() }
        for part in one.parts where values.count < most && part.fault.kind == .leftOut {
          // The column of a property that was removed since.
          guard part.column.index < described.columns.count else { continue }
          values.append(LeftOutValue(one, part, described))
        }
        return values.count < most
      }
    }
    return values
  }
}
