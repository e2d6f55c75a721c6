import CTarn
import TestSupport
import Testing

@testable import TarnStore

/// The index over a column of any type: it has links always, and values where the model wants it.
@Suite struct AnyIndexTests {
  private static let (box, column, list) = (ClassID(0), ColumnID(1), ColumnID(2))
  private let file = TemporaryStore()

  private func classes(isIndexed: Bool) -> [ClassDefinition] {
    [
      ClassDefinition(
        name: "Box",
        properties: [
          .init(name: "id", type: .int, isPrimaryKey: true),
          .init(name: "value", type: .any, isOptional: true, isIndexed: isIndexed),
          .init(name: "values", type: .any, collection: .list, isOptional: true),
        ])
    ]
  }

  private static let long = String(repeating: "x", count: 130)

  private static func value(_ random: inout SeededRandom) -> Value {
    let number = Int64(random.below(30))
    switch random.below(13) {
    case 0, 1: return .null
    case 2: return .int(number - 15)
    case 3: return .double(random.chance(20) ? .nan : Double(number) / 2)
    case 4: return .float(Float(number))
    case 5: return .decimal(DecimalNumber(text: "\(number).0")!.cell)
    case 6: return .bool(number > 15)
    case 7: return .string(random.chance(30) ? long.dropLast(Int(number) % 8) + "" : "t\(number)")
    case 8: return .data([UInt8(number), 0, 0xff])
    case 9: return .date(Timestamp(seconds: number, nanoseconds: 5))
    case 10: return .objectID(Bytes12(high: UInt64(number), low: 1))
    case 11: return .uuid(Bytes16(high: UInt64(number), low: 1))
    default: return .object(box, ObjectKey(number))
    }
  }

  /// Random objects and changes of them; of some the value is a list with an object in it.
  private func fill(_ store: Store, seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    for _ in 0..<3 {
      try store.write { session in
        for _ in 0..<200 {
          let (key, value) = (ObjectKey(Int64(random.below(400))), Self.value(&random))
          switch (try session.find(primaryKey: .int(key.rawValue), in: Self.box), random.below(6)) {
          case (nil, 0): try session.create([ColumnID(0): .int(key.rawValue)], in: Self.box)
          case (nil, _):
            for target in [key, ObjectKey(0)]
            where try session.find(primaryKey: .int(target.rawValue), in: Self.box) == nil {
              try session.create([ColumnID(0): .int(target.rawValue)], in: Self.box)
            }
            try set(value, at: key, session)
          case (_, 0): _ = try session.delete(key, in: Self.box)
          case (_, 1):
            let place = SequencePlace(classID: Self.box, key: key, column: Self.column)
            let list = try session.makeNested(.list, in: place)
            try session.set(Self.column, at: key, in: Self.box, to: .list(list))
            try session.insert(.object(Self.box, key), at: 0, in: place.nested(list))
          default: try set(value, at: key, session)
          }
        }
      }
    }
  }

  private func set(_ value: Value, at key: ObjectKey, _ session: WriteSession) throws {
    if case .object(let id, let target) = value {
      guard try session.find(primaryKey: .int(target.rawValue), in: id) != nil else { return }
    }
    try session.set(Self.column, at: key, in: Self.box, to: value)
  }

  private struct Entry: Hashable {
    var order: [UInt8]
    var key: ObjectKey
  }

  private func entries(_ store: Store) throws -> [Entry] {
    let reader = try SnapshotReader(store.newestSnapshot())
    try reader.checkInvariants(of: Self.box)
    var found: [Entry] = []
    try reader.withCursor { cursor throws(StorageError) in
      try unsafe PackedIndex(Self.box, Self.column).forEach(&cursor) { bytes, key in
        found.append(Entry(order: unsafe Array(bytes), key: key))
        return true
      }
    }
    return found
  }

  /// What the values that an entry is for make of it.
  private func expected(_ store: Store) throws -> Set<Entry> {
    let reader = try SnapshotReader(store.newestSnapshot())
    var entries: Set<Entry> = []
    for key in try reader.allKeys(in: Self.box) {
      let value = try reader.value(of: Self.column, at: key, in: Self.box) ?? .null
      guard let order = OrderKey(value, type: .any) else { continue }
      entries.insert(Entry(order: unsafe order.withBytes { unsafe Array($0) }, key: key))
    }
    return entries
  }

  private func migrate(_ store: Store, to version: UInt64, isIndexed: Bool) throws {
    let migration = try SchemaMigration(
      store.newestSnapshot(), to: version, classes(isIndexed: isIndexed), path: store.path
    ) {}
    _ = try store.commit(try migration.finish())
  }

  @Test(arguments: Seeds.of(1...4 as ClosedRange<UInt64>))
  func `an index made later has the entries of one that was always there`(_ seed: UInt64) throws {
    let store = try file.open(classes(isIndexed: true))
    try fill(store, seed: seed)
    let all = try entries(store)
    let links = all.filter { $0.order.count == 13 && $0.order[1] < 0x80 }
    #expect(!links.isEmpty)
    #expect(links.count < all.count)
    let values = try expected(store)
    #expect(values.isSubset(of: all))
    #expect(Set(all).subtracting(values).isSubset(of: links))

    try migrate(store, to: 1, isIndexed: false)
    #expect(try entries(store) == links)
    try migrate(store, to: 2, isIndexed: true)
    #expect(try entries(store) == all)
  }

  @Test func `a program that wants the values indexed completes the index`() throws {
    let first = try file.open(classes(isIndexed: false))
    try fill(first, seed: 7)
    let links = try entries(first)
    let values = try expected(first)
    #expect(!links.isEmpty)
    #expect(!values.isSubset(of: links))
    let second = try file.open(classes(isIndexed: true))
    #expect(try Set(entries(second)) == values.union(links))
    // Who opened the file before keeps it up from now on.
    try fill(first, seed: 8)
    let after = try expected(second)
    #expect(try after.isSubset(of: entries(second)))
    let plan = try CompiledQuery(
      .compare("value", .equal, .int(3)), [], on: Self.box,
      SnapshotReader(first.newestSnapshot()).schema
    ).explanation(Rows(SnapshotReader(first.newestSnapshot())))
    #expect(plan[0].hasPrefix("find: the index on 'value' ("), "\(plan)")
  }

  @Test func `a file that says indexed in the former way has no values in the index`() throws {
    var schema = StoreSchema(classes: [
      ClassSchema(
        id: Self.box, name: "B",
        columns: [
          ColumnSchema(id: ColumnID(0), name: "v", type: .any, isOptional: true, isIndexed: true)
        ])
    ])
    var bytes = try SchemaCodec.encode(schema).flatMap { $0 }
    #expect(try SchemaCodec.decode(bytes) == schema)
    // Name, type, flags: optional and indexed.
    let flags = try #require(bytes.indices.first { bytes[$0...].starts(with: [1, 0x76, 9, 17]) })
    bytes[flags + 3] = 3
    let sum = unsafe bytes[12...].withUnsafeBytes {
      unsafe tarn_crc32c($0.baseAddress!, $0.count)
    }
    for shift in 0..<4 { bytes[8 + shift] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(shift))) }
    schema.classes[0].columns[0].isIndexed = false
    #expect(try SchemaCodec.decode(bytes) == schema)
    let plan = SchemaPlan(
      stored: schema,
      wanted: [
        ClassDefinition(
          name: "B",
          properties: [.init(name: "v", type: .any, isOptional: true, isIndexed: true)])
      ])
    #expect(plan.newIndexes.map(\.1) == [ColumnID(0)])
  }
}
