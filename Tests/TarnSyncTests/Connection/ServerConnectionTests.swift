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

  @Test func `names and texts are quoted`() throws {
    let connection = try PostgresDatabase().connect()
    let odd = "a\"b'c\\d"
    try connection.rows("CREATE TABLE \(SQLText.name(odd)) (\(SQLText.name(odd)) text)")
    try connection.rows("INSERT INTO \(SQLText.name(odd)) VALUES (\(SQLText.literal(odd)))")
    #expect(try connection.value("SELECT \(SQLText.name(odd)) FROM \(SQLText.name(odd))") == odd)
  }
}
