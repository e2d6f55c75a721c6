import Testing

@testable import TarnSync

@Suite struct ServerAddressTests {
  @Test func `a URL and a connection string name the same server`() throws {
    let url = try ServerAddress("postgresql://frodo@db.example:6432/todo")
    let words = try ServerAddress("host=db.example port=6432 user=frodo dbname=todo")
    #expect(url.parameters == words.parameters)
    #expect(url.description == "db.example, todo")
  }

  @Test func `a password in an address is refused and not repeated`() throws {
    let error = #expect(throws: ServerError.self) {
      try ServerAddress("postgresql://frodo:secret@db.example/todo")
    }
    #expect(error?.description.contains(".pgpass") == true)
    #expect(error?.description.contains("secret") == false)
  }

  @Test func `a text that is no address is refused without quoting it`() throws {
    let error = #expect(throws: ServerError.self) { try ServerAddress("secret") }
    #expect(error?.description.contains("secret") == false)
  }

  @Test(arguments: [
    "postgresql:///todo?host=/run/pg", "postgresql://127.0.0.1/todo", "dbname=todo",
    "postgresql://localhost/todo", "postgresql://[::1]/todo", "host=@abstract dbname=todo",
    "host=127.9.9.9,/run/pg dbname=todo", "host=db.example hostaddr=127.0.0.1 dbname=todo",
  ])
  func `a server on this machine needs no certificate`(_ text: String) throws {
    #expect(try ServerAddress(text).parameters["sslmode"] == nil)
  }

  @Test func `other servers must prove who they are, unless the address says otherwise`() throws {
    let address = try ServerAddress("postgresql://db.example/todo")
    #expect(address.parameters["sslmode"] == "verify-full")
    #expect(address.parameters["sslrootcert"] == "/etc/ssl/certs/ca-certificates.crt")
    #expect(address.parameters["target_session_attrs"] == "read-write")
    let given = try ServerAddress("postgresql://db.example/todo?sslmode=require")
    #expect(given.parameters["sslmode"] == "require")
  }

  @Test func `the timeout for unacknowledged bytes follows that of the command`() throws {
    let address = try ServerAddress("dbname=todo")
    #expect(address.parameters["tcp_user_timeout"] == "30000")
    #expect(address.waiting(atMost: .seconds(300)).parameters["tcp_user_timeout"] == "300000")
    #expect(
      address.waiting(atMost: .seconds(9_999_999)).parameters["tcp_user_timeout"] == "2147483647")
    let given = try ServerAddress("dbname=todo tcp_user_timeout=7")
    #expect(given.waiting(atMost: .seconds(5)).parameters["tcp_user_timeout"] == "7")
  }

  @Test(arguments: [
    "postgresql://127.0.0.1,db.example/todo", "postgresql://127.evil.example/todo",
    "postgresql://127.1/todo", "host=127.0.0.1 hostaddr=192.0.2.1 dbname=todo",
    "host=/run/pg,/run/pg hostaddr=,192.0.2.1 dbname=todo", "postgresql://[::2]/todo",
    "host=/run/pg hostaddr=127.0.0.1,192.0.2.1 dbname=todo", "service=nowhere dbname=todo",
    "host='/\u{301}x,\u{301}/x' dbname=todo",
  ])
  func `one host elsewhere is enough`(_ text: String) throws {
    #expect(try ServerAddress(text).parameters["sslmode"] == "verify-full")
    let local = try ServerAddress("dbname=todo").setting(["host": "db.example"])
    #expect(local.parameters["sslmode"] == "verify-full")
  }
}
