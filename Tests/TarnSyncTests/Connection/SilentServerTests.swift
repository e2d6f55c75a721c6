import Foundation
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Servers that do not answer, for any reason.
@Suite struct SilentServerTests {
  private let database: PostgresDatabase
  private let folder = TemporaryFolder()

  init() throws {
    database = try PostgresDatabase()
    try database.connect().rows("CREATE TABLE frogs (name text)")
  }

  /// - Parameter socket: the folder of the server's socket, if it is another one.
  private func address(_ answer: Duration, at socket: String? = nil) throws -> ServerAddress {
    let server = try PostgresServer.shared.get()
    var address = try ServerAddress(server.address(database.name, at: socket))
    address.timeouts.answer = answer
    return address
  }

  @Test func `a server that accepts and never answers is given up`() throws {
    let silent = try SilentSocket(in: folder.path)
    defer { silent.close() }
    var address = try address(.seconds(60), at: folder.path)
    address.timeouts.connect = .milliseconds(100)
    let error = #expect(throws: ServerError.self) { try ServerConnection(address) }
    #expect(error?.state == "")
    #expect(error?.message == "the server has not answered within 0.1 s")
  }

  @Test func `the next address is tried after one that does not answer`() throws {
    let silent = try SilentSocket(in: folder.path)
    defer { silent.close() }
    let server = try PostgresServer.shared.get().folder
    var address = try address(.seconds(60), at: "/nowhere,\(folder.path),\(server)")
    address.timeouts.connect = .milliseconds(500)
    #expect(try ServerConnection(address).value("SELECT 1") == "1")
  }

  @Test func `a refused login has the server's code, and no other address is tried`() throws {
    let server = try PostgresServer.shared.get()
    let text = server.address(database.name, as: "nobody", at: "\(server.folder),/nowhere")
    let error = try #require(throws: ServerError.self) {
      try ServerConnection(ServerAddress(text))
    }
    #expect(error.state == "28000")
    #expect(error.message.hasSuffix("FATAL:  role \"nobody\" does not exist"))
  }

  @Test func `a name without an address is said`() throws {
    let address = try ServerAddress("postgresql://nowhere.invalid/todo")
    let error = try #require(throws: ServerError.self) { try ServerConnection(address) }
    #expect(error.message.hasPrefix("could not translate host name \"nowhere.invalid\""))
  }

  @Test func `a locked table is given up, and the server does not go on waiting for it`()
    async throws
  {
    let administrator = try database.connect()
    try administrator.rows("BEGIN")
    try administrator.rows("LOCK TABLE frogs")
    let connection = try ServerConnection(address(.milliseconds(200)))
    var noted: [Duration?] = []
    connection.silent = { noted.append($0) }
    let error = try #require(throws: ServerError.self) {
      try connection.query("SELECT count(*) FROM frogs", for: "count frogs")
    }
    #expect(error.state == "")
    #expect(
      error.description.hasPrefix("cannot count frogs: the server has not answered for 0.2 s"))
    #expect(noted == [.milliseconds(100)])
    // Later statements do not wait, nor does the end of the connection.
    let next = try #require(throws: ServerError.self) { try connection.rows("SELECT 1") }
    #expect(next.message == "the server has not answered for 0.2 s")
    try await yieldUntil {
      try administrator.value(
        """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'
        """) == "0"
    }
  }

  @Test func `a server process that is stopped is given up`() throws {
    let connection = try ServerConnection(address(.milliseconds(200)))
    let number = try #require(Int32(connection.value("SELECT pg_backend_pid()") ?? ""))
    kill(number, SIGSTOP)
    defer { kill(number, SIGCONT) }
    let error = try #require(throws: ServerError.self) { try connection.rows("SELECT 1") }
    #expect(error.message == "the server has not answered for 0.2 s")
  }

  @Test(arguments: [false, true])
  func `a network that lets nothing pass is given up`(isPipelined: Bool) throws {
    let proxy = try CuttingProxy(to: PostgresServer.shared.get().folder, in: folder.path)
    defer { proxy.close() }
    let connection = try ServerConnection(address(.milliseconds(200), at: folder.path))
    #expect(try connection.value("SELECT 1") == "1")
    proxy.stall()
    defer { proxy.goOn() }
    // More than the sockets between take.
    let long = [UInt8](repeating: 65, count: 500_000)
    let error = try #require(throws: ServerError.self) {
      if isPipelined {
        let statement = ServerConnection.Statement(
          "SELECT length($1)", [WireParameter(text: String(decoding: long, as: UTF8.self))])
        _ = try connection.binary([statement], for: "measure")
      } else {
        try connection.rows("SELECT 1")
      }
    }
    #expect(error.message.hasPrefix("the server has not answered for "))
  }

  @Test func `an answer may take longer, as long as bytes move`() throws {
    var address = try address(.seconds(2))
    address.timeouts.connect = .seconds(60)
    let connection = try ServerConnection(address)
    let rows = try connection.rows(
      "SELECT pg_sleep(0.1), repeat('x', 20000) FROM generate_series(1, 25)")
    #expect(rows.count == 25)
  }

  @Test func `a large statement has more time`() {
    var timeouts = ServerTimeouts()
    #expect(timeouts.answer(toBytes: 1_000) == .seconds(60))
    #expect(timeouts.answer(toBytes: 64 << 20) == .seconds(316))
    timeouts.answer = nil
    #expect(timeouts.answer(toBytes: 64 << 20) == nil)
  }

  @Test func `a wait ends with the session`() throws {
    let administrator = try database.connect()
    try administrator.rows("BEGIN")
    try administrator.rows("LOCK TABLE frogs")
    let stop = try OnceSignal()
    let connection = try ServerConnection(address(.seconds(600)), until: stop)
    Thread.detachNewThread { stop.raise() }
    let error = try #require(throws: ServerError.self) {
      try connection.rows("SELECT count(*) FROM frogs")
    }
    #expect(error.message == "the session ends")
  }
}

/// A socket that accepts connections and never answers.
struct SilentSocket {
  private let listener: Int32

  init(in folder: String) throws {
    listener = try CuttingProxy.listener(folder)
  }

  func close() { Glibc.close(listener) }
}
