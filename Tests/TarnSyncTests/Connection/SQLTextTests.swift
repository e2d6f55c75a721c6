import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Texts and names in SQL mean themselves, whatever is in them and whatever a login has set.
@Suite struct SQLTextTests {
  static let marks = [
    "'", "\"", "\\", "$", "$$", "$tarn$", "$tarn", "''", "\\'", "{", "}", ",", ";", "--", "/*", "?",
  ]

  /// Random texts; in a run with all of them also one for each scalar there is.
  private static var texts: [String] {
    var random = SeededRandom(seed: Seeds.chosen ?? 1)
    let some = (0..<4_000).map { _ in HostileTexts.random(&random, marks: marks) }
    return some + (Seeds.areAll ? Array(HostileTexts.beside(["'", "\"", "\\", "$"])) : [])
  }

  private func forEachPart(_ texts: [String], _ body: ([String]) throws -> Void) rethrows {
    for start in stride(from: 0, to: texts.count, by: 200) {
      try body(Array(texts[start..<min(start + 200, texts.count)]))
    }
  }

  @Test(arguments: ["off", "on"])
  func `the server reads the texts that were written`(_ setting: String) throws {
    let connection = try PostgresDatabase().connect()
    try connection.rows("SET standard_conforming_strings = \(setting)")
    try forEachPart(Self.texts) { part in
      let literals = part.map { SQLText.literal($0) }.joined(separator: ", ")
      let array = SQLText.array(part)
      let found = try connection.rows(
        """
        SELECT string_agg(u.wanted, ' ') FROM unnest(ARRAY[\(literals)], $1::text[], $2::text[])
          u (written, item, wanted)
        WHERE u.written IS DISTINCT FROM u.wanted OR u.item IS DISTINCT FROM u.wanted
        """, [array, jsonArray(part, connection)])
      #expect(found == [[nil]])
    }
  }

  /// The texts as the server's own functions write an array.
  private func jsonArray(
    _ texts: [String], _ connection: ServerConnection
  ) throws -> String? {
    let wire = WireParameter(array: .text, texts.map { Array($0.utf8) })
    return try connection.binary("SELECT $1::text[]::text", [wire], for: "test").texts[0][0]
  }

  @Test(arguments: ["off", "on"])
  func `the server reads the names that were written`(_ setting: String) throws {
    let connection = try PostgresDatabase().connect()
    try connection.rows("SET standard_conforming_strings = \(setting)")
    try forEachPart(Self.texts.filter { $0.utf8.count <= SQLText.nameBytesMax }) { part in
      let columns = part.map { "0 AS \(SQLText.name($0))" }.joined(separator: ", ")
      let found = try connection.rows(
        "SELECT json_object_keys(row_to_json(x)) FROM (SELECT \(columns)) x")
      #expect(found.map { $0[0].map { Array($0.utf8) } } == part.map { Array($0.utf8) })
    }
  }

  @Test func `a body's quote is not in the body`() throws {
    let connection = try PostgresDatabase().connect()
    var random = SeededRandom(seed: 3)
    for number in 0..<200 {
      let text = HostileTexts.random(&random, marks: ["$", "$$", "$tarn$", "$tarn", "1$", "tarn"])
      let quote = SQLText.quote(around: text)
      #expect(try connection.value("SELECT \(quote)\(text)\(quote)") == text, "\(number)")
    }
  }

  @Test func `a text with a NUL is refused, not cut`() throws {
    let connection = try PostgresDatabase().connect()
    for refused in ["it's\0", "\0"] {
      let error = #expect(throws: ServerError.self) {
        try connection.rows("SELECT $1", [refused])
      }
      #expect(error?.description.contains("NUL") == true)
      #expect(throws: ServerError.self) { try connection.run("SELECT 1 \(refused)", for: "test") }
    }
    let address = try ServerAddress(PostgresDatabase().address(as: PostgresServer.administrator))
    let error = #expect(throws: ServerError.self) {
      try ServerConnection(address.login(as: PostgresServer.administrator + "\0x", password: nil))
    }
    #expect(error?.description.contains("NUL") == true)
  }

  @Test func `roles have any names`() throws {
    let database = try PostgresDatabase()
    let connection = try database.connect()
    var random = SeededRandom(seed: 11)
    for number in 0..<Seeds.rounds(500, few: 20) {
      let role = "r\(number)" + HostileTexts.random(&random, marks: Self.marks, bytesMax: 40)
      try connection.run("CREATE ROLE \(SQLText.name(role)) LOGIN", for: "test")
      let address = try ServerAddress(database.address(as: PostgresServer.administrator))
        .login(as: role, password: nil)
      let found = try ServerConnection(address).value("SELECT session_user")
      #expect(found.map { Array($0.utf8) } == Array(role.utf8))
      try connection.run("DROP ROLE \(SQLText.name(role))", for: "test")
    }
  }
}
