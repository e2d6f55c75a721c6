import TarnStore
import TestSupport
import Testing

enum ClusterFixture {
  static let types: [ColumnType] = [
    .int, .bool, .string, .data, .date, .float, .double, .link, .objectID, .uuid, .decimal,
    .any,
  ]

  /// A class with the key as primary key, then every type twice: as it is and optional.
  static let allTypes: ClassSchema = {
    var columns = [ColumnSchema(id: ColumnID(0), name: "id", type: .int)]
    for type in types {
      for isOptional in [false, true] {
        let id = ColumnID(UInt16(columns.count))
        columns.append(
          ColumnSchema(id: id, name: "c\(id.rawValue)", type: type, isOptional: isOptional))
      }
    }
    return ClassSchema(id: ClassID(1), name: "All", columns: columns, primaryKey: ColumnID(0))
  }()

  static func schema(_ columns: [(ColumnType, Bool)]) -> ClassSchema {
    let columns = columns.enumerated().map { index, column in
      ColumnSchema(
        id: ColumnID(UInt16(index)), name: "c\(index)", type: column.0, isOptional: column.1)
    }
    return ClassSchema(id: ClassID(2), name: "Some", columns: columns)
  }

  /// What a new row has.
  static func zero(_ column: ColumnSchema) -> Value {
    if column.isOptional { return .null }
    switch column.type {
    case .any: return .null
    case .decimal: return .decimal(Bytes16(high: 0, low: 0))
    case .int: return .int(0)
    case .bool: return .bool(false)
    case .string: return .string("")
    case .data: return .data([])
    case .date: return .date(Timestamp(seconds: 0, nanoseconds: 0))
    case .float: return .float(0)
    case .double: return .double(0)
    case .link: return .link(ObjectKey(0))
    case .objectID: return .objectID(Bytes12(high: 0, low: 0))
    case .uuid: return .uuid(Bytes16(high: 0, low: 0))
    }
  }

  static func text(_ dice: inout SeededRandom) -> String {
    if dice.chance(40) { return ["", "Berlin", "Köln", "a", "Rio de Janeiro"][dice.below(5)] }
    let length = dice.chance(4) ? [255, 256, 257, 5_000][dice.below(4)] : dice.below(40)
    return String((0..<length).map { _ in Character(UnicodeScalar(UInt8(97 + dice.below(26)))) })
  }

  static func number(_ dice: inout SeededRandom) -> Int64 {
    switch dice.below(8) {
    case 0: return 0
    case 1: return .min
    case 2: return .max
    case 3: return Int64(bitPattern: dice.next())
    case 4: return -Int64(dice.below(70_000))
    default: return Int64(dice.below(100))
    }
  }

  static func value(_ column: ColumnSchema, _ dice: inout SeededRandom) -> Value {
    if column.isOptional && dice.chance(25) { return .null }
    switch column.type {
    case .any: return anything(&dice)
    case .decimal: return .decimal(Bytes16(high: dice.next(), low: dice.next()))
    case .int: return .int(number(&dice))
    case .bool: return .bool(dice.chance(50))
    case .string: return .string(text(&dice))
    case .data: return .data(Array(text(&dice).utf8))
    case .date:
      let nanoseconds = dice.chance(50) ? 0 : Int32(dice.below(1_000_000_000))
      return .date(Timestamp(seconds: number(&dice), nanoseconds: nanoseconds))
    case .float: return .float(Float(dice.below(1_000)) / 8)
    case .double: return .double(Double(dice.below(100_000)) / 16 - 9)
    case .link: return .link(ObjectKey(Int64(dice.below(1_000_000))))
    case .objectID:
      return .objectID(Bytes12(high: dice.next(), low: UInt32(truncatingIfNeeded: dice.next())))
    case .uuid: return .uuid(Bytes16(high: dice.next(), low: dice.next()))
    }
  }

  private static func anything(_ dice: inout SeededRandom) -> Value {
    let id = dice.next() >> 9
    switch dice.below(types.count + 3) {
    case types.count: return .object(ClassID(UInt32(dice.below(300))), ObjectKey(number(&dice)))
    case types.count + 1: return .list(CollectionID(id))
    case types.count + 2: return .map(CollectionID(id))
    case let index where types[index] == .any: return .null
    case let index:
      return value(ColumnSchema(id: ColumnID(0), name: "any", type: types[index]), &dice)
    }
  }

  static func validated<R>(
    _ bytes: [UInt8], _ body: (ClusterImage) throws -> R
  ) throws -> R {
    try bytes.withUnsafeBytes { try body(ClusterImage(validating: $0)) }
  }
}

/// Images and long values as a file would hold them, and next to them the naive model: a
/// dictionary of rows. Every change is made to both.
struct ClusterModel {
  struct LongID: Hashable {
    var key: Int64
    var column: UInt16
  }

  let schema: ClassSchema
  var images: [(first: ObjectKey, bytes: [UInt8])] = []
  var longs: [LongID: [UInt8]] = [:]
  var rows: [Int64: [Value]] = [:]

  init(_ schema: ClassSchema) { self.schema = schema }

  static func id(_ key: ObjectKey, _ column: ColumnID) -> LongID {
    LongID(key: key.rawValue, column: column.rawValue)
  }

  /// Encodes a cluster, with its dropped and new long values, into images.
  mutating func encode(_ cluster: WorkingCluster, seal: Bool = false) throws
    -> [(first: ObjectKey, bytes: [UInt8])]
  {
    for dropped in cluster.droppedLongValues {
      #expect(longs.removeValue(forKey: Self.id(dropped.key, dropped.column)) != nil)
    }
    cluster.droppedLongValues = []
    var images: [(first: ObjectKey, bytes: [UInt8])] = []
    var longs = longs
    let emitLong: WorkingCluster.EmitLong = { key, column, bytes in
      #expect(longs.updateValue([UInt8](bytes), forKey: Self.id(key, column)) == nil)
    }
    let emit: WorkingCluster.EmitImage = { first, rows, bytes in
      #expect(bytes.count <= ClusterFormat.imageBytesMax)
      images.append((first, [UInt8](bytes)))
      #expect(Int(bytes[2]) + Int(bytes[3]) << 8 == rows)
    }
    if seal {
      try cluster.sealFullImages(emitLong: emitLong, emit: emit)
    } else {
      try cluster.encode(emitLong: emitLong, emit: emit)
    }
    self.longs = longs
    return images
  }

  /// The value in a cluster, with a long one fetched.
  func resolved(_ value: Value?, _ key: ObjectKey, _ column: ColumnSchema) -> Value? {
    if let value { return value }
    guard let bytes = longs[Self.id(key, column.id)] else { return nil }
    return bytes.withUnsafeBytes { try? Value(cell: $0, column.type) }
  }

  /// Compares all images with the rows: the same keys in order, the same values, and no long
  /// value that no row refers to.
  func check() throws {
    var found = 0
    var longCount = 0
    let keys = rows.keys.sorted()
    for (first, bytes) in images {
      try ClusterFixture.validated(bytes) { image in
        try image.verifyChecksum()
        try image.checkRows(schema)
        #expect(image.key(at: 0) == first)
        for slot in 0..<image.rowCount {
          let key = image.key(at: slot)
          try #require(keys[found] == key.rawValue)
          #expect(image.slot(of: key) == slot)
          for column in schema.columns {
            let stored = try image.value(column, slot)
            if stored == nil { longCount += 1 }
            try #require(resolved(stored, key, column) == rows[key.rawValue]![column.id.index])
          }
          found += 1
        }
      }
    }
    #expect(found == rows.count)
    #expect(longCount == longs.count)
  }
}
