import Testing

@testable import TarnSync

@Suite struct ServerConnectionTests {
  @Test func `rows come as text, nil as nil`() throws {
    let connection = try PostgresDatabase().connect()
    let rows = try connection.rows(
      "SELECT $1::text, $2::int + 1, NULL UNION ALL SELECT 'ö', 7, ''", ["it's", "4"])
    #expect(rows == [["it's", "5", nil], ["ö", "7", ""]])
    #expect(connection.serverVersion >= 150_000)
  }

  @Test func `a refusal has the server's code and words`() throws {
    let connection = try PostgresDatabase().connect()
    let error = #expect(throws: ServerError.self) {
      try connection.query("SELECT 1/0", for: "divide")
    }
    #expect(error?.state == "22012")
    #expect(error?.description == "cannot divide: division by zero (SQLSTATE 22012)")
  }

  @Test func `a server that is not there is named`() throws {
    let address = try ServerAddress("postgresql:///todo?host=/nowhere")
    let error = #expect(throws: ServerError.self) { try ServerConnection(address) }
    #expect(error?.state == "")
    #expect(error?.description.contains("cannot connect to /nowhere, todo") == true)
    #expect(error?.message.contains("\n  Is the server running") == true)
  }

  @Test func `a transaction that throws is rolled back`() throws {
    let connection = try PostgresDatabase().connect()
    try connection.rows("CREATE TABLE frogs (name text)")
    #expect(throws: ServerError.self) {
      try connection.transaction(for: "test") { () throws(ServerError) in
        try connection.query("INSERT INTO frogs VALUES ('a')", for: "test")
        try connection.query("SELECT 1/0", for: "test")
      }
    }
    #expect(try connection.value("SELECT count(*) FROM frogs") == "0")
    try connection.transaction(for: "test") { () throws(ServerError) in
      try connection.query("INSERT INTO frogs VALUES ('b')", for: "test")
    }
    #expect(try connection.value("SELECT count(*) FROM frogs") == "1")
  }

  @Test func `a plan that is kept is one of the server, and gone after a failure`() throws {
    let connection = try PostgresDatabase().connect()
    try connection.keepPlans(for: "test")
    func sum(_ number: Int64) throws -> Int64? {
      let one = ServerConnection.Statement(
        "SELECT 1 / ($1 - 3)",
        [WireParameter(.bigint, WireValue(.int(number))?.bytes)], isRepeated: true)
      return try connection.binary([one, one], for: "test")[1].integer(0, 0)
    }
    let count = "SELECT count(*) FROM pg_prepared_statements"
    for _ in 0..<2 {
      #expect(try sum(4) == 1)
      #expect(try sum(2) == -1)
    }
    #expect(try connection.value(count) == "1")
    #expect(throws: ServerError.self) { try sum(3) }
    #expect(try sum(4) == 1)
    #expect(try connection.value(count) == "2")
    // Such as by a pooler.
    try connection.rows("DEALLOCATE ALL")
    #expect(throws: ServerError.self) { try sum(4) }
    #expect(try sum(4) == 1)
  }

  @Test func `what follows may fail`() throws {
    let connection = try PostgresDatabase().connect()
    let statements = ["BEGIN", "CREATE TABLE frogs ()", "COMMIT", "SELECT 1/0"].map {
      ServerConnection.Statement($0)
    }
    #expect(try connection.binary(statements, needing: 3, for: "test").count == 3)
    #expect(try connection.value("SELECT count(*) FROM frogs") == "0")
    #expect(throws: ServerError.self) { try connection.binary(statements, needing: 3, for: "test") }
    try connection.rows("ROLLBACK")
  }
}
