import TestSupport
import Testing

@testable import TarnStore

/// Values that agree in all bytes that an index keeps of them, and texts that are two spellings of
/// the same letters: each is a value of its own to every look-up, in an open write and in the file.
@Suite struct LongKeyTests {
  private static let id = ClassID(0)
  private static let (key, name, data, any) = (ColumnID(0), ColumnID(1), ColumnID(2), ColumnID(3))
  private static let classes = [
    ClassDefinition(
      name: "Page",
      properties: [
        .init(name: "url", type: .string, isPrimaryKey: true),
        .init(name: "name", type: .string, isIndexed: true),
        .init(name: "data", type: .data, isIndexed: true),
        .init(name: "any", type: .any, isOptional: true, isIndexed: true),
      ])
  ]

  /// Around the 127 bytes that an order key has room for, and far beyond.
  private static let texts: [String] = {
    let tails = ["", "a", "b", "é", "e\u{301}", "a" + String(repeating: "z", count: 1_000)]
    return [0, 1, 124, 125, 126, 127, 128, 400].flatMap { count in
      tails.map { String(repeating: "u", count: count) + $0 }
    }
  }()

  /// The rows by their keys' bytes: texts are equal here only if their bytes are.
  private typealias Model = [Value: [Value]]

  private static func change(
    _ model: inout Model, _ session: WriteSession, _ random: inout SeededRandom
  ) throws {
    let key = Value.string(random.pick(texts))
    let found = try session.find(primaryKey: key, in: id)
    #expect((found != nil) == (model[key] != nil))
    let row = [
      key, .string(random.pick(texts)), .data(Array(random.pick(texts).utf8)),
      .string(random.pick(texts)),
    ]
    guard let found else {
      let columns = row.enumerated().map { (ColumnID(UInt16($0)), $1) }
      try session.create(Dictionary(uniqueKeysWithValues: columns), in: id)
      model[key] = row
      return
    }
    switch random.below(4) {
    case 0:
      try session.delete(found, in: id)
      model[key] = nil
    case 1:
      // What a migration does.
      let other = Value.string(random.pick(texts))
      if model[other] != nil { return }
      try session.set(Self.key, at: found, in: id, to: other)
      model[key] = nil
      model[other] = [other] + row[1...]
      fallthrough
    default:
      for column in 1..<4 {
        try session.set(ColumnID(UInt16(column)), at: found, in: id, to: row[column])
      }
      if model[key] != nil { model[key] = row }
    }
  }

  /// Every text is found by the objects that have it and no others, whichever way it is asked for.
  private static func check(_ rows: Rows, has model: Model) throws {
    for text in texts {
      let sought = Value.string(text)
      let found =
        try rows.session?.find(primaryKey: sought, in: id)
        ?? (rows.session == nil ? rows.reader.find(primaryKey: sought, in: id) : nil)
      let value = try found.map { try rows.plainValue(of: key, at: $0, in: id) }
      #expect(value == model[sought].map { $0[0] })
      for column in 1..<4 {
        let sought = column == 2 ? Value.data(Array(text.utf8)) : sought
        let expected = model.values.filter { $0[column] == sought }
          .map { $0[0] }
        let query = try CompiledQuery(
          .compare(["", "name", "data", "any"][column], .equal, sought), [], on: id, rows.schema)
        let keys = try query.evaluate(rows).keys
        let found = try keys.map { try rows.plainValue(of: Self.key, at: $0, in: id) }
        #expect(Set(found) == Set(expected), "\(column)")
        #expect(found.count == expected.count, "\(column)")
        guard rows.session == nil else { continue }
        let asked = try rows.reader.keys(in: id, where: ColumnID(UInt16(column)), is: sought)
        #expect(asked == keys)
      }
    }
  }

  @Test(arguments: Seeds.of(1...6 as ClosedRange<UInt64>))
  func `each value is found by itself in random writes`(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let file = TemporaryStore()
    let store = try file.open(Self.classes)
    var model: Model = [:]
    for _ in 0..<6 {
      try store.write { session in
        for number in 0..<40 {
          try Self.change(&model, session, &random)
          guard number % 20 == 19 else { continue }
          try Self.check(Rows(session.reader, session), has: model)
        }
      }
      let reader = try SnapshotReader(store.newestSnapshot())
      try reader.checkInvariants(of: Self.id)
      for column in 0..<4 {
        let count = try reader.withCursor { cursor throws(StorageError) in
          try PackedIndex(Self.id, ColumnID(UInt16(column))).count(&cursor)
        }
        #expect(count == model.count)
      }
      try Self.check(Rows(reader), has: model)
    }
    #expect(model.count > 20)
  }
}
