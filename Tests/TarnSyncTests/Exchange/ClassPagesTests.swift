import Foundation
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

@Suite struct ClassPagesTests {
  /// A replica's copy of a class.
  private typealias Copy = [ElementKey: ObjectRow<WireValue?>]

  private func write(_ connection: ServerConnection, _ random: inout SeededRandom) throws {
    let key = random.below(60)
    switch random.below(4) {
    case 0: try connection.rows("DELETE FROM \"Thing\" WHERE _id = \(key)")
    case 1: try connection.rows("UPDATE \"Thing\" SET a = a + 1 WHERE _id % 7 = \(key % 7)")
    default:
      try connection.rows(
        """
        INSERT INTO "Thing" (_id, a) VALUES (\(key), \(random.below(100)))
        ON CONFLICT (_id) DO UPDATE SET a = excluded.a
        """)
    }
  }

  /// Pages of different times, and what follows from a position before the first, are one state.
  @Test func `a copy in pages beside writers becomes exact`() throws {
    let database = try PostgresDatabase([ServerPeer.thing])
    let (connection, writer) = (try database.connect(), try database.connect())
    let described = try ExchangeClass(
      ServerCatalog(connection, "test").existing("Thing"), ServerPeer.thing)
    let pull = Pull(connection: connection, replica: UUID().uuidString)
    for seed in 1...UInt64(Seeds.rounds(300, few: 20)) {
      var random = SeededRandom(seed: seed)
      for _ in 0..<60 { try write(writer, &random) }
      let position = try pull.run([], since: .none).position
      var copy: Copy = [:]
      var pages = ClassPages(connection: connection, one: described)
      pages.size = 1 + random.below(12)
      var last: Value?
      while true {
        // A transaction may be open while a page is read.
        try writer.rows("BEGIN")
        for _ in 0..<random.below(3) { try write(writer, &random) }
        let page = try pages.rows(after: last).rows
        try writer.rows(random.chance(80) ? "COMMIT" : "ROLLBACK")
        for row in page { copy[row.key] = row.object(described) }
        #expect(page.map(\.key.value.integer) == page.map(\.key.value.integer).sorted())
        if page.count < pages.size { break }
        last = page.last?.key.value
      }
      let answer = try pull.run([described], since: position)
      if let changes = answer.changes[described.id] {
        copy = copy.filter { !changes.incarnations.contains($0.value.incarnation) }
        copy.merge(changes.rows.mapValues { $0.object(described) }) { $1 }
      }
      let truth =
        try pull.run([described], since: .none).changes[described.id]?.rows.mapValues {
          $0.object(described)
        }
        ?? [:]
      #expect(copy == truth, "seed \(seed)")
    }
  }

  @Test func `a census and the rows that it names`() throws {
    let database = try PostgresDatabase([ServerPeer.thing])
    let connection = try database.connect()
    let described = try ExchangeClass(
      ServerCatalog(connection, "test").existing("Thing"), ServerPeer.thing)
    try connection.rows("INSERT INTO \"Thing\" (_id, a) SELECT i, i FROM generate_series(1, 25) i")
    var pages = ClassPages(connection: connection, one: described)
    pages.size = 10
    var entries: [ClassPages.Entry] = []
    repeat {
      entries += try pages.census(after: entries.last?.key.value)
    } while entries.count % 10 == 0
    #expect(entries.map(\.key.value.integer) == Array(1...25))
    let before = Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0) })
    try connection.rows("UPDATE \"Thing\" SET a = 0 WHERE _id IN (3, 20)")
    pages.size = 100
    let changed = try pages.census(after: nil).filter { before[$0.key] != $0 }
    #expect(changed.map(\.key.value.integer) == [3, 20])
    let rows = try pages.rows(with: changed.map(\.key.value)).rows
    #expect(rows.map(\.key.value.integer).sorted() == [3, 20])
    #expect(Set(rows.map(\.incarnation)) == Set(changed.map(\.incarnation)))
  }

  @Test func `keys of text are in the order of bytes`() throws {
    let database = try PostgresDatabase()
    let connection = try database.connect()
    _ = try ServerSetup.run(connection)
    try connection.rows("CREATE TABLE words (word text COLLATE \"und-x-icu\" PRIMARY KEY)")
    _ = try ServerAdoption(connection).run(table: "words", as: "Word")
    try connection.rows("INSERT INTO words VALUES ('b'), ('B'), ('a'), ('é'), ('z')")
    let word = ClassSchema(
      id: ClassID(0), name: "Word",
      columns: [ColumnSchema(id: ColumnID(0), name: "word", type: .string)],
      primaryKey: ColumnID(0))
    let described = try ExchangeClass(ServerCatalog(connection, "test").existing("Word"), word)
    var pages = ClassPages(connection: connection, one: described)
    pages.size = 2
    var keys: [Value] = []
    while true {
      let page = try pages.rows(after: keys.last).rows
      keys += page.map(\.key.value)
      if page.count < 2 { break }
    }
    #expect(keys.map { "\($0)" } == ["B", "a", "b", "z", "é"].map { "\(Value.string($0))" })
  }
}

extension Value {
  fileprivate var integer: Int64 {
    if case .int(let number) = self { number } else { -1 }
  }
}
