import CTarn
import TarnStore
import TestSupport
import Testing

private func randomName(_ random: inout SeededRandom, _ number: Int) -> String {
  let letters = ["a", "ß", "Ж", "漢", "🐟", "e\u{301}", " ", "\u{1}", "Z"]
  let length = random.pick([1, 2, 8, 30, 300])
  return (0..<length).map { _ in random.pick(letters) }.joined() + "\(number)"
}

private func randomSchema(_ random: inout SeededRandom) -> StoreSchema {
  let classCount = random.pick([0, 1, 3, 40])
  return StoreSchema(
    classes: (0..<classCount).map { index in
      var columns = (0..<random.pick([0, 1, 5, 60])).map { number in
        let type = random.pick(ColumnType.allCases)
        return ColumnSchema(
          id: ColumnID(UInt16(number)), name: randomName(&random, number), type: type,
          collection: random.pick(CollectionKind.allCases),
          isOptional: random.below(2) == 0, isIndexed: random.below(2) == 0,
          target: type == .link ? ClassID(UInt32(random.below(classCount))) : nil,
          deleteRule: random.pick(DeleteRule.allCases), isRemoved: random.below(5) == 0)
      }
      let isEmbedded = random.below(4) == 0
      if !isEmbedded, !columns.isEmpty {
        columns[0].type = random.pick([.int, .string, .objectID, .uuid])
        columns[0].collection = .none
        columns[0].target = nil
        columns[0].isRemoved = false
      }
      return ClassSchema(
        id: ClassID(UInt32(index)), name: randomName(&random, index), columns: columns,
        primaryKey: isEmbedded || columns.isEmpty ? nil : ColumnID(0), isEmbedded: isEmbedded,
        uniqueRules: randomRules(columns, &random))
    })
}

private func randomRules(
  _ columns: [ColumnSchema], _ random: inout SeededRandom
) -> [[ColumnID]] {
  let able = columns.filter(\.canBeUnique).map(\.id)
  return able.isEmpty
    ? []
    : (0..<random.pick([0, 0, 1, 3])).map { _ in
      Array(able.shuffled(using: &random)[...random.below(able.count)])
    }
}

private func sample() -> StoreSchema {
  StoreSchema(classes: [
    ClassSchema(
      id: ClassID(0), name: "Dog",
      columns: [
        ColumnSchema(id: ColumnID(0), name: "id", type: .objectID),
        ColumnSchema(id: ColumnID(1), name: "mother", type: .link, target: ClassID(0)),
      ], primaryKey: ColumnID(0))
  ])
}

private func code(_ body: () throws -> Void) -> StorageError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? StorageError)?.code
  }
}

@Suite struct SchemaCodecTests {
  @Test(arguments: TreeTest.seeds)
  func `schemas read back as they were written`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    for _ in 0..<40 {
      let schema = randomSchema(&random)
      let pieces = try SchemaCodec.encode(schema)
      #expect(pieces.allSatisfy { !$0.isEmpty && $0.count <= SchemaCodec.pieceByteCountMax })
      #expect(try SchemaCodec.decode(pieces.flatMap { $0 }) == schema)
    }
  }

  @Test func `names have no limit of length`() throws {
    var schema = sample()
    schema.classes[0].name = String(repeating: "långt ", count: 20_000)
    let pieces = try SchemaCodec.encode(schema)
    #expect(pieces.count > 30)
    #expect(try SchemaCodec.decode(pieces.flatMap { $0 }) == schema)
  }

  @Test func `inconsistent schemas are refused`() throws {
    let breakages: [(inout ClassSchema) -> Void] = [
      { $0.name = "" },
      { $0.id = ClassID(1) },
      { $0.name = "Do\0g" },
      { $0.columns[0].name = "" },
      { $0.columns[0].name = "i\0" },
      { $0.columns[0].name = "mother" },
      { $0.columns[0].id = ColumnID(4) },
      { $0.columns[1].target = nil },
      { $0.columns[0].target = ClassID(0) },
      { $0.columns[1].target = ClassID(1) },
      { $0.primaryKey = ColumnID(2) },
      { $0.primaryKey = ColumnID(1) },
      { $0.columns[0].isRemoved = true },
      { $0.isEmbedded = true },
      { $0.uniqueRules = [[]] },
      { $0.uniqueRules = [[ColumnID(0), ColumnID(0)]] },
      { $0.uniqueRules = [[ColumnID(1)], [ColumnID(2)]] },
      {
        $0.columns[1].isRemoved = true
        $0.uniqueRules = [[ColumnID(1)]]
      },
    ]
    for (number, breakage) in breakages.enumerated() {
      var schema = sample()
      breakage(&schema.classes[0])
      #expect(code { _ = try SchemaCodec.encode(schema) } == .invalidInput, "number \(number)")
    }
    var twice = sample()
    twice.classes.append(twice.classes[0])
    twice.classes[1].id = ClassID(1)
    #expect(code { _ = try SchemaCodec.encode(twice) } == .invalidInput)
    #expect(sample().inconsistency == nil)
  }

  @Test func `every changed byte is noticed`() throws {
    let stream = try SchemaCodec.encode(sample()).flatMap { $0 }
    for index in stream.indices {
      var damaged = stream
      damaged[index] ^= 0x10
      // The stream begins with its format, a number of four bytes; a larger one is a newer format.
      let found = code { _ = try SchemaCodec.decode(damaged) }
      #expect(found == (index < 4 ? .newerFormat : .corrupted), "byte \(index)")
    }
    for count in stream.indices {
      #expect(code { _ = try SchemaCodec.decode(Array(stream[..<count])) } == .corrupted)
    }
  }

  @Test(arguments: TreeTest.seeds)
  func `nonsense with a right checksum is refused or consistent`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var ruled = sample()
    ruled.classes[0].uniqueRules = [[ColumnID(1), ColumnID(0)], [ColumnID(1)]]
    let stream = try SchemaCodec.encode(ruled).flatMap { $0 }
    for _ in 0..<3_000 {
      var body = Array(stream[12...])
      for _ in 0...random.below(3) { body[random.below(body.count)] = UInt8(random.below(256)) }
      if random.below(4) == 0 { body.removeLast(random.below(body.count)) }
      let sum = body.withUnsafeBytes { tarn_crc32c($0.baseAddress!, $0.count) }
      var damaged = Array(stream[..<4])
      for number in [UInt32(body.count), sum] {
        damaged += (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
      }
      TreeTest.expectDamageIsReported {
        let schema = try SchemaCodec.decode(damaged + body)
        #expect(schema.inconsistency == nil)
      }
    }
  }

  @Test func `the tree holds the last schema that was written`() throws {
    try TreeTest.withStore { environment in
      #expect(try TreeTest.withCursor(environment) { try SchemaCodec.read(&$0) } == nil)
      var long = sample()
      long.classes[0].columns[1].name = String(repeating: "x", count: 50_000)
      for schema in [sample(), long, sample(), StoreSchema()] {
        try environment.write { transaction throws(StorageError) in
          try SchemaCodec.write(schema, in: transaction)
        }
        #expect(try TreeTest.withCursor(environment) { try SchemaCodec.read(&$0) } == schema)
      }
      #expect(try TreeTest.contents(environment).count == 1)
      try TreeTest.put([1], under: [0x02, 0, 2], environment)
      #expect(
        code { _ = try TreeTest.withCursor(environment) { try SchemaCodec.read(&$0) } }
          == .corrupted)
    }
  }
}
