import TestSupport

@testable import TarnStore

/// A few classes with columns of every type, random rows of them as values, and the same rows in
/// encoded clusters.
final class QueryFixture {
  static let thing = ClassID(0)
  static let owner = ClassID(1)
  static let city = ClassID(2)

  static let schema = StoreSchema(classes: [
    classSchema(
      thing, "Thing",
      [
        ("_id", .int, false), ("i", .int, false), ("iN", .int, true), ("b", .bool, false),
        ("bN", .bool, true), ("s", .string, false), ("sN", .string, true), ("d", .data, false),
        ("dN", .data, true), ("t", .date, false), ("tN", .date, true), ("f", .float, false),
        ("fN", .float, true), ("x", .double, false), ("xN", .double, true), ("o", .objectID, false),
        ("oN", .objectID, true), ("u", .uuid, false), ("uN", .uuid, true),
        ("m", .decimal, false), ("mN", .decimal, true),
        ("owner", .link, true), ("next", .link, true),
      ], links: ["owner": owner, "next": thing], primaryKey: ColumnID(0)),
    classSchema(
      owner, "Owner",
      [
        ("name", .string, true), ("age", .int, false), ("weight", .double, true),
        ("id", .uuid, false), ("home", .link, true),
        ("price", .decimal, true),
      ], links: ["home": city]),
    classSchema(city, "City", [("name", .string, false), ("size", .int, true)]),
  ])

  private static func classSchema(
    _ id: ClassID, _ name: String, _ columns: [(String, ColumnType, Bool)],
    links: [String: ClassID] = [:], primaryKey: ColumnID? = nil
  ) -> ClassSchema {
    let columns = columns.enumerated().map { index, column in
      ColumnSchema(
        id: ColumnID(UInt16(index)), name: column.0, type: column.1, isOptional: column.2,
        target: links[column.0])
    }
    return ClassSchema(id: id, name: name, columns: columns, primaryKey: primaryKey)
  }

  /// By class, then key.
  var rows: [[Int64: [Value]]] = [[:], [:], [:]]
  private(set) var images: [[UnsafeMutableRawBufferPointer]] = [[], [], []]
  private(set) var longs: [String: [UInt8]] = [:]

  deinit {
    for image in images.joined() { image.deallocate() }
  }

  static func longName(_ classID: ClassID, _ key: ObjectKey, _ column: ColumnID) -> String {
    "\(classID.rawValue)/\(key.rawValue)/\(column.rawValue)"
  }

  /// Encodes all rows, in clusters of at most `rowsMax` rows.
  func encode(rowsMax: Int = 200) throws {
    for schema in Self.schema.classes {
      let keys = rows[Int(schema.id.rawValue)].keys.sorted()
      for start in stride(from: 0, to: keys.count, by: rowsMax) {
        try encode(keys[start..<min(start + rowsMax, keys.count)], schema)
      }
    }
  }

  private func encode(_ keys: ArraySlice<Int64>, _ schema: ClassSchema) throws {
    let cluster = working(keys, schema)
    try cluster.encode(
      emitLong: { key, column, bytes in
        longs[Self.longName(schema.id, key, column)] = Array(bytes)
      },
      emit: { _, _, bytes in
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyMemory(from: bytes)
        images[Int(schema.id.rawValue)].append(copy)
      })
  }

  /// The rows of those keys as rows under edit.
  func working(_ keys: some Sequence<Int64>, _ schema: ClassSchema) -> WorkingCluster {
    let cluster = WorkingCluster(schema)
    for key in keys {
      let slot = cluster.insert(ObjectKey(key))
      for (index, value) in rows[Int(schema.id.rawValue)][key]!.enumerated() {
        let column = schema.columns[index]
        if column.id == schema.primaryKey { continue }
        cluster.set(column.id, slot, value)
      }
    }
    return cluster
  }

  func image(_ bytes: UnsafeMutableRawBufferPointer) throws -> ClusterImage {
    try ClusterImage(validating: UnsafeRawBufferPointer(bytes))
  }

  /// The encoded clusters of a class.
  func clusters(_ id: ClassID) throws -> [ClusterImage] {
    try images[Int(id.rawValue)].map { try image($0) }
  }

  func source() throws -> Rows {
    let clusters = try Self.schema.classes.map { try self.clusters($0.id) }
    return Rows(FixtureRows(clusters: clusters, longs: longs, owner: self))
  }
}

/// Finds rows in encoded clusters. It has no collections.
final class FixtureRows: RowOverlay {
  let schema = SchemaView(schema: QueryFixture.schema, epoch: 0)
  private let clusters: [[ClusterImage]]
  private let longs: [String: [UInt8]]
  /// Keeps the memory of the clusters.
  private let owner: QueryFixture

  init(clusters: [[ClusterImage]], longs: [String: [UInt8]], owner: QueryFixture) {
    (self.clusters, self.longs, self.owner) = (clusters, longs, owner)
  }

  func location(
    of key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> (cluster: RowCluster, slot: Int)? {
    for image in clusters[Int(id.rawValue)] {
      if let slot = image.slot(of: key) { return (.image(image), slot) }
    }
    return nil
  }

  func longBytes(
    of column: ColumnID, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> [UInt8] {
    guard let bytes = longs[QueryFixture.longName(id, key, column)] else {
      throw StorageError(.corrupted, operation: "read", path: "", detail: "no such value")
    }
    return bytes
  }

  func glance(at place: SequencePlace) throws(StorageError) -> (any SequenceReading)? { nil }

  func origins(
    of target: ObjectRef, in id: ClassID, through column: ColumnID
  ) throws(StorageError) -> [ObjectKey] { [] }

  func object(
    in id: ClassID, withPrimaryKey value: Value, _ column: ColumnID
  ) throws(StorageError) -> ObjectKey? { nil }
}

extension SeededRandom {
  /// Fills a fixture: few distinct values, so that comparisons meet equal ones, and the ends of
  /// every type.
  mutating func fill(_ fixture: QueryFixture, things: Int, owners: Int, cities: Int) {
    for classSchema in QueryFixture.schema.classes {
      let count = [things, owners, cities][Int(classSchema.id.rawValue)]
      var key: Int64 = chance(50) ? -50 : 1
      for _ in 0..<count {
        key += chance(80) ? 1 : Int64(1 + below(300))
        let values = classSchema.columns.map { column in
          column.id == classSchema.primaryKey
            ? Value.int(key) : value(of: column, in: fixture)
        }
        fixture.rows[Int(classSchema.id.rawValue)][key] = values
      }
    }
    // Links last, when all targets exist; some lead nowhere.
    for classSchema in QueryFixture.schema.classes {
      for column in classSchema.columns {
        guard let target = column.target else { continue }
        let targets = fixture.rows[Int(target.rawValue)].keys.sorted()
        for key in fixture.rows[Int(classSchema.id.rawValue)].keys.sorted() where chance(80) {
          let link = Value.link(ObjectKey(targets.randomElement(using: &self)!))
          fixture.rows[Int(classSchema.id.rawValue)][key]![column.id.index] = link
        }
      }
    }
  }

  private mutating func value(of column: ColumnSchema, in fixture: QueryFixture) -> Value {
    if column.type == .link || (column.isOptional && chance(25)) { return .null }
    return constant(column.type)
  }

  /// A value as rows have it.
  mutating func constant(_ type: ColumnType) -> Value {
    switch type {
    case .int, .link: .int(integer())
    case .any: .null
    case .decimal: .decimal(decimal().cell)
    case .bool: .bool(chance(50))
    case .string: .string(text())
    case .data: .data(Array(text().utf8))
    case .date:
      .date(
        Timestamp(seconds: integer(), nanoseconds: chance(60) ? 0 : Int32(below(1_000_000_000))))
    case .float: .float(Float(number()))
    case .double: .double(number())
    case .objectID:
      .objectID(Bytes12(high: UInt64(below(3)) << 62, low: chance(20) ? .max : UInt32(below(4))))
    case .uuid:
      .uuid(Bytes16(high: UInt64(below(3)) << 62, low: chance(20) ? .max : UInt64(below(4))))
    }
  }

  /// Few values in several forms, and some at the ends of the range or next to doubles.
  private mutating func decimal() -> DecimalNumber {
    let special = [
      "NaN", "Infinity", "-Infinity", "0", "-0", "0.00", "0E-6176", "1E-6176", "-1E+6111", "0.1",
      "1E+300", "9007199254740993", "9223372036854775808", "-9223372036854775808.5",
      "0.1000000000000000055511151231257827", "9999999999999999999999999999999999E+6111",
    ]
    if chance(25) { return DecimalNumber(text: pick(special)) ?? .nan }
    let halves = DecimalNumber(Int64(below(20)) - 4) * DecimalNumber(shortest: 0.5)
    return chance(50) ? halves : halves * (DecimalNumber(text: pick(["1.0", "1.00"])) ?? .nan)
  }

  private mutating func integer() -> Int64 {
    let ends: [Int64] = [.min, .max, .min + 1, 1 << 53, 1 << 53 + 1, -1 << 40, 70_000]
    return chance(4) ? ends.randomElement(using: &self)! : Int64(below(12)) - 3
  }

  private mutating func number() -> Double {
    let special: [Double] = [
      .nan, .infinity, -.infinity, 0, -0.0, 0x1p53, 0x1p63, -0x1p63, 1e300, -1e-300, 0.1, 1e10,
    ]
    return chance(25) ? special.randomElement(using: &self)! : Double(below(20)) / 2 - 2
  }

  mutating func text() -> String {
    let special = [
      "", "a", "A", "é", "É", "straße", "STRASSE", "\u{212a}", "a\0", "a\0b", "日本",
      "0123456789abcdef",
      "0123456789abcde", "0123456789abcdefg",
    ]
    if chance(30) { return special.randomElement(using: &self)! }
    if chance(3) {
      return String(repeating: "xyAb", count: 70 + below(40)) + (chance(50) ? "é" : "")
    }
    return String((0..<below(7)).map { _ in "abAByX".randomElement(using: &self)! })
  }
}

extension QueryPlan {
  /// True if an index or the primary key leads to the rows.
  var usesIndex: Bool {
    switch access {
    case .scan(let keys): keys != Self.everyKey
    case .candidates: true
    }
  }
}
