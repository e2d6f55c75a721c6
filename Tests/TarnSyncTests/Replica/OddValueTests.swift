import TarnStore
import TarnText
import TestSupport
import Testing

@testable import TarnSync

/// SQL writes random values into every column; no replica may stop for that.
@Suite struct OddValueTests {
  @Test(arguments: [UInt64](1...6))
  func `no value stops a replica, and all are equal once they are mended`(seed: UInt64) throws {
    let (database, role) = try OddReplica.server()
    let server = try database.connect()
    let folder = TemporaryFolder()
    let connect = { try database.connect(as: role) }
    let replicas = try ["a", "b"].map { try OddReplica(folder.file($0), connect) }
    defer { for replica in replicas { replica.end() } }
    let columns = try server.rows(
      """
      SELECT attname, format_type(atttypid, NULL) FROM pg_attribute
      WHERE attrelid = '"Odd"'::regclass AND attnum > 0 AND NOT attisdropped
        AND attname NOT LIKE '\\_%'
      """
    ).compactMap { row in row[0].flatMap { name in row[1].map { (name: name, type: $0) } } }
    var values = OddValues(seed: seed)
    // Rows that nobody touches, between the others.
    for number in 100..<105 {
      try server.rows("INSERT INTO \"Odd\" (_id, count) VALUES (\(OddReplica.key(number)), 7)")
    }
    for _ in 0..<12 {
      for _ in 0..<12 { write(&values, columns, server) }
      try edit(replicas[values.random.below(2)], &values)
      for replica in replicas {
        try replica.synchronize()
        let objects = try replica.objects()
        let others = (100..<105).compactMap { objects["\($0)"]?["count"] }
        #expect(others == [JSONValue](repeating: .integer(7), count: 5), "seed \(seed)")
      }
    }
    // Each gets what the other has sent last; then nothing is new, and no row differs.
    for replica in replicas { try replica.synchronize() }
    for replica in replicas {
      #expect(try replica.connected().compareDigests(), "seed \(seed)")
      #expect(try replica.connected().isComplete, "seed \(seed)")
    }
    try mend(&values, columns, server)
    let fresh = try OddReplica(folder.file("fresh"), connect)
    defer { fresh.end() }
    let all = replicas + [fresh]
    for replica in all + all { try replica.synchronize() }
    let expected = try fresh.objects()
    let count = try server.value("SELECT count(*) FROM \"Odd\"")
    #expect("\(expected.count)" == count, "seed \(seed)")
    for replica in all {
      #expect(try replica.leftOut == [], "seed \(seed)")
      let found = try replica.objects()
      for (key, object) in expected {
        #expect(found[key] == object, "seed \(seed), \(key)")
      }
      #expect(found.count == expected.count, "seed \(seed)")
    }
  }

  /// Values that the column's rules refuse are not written.
  private func write(
    _ values: inout OddValues, _ columns: [(name: String, type: String)],
    _ server: ServerConnection
  ) {
    let key = OddReplica.key(values.random.below(8))
    let (name, type) = columns[values.random.below(columns.count)]
    let value = values.value(type)
    switch values.random.below(10) {
    case 0: _ = server.refusal("DELETE FROM \"Odd\" WHERE _id = \(key)")
    case 1: _ = server.refusal("INSERT INTO \"Odd\" (_id) VALUES (\(values.value("bytea")))")
    case 2...4:
      _ = server.refusal("INSERT INTO \"Odd\" (_id, \"\(name)\") VALUES (\(key), \(value))")
    default: _ = server.refusal("UPDATE \"Odd\" SET \"\(name)\" = \(value) WHERE _id = \(key)")
    }
  }

  /// A change by a program, which may concern what is left out.
  private func edit(_ replica: OddReplica, _ values: inout OddValues) throws {
    let number = values.random.below(8)
    switch values.random.below(4) {
    case 0:
      let objects = try replica.objects()
      if objects["\(number)"] == nil { try replica.create(number) }
    case 1:
      try replica.change(number, "counts") { try $0.insert([.int(5)], at: 0, in: $1) }
    case 2: try replica.set(number, "badge", OddReplica.id(3))
    default: try replica.set(number, "count", .int(Int64(number + 10)))
    }
  }

  private func mend(
    _ values: inout OddValues, _ columns: [(name: String, type: String)],
    _ server: ServerConnection
  ) throws {
    try server.rows("DELETE FROM \"Odd\" WHERE octet_length(_id) <> 12")
    let keys = try server.rows("SELECT _id FROM \"Odd\" WHERE count <> 7 OR count IS NULL")
    for key in keys.compactMap({ $0[0] }) {
      let terms = columns.map { "\"\($0.name)\" = \(values.goodValue($0.name, $0.type))" }
      try server.rows("UPDATE \"Odd\" SET \(terms.joined(separator: ", ")) WHERE _id = '\(key)'")
    }
  }
}
