import TarnStore
import TarnText
import TestSupport
import Testing

@testable import TarnSync

/// Rows and values of the server that a file cannot have.
@Suite final class LeftOutTests {
  private let database: PostgresDatabase
  private let role: String
  private let server: ServerConnection
  private let folder = TemporaryFolder()
  private let a: OddReplica

  init() throws {
    let (database, role) = try OddReplica.server()
    (self.database, self.role) = (database, role)
    server = try database.connect()
    a = try OddReplica(folder.file("a")) { try database.connect(as: role) }
  }

  deinit { a.end() }

  private func insert(_ number: Int, _ values: [String: String] = [:]) throws {
    let all = values.sorted { $0.key < $1.key }
    let names = ["_id"] + all.map { "\"\($0.key)\"" }
    let texts = [OddReplica.key(number)] + all.map(\.value)
    try server.rows(
      "INSERT INTO \"Odd\" (\(names.joined(separator: ", ")))"
        + " VALUES (\(texts.joined(separator: ", ")))")
  }

  private func update(_ number: Int, _ column: String, _ value: String) throws {
    try server.rows(
      "UPDATE \"Odd\" SET \"\(column)\" = \(value) WHERE _id = \(OddReplica.key(number))")
  }

  /// What is left out, as status shows it, without the zeros of the keys.
  private func left(_ replica: OddReplica) throws -> [String] {
    try replica.leftOut.map { value in
      let key = value.primaryKey.drop { $0 == "0" }
      return "\(key).\(value.property): \(value.reason)"
    }.sorted()
  }

  // MARK: - Rows

  @Test func `rows whose keys are no object ids are left out, and the others come`() throws {
    try insert(1, ["count": "1"])
    try server.rows(
      "INSERT INTO \"Odd\" (_id) VALUES ('\\xabcd'), (decode(repeat('ef', 24), 'hex'))")
    try a.synchronize()
    try insert(2)
    try server.rows("INSERT INTO \"Odd\" (_id) VALUES ('\\xab')")
    try a.synchronize()
    #expect(try Set(a.objects().keys) == ["1", "2"])
    let reasons = [2, 24, 1].map { "_id: an object id has 12 bytes, and this value has \($0)" }
    let keys = ["\\xabcd", "\\x" + String(repeating: "ef", count: 24), "\\xab"]
    #expect(try left(a) == zip(keys, reasons).map { "\($0).\($1)" }.sorted())
    #expect(try a.leftOut.allSatisfy { $0.className == "Odd" && $0.isWhole })
    #expect(a.notices.count == 3)
    try server.rows("DELETE FROM \"Odd\" WHERE octet_length(_id) <> 12")
    try a.synchronize()
    #expect(try left(a) == [])
  }

  @Test func `an object stays away while its required id cannot be read`() throws {
    try insert(1, ["owner": "'\\x0102'", "count": "7"])
    try a.synchronize()
    #expect(try a.objects().isEmpty)
    #expect(try left(a) == ["1.owner: an object id has 12 bytes, and this value has 2"])
    // Nobody here has seen what the key stands for.
    try a.create(1)
    try a.set(1, "count", .int(8))
    try a.synchronize()
    #expect(a.refused.count == 1)
    #expect(a.refused.first?.error.message.contains("cannot hold") == true)
    #expect(try a.objects().isEmpty)
    try update(1, "owner", OddReplica.key(9))
    try a.synchronize()
    #expect(try a.shown(1, "count") == "7")
    #expect(try left(a) == [])
    // What was readable once stays.
    try update(1, "owner", "'\\x'")
    try update(1, "count", "8")
    try a.synchronize()
    #expect(try a.shown(1, "count") == "8")
    #expect(try a.shown(1, "owner") == "\"000000000000000000000009\"")
  }

  @Test func `what is left out counts where classes are compared`() throws {
    try insert(1, ["any": "'1'"])
    try insert(2, ["owner": "'\\x01'"])
    try server.rows("INSERT INTO \"Odd\" (_id) VALUES ('\\xabcd')")
    try a.synchronize()
    #expect(try a.connected().compareDigests())
    #expect(try a.connected().isComplete)
    try server.rows("SELECT tarn.renew(1)")
    try a.synchronize()
    #expect(try left(a).count == 2)
    #expect(try a.objects().count == 1)
  }

  @Test func `a program that can hold more asks again`() throws {
    try insert(1, ["owner": "'\\x01'"])
    try insert(2, ["doubles": "'[1.5, 1e400]'"])
    // A session asks again at its first exchange after the one that has fetched all objects.
    for _ in 0..<2 { try a.synchronize() }
    #expect(try left(a).count == 2)
    // As if an earlier version had left out what this one can hold.
    try a.store.editRecords { snapshot, records throws(StorageError) in
      for (incarnation, one) in try LeftOut.all(in: ClassID(0), snapshot) {
        let reader = LeftOut.Reader(revision: 0, epoch: one.reader.epoch)
        let part = LeftOut.Part(column: ColumnID(0), fault: ValueFault("made for the test"))
        let older = LeftOut(
          version: one.version, reader: reader, key: one.key, isWhole: one.isWhole, [part])
        records.set(LeftOut.key(ClassID(0), incarnation), older.encoded)
      }
    }
    try a.synchronize()
    #expect(try left(a).allSatisfy { $0.contains("made for the test") })
    a.disconnect()
    try a.synchronize()
    #expect(try left(a).contains { $0.hasPrefix("1.owner: an object id") })
    #expect(try left(a).contains { $0.hasPrefix("2.doubles[1]: ") })
  }

  // MARK: - Values

  @Test func `numbers without a double's digits are decimals in mixed values`() throws {
    let number = "9223372036854775809"
    let fraction = "0.12345678901234567890123"
    try insert(1, ["anys": "'[\(number), \(fraction), 1.5, 18]'", "any": "'\(number)'"])
    try a.synchronize()
    let decimal = { (text: String) in "{\"$type\":\"decimal\",\"value\":\"\(text)\"}" }
    #expect(try a.shown(1, "any") == decimal(number))
    #expect(try a.shown(1, "anys") == "[\(decimal(number)),\(decimal(fraction)),1.5,18]")
    try a.change(1, "anys") { try $0.insert(.int(7), at: 4, in: $1) }
    try a.synchronize()
    #expect(try server.value("SELECT anys->0->>'value' FROM \"Odd\"") == number)
    #expect(try server.value("SELECT anys->1->>'value' FROM \"Odd\"") == fraction)
    #expect(try left(a) == [])

    // With more digits than a decimal has it is rounded, and not written here.
    let long = String(repeating: "7", count: 40)
    try update(1, "anys", "'[\(long)]'")
    try a.synchronize()
    #expect(a.notices == [.rounded("Odd", "anys")])
    try a.change(1, "anys") { try $0.insert(.int(7), at: 1, in: $1) }
    try a.synchronize()
    #expect(a.refused.count == 1)
    #expect(try server.value("SELECT anys->>0 FROM \"Odd\"") == long)
  }

  @Test func `only texts are elements of a collection of texts`() throws {
    try insert(
      1,
      [
        "names": "'{\"a\": 1, \"b\": true, \"c\": [1], \"d\": \"x\", \"e\": {}, \"f\": null}'",
        "spot": "'{\"city\": 5, \"counts\": [1]}'",
      ])
    try a.synchronize()
    #expect(try a.shown(1, "names") == "{\"d\":\"x\",\"f\":null}")
    #expect(
      try left(a) == [
        "1.names[\"a\"]: 1 is not of type string", "1.names[\"b\"]: true is not of type string",
        "1.names[\"c\"]: an array is not of type string",
        "1.names[\"e\"]: an object is not of type string", "1.spot.city: 5 is not of type string",
      ])
  }

  @Test func `no more than a hundred values are reported one by one`() throws {
    let texts = String(repeating: "\"a\",", count: 1_000)
    try insert(1, ["counts": "'[\(texts)1]'"])
    try insert(2, ["counts": "'[\(texts)1]'"])
    try a.synchronize()
    #expect(a.notices.count == ReplicaReport.leftOutMax + 1)
    #expect(a.notices.last == .moreLeftOut)
  }

  @Test func `a value keeps what was readable, and the rest of its object comes`() throws {
    try insert(1, ["any": "'[1]'", "tax": "1.25", "badge": OddReplica.key(5)])
    try a.synchronize()
    let deep = "(repeat('[', 101) || repeat(']', 101))::jsonb"
    try update(1, "any", deep)
    try update(1, "tax", "1e6145")
    try update(1, "badge", "'\\x01'")
    try update(1, "count", "7")
    try a.synchronize()
    #expect(try a.shown(1, "any") == "[1]")
    #expect(try a.shown(1, "tax") == "\"1.25\"")
    #expect(try a.shown(1, "badge") == "\"000000000000000000000005\"")
    #expect(try a.shown(1, "count") == "7")
    #expect(
      try left(a) == [
        "1.any: lists and maps in it are nested deeper than 100",
        "1.badge: an object id has 12 bytes, and this value has 1",
        "1.tax: it is out of the range of a decimal",
      ])
    // A new store has nothing in these places.
    let b = try OddReplica(folder.file("b")) { [self] in try database.connect(as: role) }
    defer { b.end() }
    try b.synchronize()
    #expect(try b.shown(1, "tax") == "null")
    #expect(try b.shown(1, "count") == "7")
    for (column, value) in [("any", "'{\"a\": 1}'"), ("tax", "2"), ("badge", "NULL")] {
      try update(1, column, value)
    }
    for replica in [a, b] {
      try replica.synchronize()
      #expect(try left(replica) == [])
      #expect(try replica.shown(1, "any") == "{\"a\":1}")
      #expect(try replica.shown(1, "tax") == "\"2\"")
    }
    #expect(try a.objects() == b.objects())
  }

  @Test func `elements and members that cannot be held are left out alone`() throws {
    let far = "1" + String(repeating: "0", count: 400)
    try insert(
      1,
      [
        "prices": "'[0.12345678901234567890123456789012345, \(far), 1.10, 1e7000, \"x\"]'",
        "doubles": "'[0.5, \(far)]'", "counts": "'[1, 2.5, \"a\", null]'",
        "badges": "'[\"0102\", \"000000000000000000000001\"]'", "names": "'[1]'",
        "spot": "'{\"city\": \"Bree\", \"price\": 1e7000, \"badge\": 7, \"extra\": 1e500}'",
        "table": "'{\"a\": 1, \"b\": {\"$type\": \"date\", \"value\": \"never\"}}'",
      ])
    try a.synchronize()
    let digits = "0.1234567890123456789012345678901234"
    let prices = try #require(try a.shown(1, "prices"))
    #expect(prices.hasPrefix("[\"\(digits)"))
    #expect(try a.shown(1, "doubles") == "[0.5]")
    #expect(try a.shown(1, "counts") == "[1,0]")
    #expect(try a.shown(1, "badges") == "[\"000000000000000000000001\"]")
    #expect(try a.shown(1, "names") == "{}")
    #expect(try a.shown(1, "spot")?.contains("\"Bree\"") == true)
    #expect(try a.shown(1, "table") == "{\"a\":1}")
    let properties = try Set(a.leftOut.map(\.property))
    #expect(
      properties == [
        "prices[3]", "prices[4]", "doubles[1]", "counts[1]", "counts[2]", "badges[0]", "names",
        "spot.price", "spot.badge", "table[\"b\"]",
      ])
  }

  @Test func `a text of another property is not a number, and a set has no lists`() throws {
    let text = "{\"$type\": \"text\", \"value\": \"AGEA\"}"
    try insert(
      1,
      [
        "counts": "'[\(text), 7]'", "ids": "'[\(text)]'", "dates": "'{\"a\": \(text)}'",
        "spot": "'{\"city\": \(text), \"counts\": [\(text), 1]}'",
        "mixes": "'[[1], [], {}, {\"a\": 1}, {\"$type\": \"map\", \"value\": {}}, 5]'",
        "anys": "'[[1], {}]'",
      ])
    try a.synchronize()
    #expect(try a.shown(1, "counts") == "[7]")
    #expect(try a.shown(1, "mixes") == "[5]")
    #expect(try a.shown(1, "anys") == "[[1],{}]")
    #expect(try a.shown(1, "spot")?.contains(text.replacing(" ", with: "")) == true)
    let properties = try Set(a.leftOut.map(\.property))
    #expect(
      properties
        == Set((0..<5).map { "mixes[\($0)]" })
        .union(["counts[0]", "ids[0]", "dates[\"a\"]", "spot.counts[0]"]))
  }

  /// They are two values: a commit that writes one over the other has something to send.
  @Test func `a mixed value of another spelling is sent`() throws {
    try a.create(1)
    for (value, json) in [
      (Value.string("\u{e9}"), "\"\u{e9}\""), (.string("e\u{301}"), "\"e\u{301}\""),
      (.double(0), "0.0"), (.double(-0.0), "\"-0.0\""),
    ] {
      try a.change(1, "any") { session, place in
        try session.set(place.column, at: place.key, in: place.classID, to: value)
      }
      try a.change(1, "table") { session, place in
        try session.set(value, forKey: "a", inMap: place)
      }
      try a.synchronize()
      let stored = try server.rows("SELECT \"any\", \"table\" FROM \"Odd\"")[0]
      for text in stored { #expect(text?.utf8.contains(json.utf8) == true, "\(stored)") }
    }
  }

  @Test func `decimals are exact, and longer ones are rounded and said once`() throws {
    let digits = "0.12345678901234567890123456789012"
    try insert(1, ["prices": "'[\(digits), \"1.10\"]'", "tax": "10.0 / 3", "price": "1e40 + 1"])
    try insert(2, ["price": "1e40 + 3"])
    try a.synchronize()
    #expect(try a.shown(1, "prices") == "[\"\(digits)\",\"1.10\"]")
    #expect(try a.shown(1, "price")?.hasPrefix("\"1.000") == true)
    #expect(try left(a) == [])
    #expect(a.notices == [.rounded("Odd", "price")])
    // Other properties can be written, and the number stays on the server.
    try a.set(1, "count", .int(3))
    try a.synchronize()
    #expect(try server.value("SELECT price = 1e40 + 1 FROM \"Odd\" WHERE count = 3") == "t")
  }

  @Test func `writing over what is left out is refused by name`() throws {
    try insert(1, ["any": "'1'", "doubles": "'[1, 1e400]'", "tax": "1e6145"])
    try a.synchronize()
    try a.change(1, "doubles") { try $0.insert(.double(2), intoSet: $1) }
    try a.synchronize()
    try a.set(1, "tax", .decimal(DecimalNumber(5).cell))
    try a.set(1, "count", .int(5))
    try a.synchronize()
    try a.set(1, "count", .int(6))
    try a.synchronize()
    #expect(a.refused.map(\.error.message).allSatisfy { $0.contains("cannot be written here") })
    #expect(a.refused.count == 2)
    #expect(try a.shown(1, "doubles") == "[1.0]")
    #expect(try a.shown(1, "tax") == "null")
    #expect(try server.value("SELECT count FROM \"Odd\"") == "6")
    #expect(try server.value("SELECT jsonb_array_length(doubles) FROM \"Odd\"") == "2")
    #expect(try server.value("SELECT tax = 1e6145 FROM \"Odd\"") == "t")
  }

  @Test func `a value that the server's column rounds comes back and is said once`() throws {
    try server.rows("ALTER TABLE \"Odd\" ALTER price TYPE numeric(6, 2)")
    try a.create(1)
    try a.set(1, "price", .decimal(#require(DecimalNumber(text: "1.239")).cell))
    try a.synchronize()
    try a.synchronize()
    #expect(try a.shown(1, "price") == "\"1.24\"")
    #expect(a.notices == [.changedByServer("Odd", "price")])
  }

  /// It has what it had, and nothing has changed that.
  @Test func `a restored server is not said to have cut a value`() throws {
    try a.create(1)
    try a.set(1, "text", .string("o1"))
    try a.synchronize()
    let copy = try ServerCopy(server, classes: ["Odd"])
    try update(1, "text", "'sql'")
    try a.synchronize()
    #expect(try a.shown(1, "text") == "\"sql\"")
    try copy.restore()
    try a.synchronize()
    #expect(try a.shown(1, "text") == "\"o1\"")
    #expect(a.notices == [])
  }

  // MARK: - Names

  @Test func `keys that are spelled in two ways are two keys`() throws {
    let two = "'{\"\u{e9}\": {\"city\": \"a\"}, \"e\u{301}\": {\"city\": \"b\"}}'"
    let names = "'{\"\u{e9}\": \"a\", \"e\u{301}\": \"b\"}'"
    try insert(
      1, ["places": two, "names": names, "spot": "'{\"names\": \(names.dropFirst().dropLast())}'"])
    try a.synchronize()
    try update(1, "places", two.replacing("\"b\"", with: "\"c\""))
    try a.synchronize()
    let places = try #require(try a.objects()["1"]?["places"])
    guard case .object(let members) = places else {
      Issue.record("\(places)")
      return
    }
    #expect(members.map { $0.value["city"] } == [.string("c"), .string("a")])
    guard case .object(let inner)? = try a.objects()["1"]?["spot"]?["names"] else {
      Issue.record("no names")
      return
    }
    #expect(inner.count == 2)
  }

  @Test func `a NUL in the key of a nested map arrives elsewhere`() throws {
    let b = try OddReplica(folder.file("b")) { [self] in try database.connect(as: role) }
    defer { b.end() }
    try a.create(1)
    try a.change(1, "any") { session, place in
      let inner = CopiedValue.map(
        keys: ["x\0y", "$base64:z"], values: [.value(.int(1)), .list([])])
      let copy = CopiedValue.map(keys: ["a"], values: [inner])
      let value = try session.make(copy, in: place)
      try session.set(place.column, at: place.key, in: place.classID, to: value)
    }
    for replica in [a, b] { try replica.synchronize() }
    #expect(a.refused.isEmpty)
    #expect(try b.objects() == a.objects())
    #expect(try b.shown(1, "any")?.contains("$base64:eAB5") == true)
  }

  // MARK: - Checks

  @Test func `columns are made with checks, and existing tables get them`() throws {
    let schema = try a.store.newestSnapshot().schema.schema
    let migration = ServerMigration(server)
    try server.rows("INSERT INTO \"Odd\" (_id, badge) VALUES ('\\xab', '\\x01')")
    #expect(try migration.run(schema).contains("checked Odd.badge"))
    #expect(try migration.run(schema) == [])
    #expect(server.refusal("UPDATE \"Odd\" SET badge = '\\x02'") == "23514")
    #expect(server.refusal("INSERT INTO \"Odd\" (_id) VALUES ('\\xabcd')") == "23514")
    let key = OddReplica.key(1)
    #expect(
      server.refusal("INSERT INTO \"Odd\" (_id, counts) VALUES (\(key), '1')") == "23514")
    let fresh = try PostgresDatabase(schema.classes).connect()
    #expect(
      fresh.refusal("INSERT INTO \"Odd\" (_id, friend) VALUES (\(key), '\\x01')") == "23514")
    #expect(fresh.refusal("INSERT INTO \"Odd\" (_id, friend) VALUES (\(key), NULL)") == nil)
  }
}
