/// The domains of the columns in the tree: for each class with such columns a record next to those
/// of replicas.
///
///     u8 format, number of columns, then for each
///       column, u8 0: the least and the greatest number
///               u8 1: number of values, the values
///
/// Numbers are varints, values are tagged as in mixed columns.
enum DomainRecords {
  private static let format: UInt8 = 1

  private static func key(_ id: ClassID) -> ReplicaKey { ReplicaKey(ReplicaKey.domains, id, 0) }

  /// Gives the columns of a schema their domains.
  ///
  /// - Throws: `.corrupted` for a damaged record.
  static func read(
    into schema: inout StoreSchema, _ cursor: inout Cursor
  ) throws(StorageError) {
    for (key, bytes) in try ReplicaRecords.all(of: ReplicaKey.domains, &cursor) {
      guard let described = schema[key.classID] else { continue }
      for (id, domain) in try decoded(bytes) where id.index < described.columns.count {
        if described[id].isRemoved { continue }
        schema.classes[Int(key.classID.rawValue)].columns[id.index].domain = domain
      }
    }
  }

  /// Writes the records of a schema that differ from the existing ones.
  static func write(
    _ schema: StoreSchema, in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    var former: [ReplicaKey: [UInt8]] = [:]
    do {
      var cursor = try Cursor(transaction)
      for (key, bytes) in try ReplicaRecords.all(of: ReplicaKey.domains, &cursor) {
        former[key] = bytes
      }
    }
    var records = ReplicaRecords()
    for described in schema.classes {
      let name = key(described.id)
      let wanted = encoded(described)
      if wanted != former.removeValue(forKey: name) { records.set(name, wanted) }
    }
    for name in former.keys { records.set(name, nil) }
    try records.put(transaction)
  }

  // MARK: - Bytes

  /// - Returns: nil for a class without domains.
  private static func encoded(_ described: ClassSchema) -> [UInt8]? {
    let columns = described.columns.filter { $0.domain != nil && !$0.isRemoved }
    if columns.isEmpty { return nil }
    var writer = RecordWriter(capacity: 16 * columns.count)
    writer.byte(format)
    writer.varint(UInt64(columns.count))
    for column in columns {
      writer.varint(UInt64(column.id.index))
      switch column.domain {
      case nil: break
      case .integers(let range):
        writer.byte(0)
        writer.tagged(.int(range.lowerBound))
        writer.tagged(.int(range.upperBound))
      case .values(let values):
        writer.byte(1)
        writer.varint(UInt64(values.count))
        let all = values.map(\.taggedBytes).sorted { $0.lexicographicallyPrecedes($1) }
        writer = RecordWriter(bytes: writer.bytes + all.joined())
      }
    }
    return writer.bytes
  }

  /// - Returns: nothing for a record of a later format.
  private static func decoded(
    _ bytes: [UInt8]
  ) throws(StorageError) -> [(ColumnID, ValueDomain)] {
    unsafe try withBytes(of: bytes) { bytes throws(StorageError) in
      var reader = unsafe RecordReader(bytes)
      guard try reader.byte() == format else { return [] }
      var domains: [(ColumnID, ValueDomain)] = []
      for _ in 0..<(try reader.number(UInt16.self)) {
        let id = ColumnID(try reader.number(UInt16.self))
        domains.append((id, try domain(&reader)))
      }
      return domains
    }
  }

  private static func domain(_ reader: inout RecordReader) throws(StorageError) -> ValueDomain {
    switch try reader.byte() {
    case 0:
      guard case .value(.int(let least)) = try reader.tagged(),
        case .value(.int(let most)) = try reader.tagged(), least <= most
      else { throw .damagedRecord("a range of numbers is none") }
      return .integers(least...most)
    case 1:
      var values: Set<Value> = []
      for _ in 0..<(try reader.number(UInt32.self)) {
        guard case .value(let value) = try reader.tagged() else {
          throw .damagedRecord("the value of a case is stored elsewhere")
        }
        values.insert(value)
      }
      return .values(values)
    default: throw .damagedRecord("a domain has an unknown kind")
    }
  }
}

/// The values of a column that the program's type for the property can represent, if it can
/// represent only some: the program cannot read others.
///
/// A store keeps domains for code that writes without the model classes, such as one that exchanges
/// objects with a server.
package indirect enum ValueDomain: Hashable, Sendable {
  /// The values of an integer type with fewer bits.
  case integers(ClosedRange<Int64>)
  /// The raw values of an enum's cases.
  case values(Set<Value>)

  /// Whether a value is in the domain. The column decides about null.
  package func contains(_ value: Value) -> Bool {
    switch (self, value) {
    case (_, .null): true
    case (.integers(let range), .int(let number)): range.contains(number)
    case (.integers, _): false
    case (.values(let values), _):
      values.contains(value) || values.contains { Self.isSameRawValue($0, value) }
    }
  }

  /// Compares like `init(rawValue:)` of an enum: strings by their characters, numbers by value.
  private static func isSameRawValue(_ a: Value, _ b: Value) -> Bool {
    switch (a, b) {
    case (.string(let a), .string(let b)): a == b
    case (.float(let a), .float(let b)): a == b
    case (.double(let a), .double(let b)): a == b
    default: false
    }
  }
}

extension StoreSchema {
  /// Whether both are equal apart from the domains.
  func isEqualWithoutDomains(_ other: StoreSchema) -> Bool {
    withoutDomains == other.withoutDomains
  }

  private var withoutDomains: StoreSchema {
    var schema = self
    for index in classes.indices where classes[index].hasDomains {
      for column in classes[index].columns.indices {
        schema.classes[index].columns[column].domain = nil
      }
    }
    return schema
  }
}

extension ClassSchema {
  var hasDomains: Bool { columns.contains { $0.domain != nil } }
}
