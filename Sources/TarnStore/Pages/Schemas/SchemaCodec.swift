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
    var body = RecordWriter(capacity: 4_096)
    body.varint(UInt64(schema.classes.count))
    for item in schema.classes { body.classSchema(item, hasRules: format == formatUnique) }
    guard let length = UInt32(exactly: body.bytes.count),
      body.bytes.count <= pieceByteCountMax * Int(UInt16.max)
    else {
      throw StorageError(
        .limitExceeded, operation: "add classes", path: "",
        detail: "the classes have too many properties, or too long names")
    }
    var stream = RecordWriter(capacity: headerByteCount + body.bytes.count)
    stream.word(format)
    stream.word(length)
    stream.word(Checksum.of(body.bytes))
    stream.bytes += body.bytes
    let bytes = stream.bytes
    return stride(from: 0, to: bytes.count, by: pieceByteCountMax).map { start in
      Array(bytes[start..<min(start + pieceByteCountMax, bytes.count)])
    }
  }

  /// The schema from the joined pieces of `encode`.
  /// - Throws: `.corrupted`; `.newerFormat` if only a later library can read it.
  package static func decode(_ stream: [UInt8]) throws(StorageError) -> StoreSchema {
    unsafe try withBytes(of: stream) { stream throws(StorageError) in unsafe try decode(stream) }
  }

  private static func decode(
    _ stream: UnsafeRawBufferPointer
  ) throws(StorageError) -> StoreSchema {
    guard stream.count >= headerByteCount else { throw damaged("it ends too early") }
    var header = unsafe RecordReader(stream)
    let (format, length, sum): (UInt32, UInt32, UInt32)
    (format, length, sum) = (try header.word(), try header.word(), try header.word())
    let body = unsafe UnsafeRawBufferPointer(rebasing: stream[headerByteCount...])
    guard (formatPlain...formatUnique).contains(format) else {
      throw format > formatUnique
        ? StorageError(
          .newerFormat, operation: operationRead, path: "",
          detail: "The schema has a newer format. Update the library.")
        : damaged("it has no format")
    }
    guard body.count == Int(length) else { throw damaged("its length is wrong") }
    guard unsafe Checksum.of(body) == sum else { throw damaged("its checksum is wrong") }
    var reader = unsafe RecordReader(body)
    guard let schema = try? reader.schema(hasRules: format == formatUnique), reader.remaining == 0
    else { throw damaged("its bytes cannot be decoded") }
    if let problem = schema.inconsistency { throw damaged(problem) }
    return schema
  }

  static func damaged(_ detail: String) -> StorageError {
    StorageError(
      .corrupted, operation: operationRead, path: "", detail: "The schema is damaged: \(detail)")
  }
}

extension RecordWriter {
  fileprivate mutating func classSchema(_ item: ClassSchema, hasRules: Bool) {
    text(item.name)
    varint(item.isEmbedded ? 1 : 0)
    varint(UInt64(item.primaryKey.map { $0.index + 1 } ?? 0))
    varint(UInt64(item.columns.count))
    for column in item.columns {
      text(column.name)
      byte(column.type.rawValue)
      varint(
        (column.isOptional ? 1 : 0) | (column.isIndexed ? column.indexedFlag : 0)
          | (column.isRemoved ? 4 : 0) | (column.deleteRule == .cascade ? 8 : 0))
      byte(column.collection.rawValue)
      varint(column.target.map { UInt64($0.rawValue) + 1 } ?? 0)
    }
    guard hasRules else { return }
    varint(UInt64(item.uniqueRules.count))
    for rule in item.uniqueRules {
      varint(UInt64(rule.count))
      for column in rule { varint(UInt64(column.index)) }
    }
  }
}

/// The parts of a schema. Each throws `.corrupted` for malformed bytes.
extension RecordReader {
  fileprivate mutating func schema(hasRules: Bool) throws(StorageError) -> StoreSchema {
    var classes: [ClassSchema] = []
    for index in 0..<(try count(upTo: remaining)) {
      classes.append(try classSchema(id: ClassID(UInt32(index)), hasRules: hasRules))
    }
    return StoreSchema(classes: classes)
  }

  private mutating func count(upTo limit: Int) throws(StorageError) -> Int {
    let count: Int = try number()
    guard count <= limit else { throw .damagedRecord("a number is too large") }
    return count
  }

  /// A name. Its bytes must be UTF-8.
  private mutating func name() throws(StorageError) -> String {
    let bytes = unsafe try rest(of: count(upTo: remaining))
    guard let name = unsafe String(validating: bytes, as: UTF8.self) else {
      throw .damagedRecord("a name is not UTF-8")
    }
    return name
  }

  private mutating func classSchema(
    id: ClassID, hasRules: Bool
  ) throws(StorageError) -> ClassSchema {
    let name = try name()
    let flags = try count(upTo: 1)
    let key = try count(upTo: Int(UInt16.max))
    var columns: [ColumnSchema] = []
    for index in 0..<(try count(upTo: Int(UInt16.max))) {
      columns.append(try column(id: ColumnID(UInt16(index))))
    }
    return ClassSchema(
      id: id, name: name, columns: columns,
      primaryKey: key == 0 ? nil : ColumnID(UInt16(key - 1)), isEmbedded: flags == 1,
      uniqueRules: hasRules ? try uniqueRules() : [])
  }

  private mutating func uniqueRules() throws(StorageError) -> [[ColumnID]] {
    var rules: [[ColumnID]] = []
    for _ in 0..<(try count(upTo: Int(UInt16.max))) {
      var rule: [ColumnID] = []
      for _ in 0..<(try count(upTo: Int(UInt16.max))) { rule.append(ColumnID(try number())) }
      rules.append(rule)
    }
    return rules
  }

  private mutating func column(id: ColumnID) throws(StorageError) -> ColumnSchema {
    let name = try name()
    guard let type = ColumnType(rawValue: try byte()) else {
      throw .damagedRecord("a property has an unknown type")
    }
    let flags: UInt64 = try number()
    guard flags <= (type == .any ? 31 : 15),
      let collection = CollectionKind(rawValue: try byte())
    else { throw .damagedRecord("a property is impossible") }
    let target = try count(upTo: Int(UInt32.max))
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
  fileprivate var indexedFlag: UInt64 { type == .any ? 16 : 2 }
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
