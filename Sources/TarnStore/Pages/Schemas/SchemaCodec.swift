internal import CTarn

/// The schema as bytes: one stream, cut into pieces that each fit a page:
///
///     u32  format: 2 if a class has unique rules, else 1
///     u32  length of the stream from byte 12 on
///     u32  CRC-32C of the stream from byte 12 on
///     number of classes, then for each, in the order of the ids:
///       name, flags (1 embedded), primary key's column + 1 or 0, number of columns, then for each
///         name, u8 type, flags (1 optional, 2 indexed, 4 removed, 8 deletes its targets),
///         u8 collection (0 none, 1 list, 2 set, 3 map), target class + 1 or 0
///       format 2: number of unique rules, then for each: number of columns, the columns
///
/// So a library without unique rules refuses a file that has some.
///
/// Numbers inside are base-128 varints, names their UTF-8 after its length: neither has a limit.
/// The u32 are little endian.
package enum SchemaCodec {
  /// The longest piece, in bytes.
  package static let pieceByteCountMax = 4_080
  private static let headerByteCount = 12
  private static let formatPlain: UInt32 = 1
  private static let formatUnique: UInt32 = 2
  private static let operationRead = "read schema"

  /// The schema in pieces, in order.
  /// - Throws: `.invalidInput` with a sentence about the inconsistency.
  package static func encode(_ schema: StoreSchema) throws(StorageError) -> [[UInt8]] {
    if let problem = schema.inconsistency {
      throw StorageError(.invalidInput, operation: "add classes", path: "", detail: problem)
    }
    let format =
      schema.classes.allSatisfy(\.uniqueRules.isEmpty) ? formatPlain : formatUnique
    var body = SchemaWriter(hasRules: format == formatUnique)
    body.number(schema.classes.count)
    for item in schema.classes { body.write(item) }
    guard let length = UInt32(exactly: body.bytes.count),
      body.bytes.count <= pieceByteCountMax * Int(UInt16.max)
    else {
      throw StorageError(
        .limitExceeded, operation: "add classes", path: "",
        detail: "the classes have too many properties, or too long names")
    }
    var stream: [UInt8] = []
    stream.reserveCapacity(headerByteCount + body.bytes.count)
    for number in [format, length, checksum(body.bytes[...])] {
      for shift in [0, 8, 16, 24] as [UInt32] {
        stream.append(UInt8(truncatingIfNeeded: number >> shift))
      }
    }
    stream += body.bytes
    return stride(from: 0, to: stream.count, by: pieceByteCountMax).map { start in
      Array(stream[start..<min(start + pieceByteCountMax, stream.count)])
    }
  }

  /// The schema from the joined pieces of `encode`.
  /// - Throws: `.corrupted`; `.newerFormat` if only a later library can read it.
  package static func decode(_ stream: [UInt8]) throws(StorageError) -> StoreSchema {
    func header(_ index: Int) -> UInt32 {
      (0..<4).reduce(0) { $0 | UInt32(stream[index * 4 + $1]) << (8 * UInt32($1)) }
    }
    guard stream.count >= headerByteCount else { throw damaged("it ends too early") }
    let body = stream[headerByteCount...]
    guard (formatPlain...formatUnique).contains(header(0)) else {
      throw header(0) > formatUnique
        ? StorageError(
          .newerFormat, operation: operationRead, path: "",
          detail: "The schema has a newer format. Update the library.")
        : damaged("it has no format")
    }
    guard body.count == Int(header(1)) else { throw damaged("its length is wrong") }
    guard checksum(body) == header(2) else { throw damaged("its checksum is wrong") }
    var reader = SchemaReader(body, hasRules: header(0) == formatUnique)
    guard let schema = reader.schema(), reader.isAtEnd else {
      throw damaged("its bytes cannot be decoded")
    }
    if let problem = schema.inconsistency { throw damaged(problem) }
    return schema
  }

  static func damaged(_ detail: String) -> StorageError {
    StorageError(
      .corrupted, operation: operationRead, path: "", detail: "The schema is damaged: \(detail)")
  }

  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    unsafe bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return 0 }
      return unsafe tarn_crc32c(base, bytes.count)
    }
  }
}

private struct SchemaWriter {
  let hasRules: Bool
  var bytes: [UInt8] = []

  mutating func number(_ value: Int) {
    var rest = UInt64(value)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func name(_ name: String) {
    number(name.utf8.count)
    bytes += name.utf8
  }

  mutating func write(_ item: ClassSchema) {
    name(item.name)
    number(item.isEmbedded ? 1 : 0)
    number(item.primaryKey.map { $0.index + 1 } ?? 0)
    number(item.columns.count)
    for column in item.columns {
      name(column.name)
      bytes.append(column.type.rawValue)
      number(
        (column.isOptional ? 1 : 0) | (column.isIndexed ? column.indexedFlag : 0)
          | (column.isRemoved ? 4 : 0) | (column.deleteRule == .cascade ? 8 : 0))
      bytes.append(column.collection.rawValue)
      number(column.target.map { Int($0.rawValue) + 1 } ?? 0)
    }
    guard hasRules else { return }
    number(item.uniqueRules.count)
    for rule in item.uniqueRules {
      number(rule.count)
      for column in rule { number(column.index) }
    }
  }
}

/// Reads the bytes that SchemaWriter wrote. Each function returns nil for malformed bytes.
private struct SchemaReader {
  private let bytes: ArraySlice<UInt8>
  private let hasRules: Bool
  private var position: Int

  init(_ bytes: ArraySlice<UInt8>, hasRules: Bool) {
    self.bytes = bytes
    self.hasRules = hasRules
    position = bytes.startIndex
  }

  var isAtEnd: Bool { position == bytes.endIndex }

  mutating func byte() -> UInt8? {
    guard position < bytes.endIndex else { return nil }
    defer { position += 1 }
    return bytes[position]
  }

  /// At most seven bytes, so that every number fits an Int with room for additions.
  mutating func number() -> Int? {
    var result = 0
    for shift in stride(from: 0, to: 49, by: 7) {
      guard let byte = byte() else { return nil }
      result |= Int(byte & 0x7f) << shift
      if byte < 0x80 { return result }
    }
    return nil
  }

  mutating func name() -> String? {
    guard let count = number(), count <= bytes.endIndex - position else { return nil }
    defer { position += count }
    return String(validating: bytes[position..<position + count], as: UTF8.self)
  }

  mutating func schema() -> StoreSchema? {
    guard let count = number(), count <= bytes.count else { return nil }
    var classes: [ClassSchema] = []
    for index in 0..<count {
      guard let item = classSchema(id: ClassID(UInt32(index))) else { return nil }
      classes.append(item)
    }
    return StoreSchema(classes: classes)
  }

  private mutating func classSchema(id: ClassID) -> ClassSchema? {
    guard let name = name(), let flags = number(), flags <= 1, let key = number(),
      key <= Int(UInt16.max), let count = number(), count <= Int(UInt16.max)
    else { return nil }
    var columns: [ColumnSchema] = []
    for index in 0..<count {
      guard let column = column(id: ColumnID(UInt16(index))) else { return nil }
      columns.append(column)
    }
    guard let rules = hasRules ? uniqueRules() : [] else { return nil }
    return ClassSchema(
      id: id, name: name, columns: columns,
      primaryKey: key == 0 ? nil : ColumnID(UInt16(key - 1)), isEmbedded: flags == 1,
      uniqueRules: rules)
  }

  private mutating func uniqueRules() -> [[ColumnID]]? {
    guard let count = number(), count <= Int(UInt16.max) else { return nil }
    var rules: [[ColumnID]] = []
    for _ in 0..<count {
      guard let length = number(), length <= Int(UInt16.max) else { return nil }
      var rule: [ColumnID] = []
      for _ in 0..<length {
        guard let column = number().flatMap({ UInt16(exactly: $0) }) else { return nil }
        rule.append(ColumnID(column))
      }
      rules.append(rule)
    }
    return rules
  }

  private mutating func column(id: ColumnID) -> ColumnSchema? {
    guard let name = name(), let type = byte().flatMap(ColumnType.init(rawValue:)),
      let flags = number(), flags <= (type == .any ? 31 : 15),
      let collection = byte().flatMap(CollectionKind.init(rawValue:)), let target = number(),
      target <= Int(UInt32.max)
    else { return nil }
    var column = ColumnSchema(
      id: id, name: name, type: type, collection: collection, isOptional: flags & 1 != 0,
      target: target == 0 ? nil : ClassID(UInt32(target - 1)),
      deleteRule: flags & 8 != 0 ? .cascade : .nullify, isRemoved: flags & 4 != 0)
    column.isIndexed = flags & column.indexedFlag != 0
    return column
  }
}

extension ColumnSchema {
  /// Mixed columns have a separate flag. In files with the other flag their indexes hold only
  /// links, and are completed when a program that wants the index opens the file.
  fileprivate var indexedFlag: Int { type == .any ? 16 : 2 }
}

/// The schema's pieces in the tree.
extension SchemaCodec {
  /// The schema of the file with the domains of its columns, nil if it has none yet.
  /// - Throws: `.corrupted`; `.newerFormat` if only a later library can read it.
  package static func read(_ cursor: inout Cursor) throws(StorageError) -> StoreSchema? {
    var stream: [UInt8] = []
    let start = TreeKey.schema(piece: 0)
    var found = try unsafe start.withBytes { key throws(StorageError) -> Bool in
      try unsafe cursor.seek(atOrAfter: key)
    }
    var piece: UInt16 = 0
    while found, let number = unsafe TreeKey.parseSchema(cursor.key) {
      guard number == piece, piece < .max else { throw damaged("a piece is missing") }
      unsafe stream.append(contentsOf: cursor.value)
      piece += 1
      found = try cursor.next()
    }
    if piece == 0 { return nil }
    var schema = try decode(stream)
    try DomainRecords.read(into: &schema, &cursor)
    return schema
  }

  /// Replaces the schema, and the domains of its columns.
  /// - Throws: `.invalidInput` if it is inconsistent; then nothing is written.
  package static func write(
    _ schema: StoreSchema, in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    var piece: UInt16 = 0
    for bytes in try encode(schema) {
      try unsafe TreeKey.schema(piece: piece).withBytes { key throws(StorageError) in
        try unsafe bytes.withUnsafeBufferPointer { bytes throws(StorageError) in
          try unsafe transaction.put(UnsafeRawBufferPointer(bytes), forKey: key)
        }
      }
      piece += 1
    }
    while true {
      let existed = try unsafe TreeKey.schema(piece: piece).withBytes {
        key throws(StorageError) -> Bool in
        try unsafe transaction.delete(key)
      }
      guard existed, piece < .max else { break }
      piece += 1
    }
    try DomainRecords.write(schema, in: transaction)
  }
}
