import TestSupport
import Testing

@testable import TarnStore

/// Rules that no two objects may have the same combination of values, against a model that knows
/// nothing but the rows.
@Suite struct UniqueRuleTests {
  private static let id = ClassID(0)
  private static let columns: [ClassDefinition.Property] = [
    .init(name: "id", type: .int, isPrimaryKey: true),
    .init(name: "number", type: .int, isOptional: true),
    .init(name: "text", type: .string),
    .init(name: "price", type: .double),
    .init(name: "next", type: .link, isOptional: true, target: "Thing"),
    .init(name: "loose", type: .int),
  ]
  private static let rules = [["number", "text"], ["text", "next"], ["price", "number", "next"]]
  private static let ruleColumns = [[1, 2], [2, 4], [3, 1, 4]]

  private static func definition(_ rules: [[String]] = rules) -> ClassDefinition {
    ClassDefinition(name: "Thing", properties: columns, uniqueRules: rules)
  }

  private let temporary = TemporaryStore()

  // MARK: - A model

  /// The values of each object, in the order of the columns.
  private typealias Model = [Int64: [Value]]

  private static func isBroken(_ model: Model) -> Bool {
    ruleColumns.contains { rule in
      var seen: Set<[Value]> = []
      return model.values.contains { row in
        let values = rule.map { row[$0] }
        return !values.contains(.null) && !seen.insert(values).inserted
      }
    }
  }

  private static func text(_ random: inout SeededRandom) -> String {
    let number = random.below(12)
    // Equal for longer than an index keeps of them.
    return random.chance(30) ? String(repeating: "long ", count: 60) + "\(number)" : "\(number)"
  }

  private static func value(_ column: Int, _ model: Model, _ random: inout SeededRandom) -> Value {
    switch column {
    case 1: return random.chance(20) ? .null : .int(Int64(random.below(12)))
    case 2: return .string(text(&random))
    case 3: return .double(Double(random.below(9)) / 4)
    case 4:
      let keys = model.keys.sorted()
      return keys.isEmpty || random.chance(30) ? .null : .link(ObjectKey(random.pick(keys)))
    default: return .int(Int64(random.below(1000)))
    }
  }

  private static func change(
    _ model: inout Model, _ session: WriteSession, _ random: inout SeededRandom
  ) throws {
    let keys = model.keys.sorted()
    switch random.below(12) {
    case 0..<4:
      let key = Int64(random.below(400))
      if model[key] != nil { return }
      let row = [.int(key)] + (1..<6).map { value($0, model, &random) }
      model[key] = row
      try session.create(
        Dictionary(uniqueKeysWithValues: row.enumerated().map { (ColumnID(UInt16($0)), $1) }),
        in: id)
    case 4 where !keys.isEmpty:
      let key = random.pick(keys)
      try session.delete(ObjectKey(key), in: id)
      model[key] = nil
      for (other, row) in model where row[4] == .link(ObjectKey(key)) { model[other]![4] = .null }
    case 5 where random.chance(3):
      try session.clear(id)
      model = [:]
    case 6..<8 where keys.count > 1:
      // What can be done only because the rule waits for the commit.
      let (a, b) = (random.pick(keys), random.pick(keys))
      for column in 1..<5 {
        let (x, y) = (model[a]![column], model[b]![column])
        try session.set(ColumnID(UInt16(column)), at: ObjectKey(a), in: id, to: y)
        try session.set(ColumnID(UInt16(column)), at: ObjectKey(b), in: id, to: x)
        if a != b { (model[a]![column], model[b]![column]) = (y, x) }
      }
    case _ where !keys.isEmpty:
      let (key, column) = (random.pick(keys), 1 + random.below(5))
      let new = value(column, model, &random)
      try session.set(ColumnID(UInt16(column)), at: ObjectKey(key), in: id, to: new)
      model[key]![column] = new
    default: break
    }
  }

  private static func check(_ store: Store, is model: Model) throws {
    let reader = try SnapshotReader(store.newestSnapshot())
    let check = try IndexCheck(reader.schema[id], reader)
    #expect(check.problems + check.broken == [])
    #expect(try reader.allKeys(in: id).map(\.rawValue) == model.keys.sorted())
    for (key, row) in model {
      for (column, value) in row.enumerated() {
        let found = try reader.value(of: ColumnID(UInt16(column)), at: ObjectKey(key), in: id)
        #expect(found == value, "\(key) \(column)")
      }
    }
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func randomWritesAreCommittedOrRolledBack(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let store = try temporary.open([Self.definition()])
    var model: Model = [:]
    var (committed, refused) = (0, 0)
    for _ in 0..<150 {
      var next = model
      let isBroken: Bool
      do {
        try store.write { session in
          for _ in 0..<random.pick([1, 2, 5, 20]) { try Self.change(&next, session, &random) }
        }
        isBroken = false
      } catch let error as StorageError where error.code == .notUnique {
        isBroken = true
      }
      #expect(isBroken == Self.isBroken(next))
      if isBroken { refused += 1 } else { committed += 1 }
      if !isBroken { model = next }
      try Self.check(store, is: model)
    }
    #expect(committed > 20, "\(committed) committed, \(refused) refused")
    #expect(refused > 10, "\(committed) committed, \(refused) refused")
  }

  // MARK: - Adding a rule

  private func row(_ key: Int64, _ number: Value, _ text: String) -> [ColumnID: Value] {
    [ColumnID(0): .int(key), ColumnID(1): number, ColumnID(2): .string(text)]
  }

  @Test func aRuleIsAddedOverRowsThatKeepIt() throws {
    do {
      let store = try temporary.open([Self.definition([])])
      try store.write { session in
        for key in 0..<3000 {
          try session.create(row(Int64(key), .int(Int64(key / 7)), "\(key % 7)"), in: Self.id)
        }
        for key in 3000..<3010 { try session.create(row(Int64(key), .null, "1"), in: Self.id) }
      }
    }
    let store = try temporary.open([Self.definition([["number", "text"]])])
    let reader = try SnapshotReader(store.newestSnapshot())
    let check = try IndexCheck(reader.schema[Self.id], reader)
    #expect(check.problems == [])
    #expect(check.entries == 3000)
    let code = StorageError.code {
      try store.write { try $0.create(row(4000, .int(5), "5"), in: Self.id) }
    }
    #expect(code == .notUnique)
    try store.write { try $0.create(row(4000, .int(5), "7"), in: Self.id) }
  }

  @Test func aRuleIsNotAddedOverRowsThatBreakIt() throws {
    let before: StoreSchema
    do {
      let store = try temporary.open([Self.definition([])])
      try store.write { session in
        for key in Int64(0)..<500 {
          try session.create(row(key, .int(key % 400), "same"), in: Self.id)
        }
      }
      before = try store.newestSnapshot().schema.schema
    }
    let error = #expect(throws: StorageError.self) {
      try temporary.open([Self.definition([["number", "text"]])])
    }
    #expect(error?.code == .notUnique)
    #expect(error?.path == temporary.path)
    #expect(
      error?.detail.contains(
        "class 'Thing' have the same 'number', 'text': 0, \"same\". They are those with the "
          + "primary keys 0 and 400.") == true, "\(error?.detail ?? "")")
    let store = try temporary.open()
    #expect(try store.newestSnapshot().schema.schema == before)
  }

  @Test func aRuleStaysForProgramsWithoutIt() throws {
    _ = try temporary.open([Self.definition([["number", "text"]])])
    let store = try temporary.open([Self.definition([])])
    try store.write { try $0.create(row(1, .int(5), "5"), in: Self.id) }
    let error = #expect(throws: StorageError.self) {
      try store.write { try $0.create(row(2, .int(5), "5"), in: Self.id) }
    }
    #expect(error?.code == .notUnique)
    // The same rule in another order is no other rule.
    let again = try temporary.open([Self.definition([["text", "number"], ["loose"]])])
    let rules = try again.newestSnapshot().schema[Self.id].uniqueRules
    #expect(rules == [[ColumnID(1), ColumnID(2)], [ColumnID(5)]])
  }

  @Test func anOlderLibraryIsToldThatItIsOne() throws {
    let plain = StoreSchema(classes: [ClassSchema(id: ClassID(0), name: "A", columns: [])])
    var ruled = plain
    ruled.classes[0].columns = [ColumnSchema(id: ColumnID(0), name: "a", type: .int)]
    ruled.classes[0].uniqueRules = [[ColumnID(0)]]
    #expect(try SchemaCodec.encode(plain)[0][0] == 1)
    #expect(try SchemaCodec.encode(ruled)[0][0] == 2)
    #expect(try SchemaCodec.decode(SchemaCodec.encode(ruled).flatMap { $0 }) == ruled)
  }

  // MARK: - Equality

  @Test func valuesAreTheSameAsInIndexes() {
    func key(_ value: Value, _ type: ColumnType) -> UniqueKey? {
      UniqueKey([value], [ColumnSchema(id: ColumnID(0), name: "a", type: type)])
    }
    #expect(key(.null, .int) == nil)
    #expect(key(.double(0), .double) == key(.double(-0.0), .double))
    #expect(key(.double(.nan), .double) == key(.double(-.nan), .double))
    #expect(key(.string("é"), .string) != key(.string("e\u{301}"), .string))
    #expect(
      key(.decimal(DecimalNumber(text: "1.0")!.cell), .decimal)
        == key(.decimal(DecimalNumber(text: "1.00")!.cell), .decimal))
    let strings = (0..<2).map { ColumnSchema(id: ColumnID($0), name: "a", type: .string) }
    #expect(
      UniqueKey([.string("a"), .string("bc")], strings)
        != UniqueKey([.string("ab"), .string("c")], strings))
  }

  @Test func longCombinationsAreFiledByABeginningAndAHash() {
    let column = ColumnSchema(id: ColumnID(0), name: "a", type: .data)
    var orders: Set<[UInt8]> = []
    for count in 0..<400 {
      let key = UniqueKey([.data(Array(repeating: 7, count: count))], [column])!
      let order = key.order.withBytes { Array($0) }
      #expect(order.count <= UniqueKey.byteCountMax + 1)
      #expect(!key.order.isTruncated)
      #expect(orders.insert(order).inserted)
    }
    // The hash is in files.
    #expect(UniqueKey.hash([]) == 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    #expect(UniqueKey.hash(Array("foobar".utf8)) == 0x343e_1662_793c_64bf_6f0d_3597_ba44_6f18)
  }

  /// Two combinations under one entry: what a collision of hashes would be.
  @Test func anEntryThatTwoCombinationsShareBreaksNothing() throws {
    let store = try temporary.open([Self.definition([["number", "text"]])])
    try store.write { try $0.create(row(1, .int(1), "a"), in: Self.id) }
    let column = ColumnSchema(id: ColumnID(1), name: "number", type: .int)
    let text = ColumnSchema(id: ColumnID(2), name: "text", type: .string)
    let second = try #require(UniqueKey([.int(2), .string("b")], [column, text]))
    // As if the object's own combination had the second one's hash.
    try store.environment.write { transaction throws(StorageError) in
      var entries = PackedIndexChanges()
      entries.add(second.order, ObjectKey(1))
      entries.sort()
      try PackedIndex(Self.id, uniqueRule: 0).apply(entries, in: transaction)
    }
    try store.write { try $0.create(row(2, .int(2), "b"), in: Self.id) }
    let code = StorageError.code {
      try store.write { try $0.create(row(3, .int(2), "b"), in: Self.id) }
    }
    #expect(code == .notUnique)
    let reader = try SnapshotReader(store.newestSnapshot())
    #expect(
      try IndexCheck(reader.schema[Self.id], reader).problems
        == ["the unique rule of class Thing over number, text has 3 entries instead of 2"])
  }
}
