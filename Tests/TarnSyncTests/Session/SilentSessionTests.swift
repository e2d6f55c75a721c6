import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Sessions whose server stops answering.
@Suite(.timeLimit(.minutes(30))) struct SilentSessionTests {
  private let meeting: Meeting
  private let file: Store
  private let folder = TemporaryFolder()
  private let proxy: CuttingProxy

  init() throws {
    meeting = try Meeting()
    file = try meeting.file("a")
    proxy = try CuttingProxy(to: PostgresServer.shared.get().folder, in: folder.path)
  }

  /// The server behind the proxy.
  private func address(_ answer: Duration) throws -> ServerAddress {
    let text = try PostgresServer.shared.get()
      .address(meeting.database.name, as: meeting.client, at: folder.path)
    var address = try ServerAddress(text)
    address.timeouts.answer = answer
    return address
  }

  private var isConnected: Bool {
    get throws { try ReplicaReport.of(file)?.isConnected == true }
  }

  @Test func `a session says that its server is silent, and goes on when it answers`()
    async throws
  {
    defer { proxy.close() }
    let problems = Lock([String]())
    var address = try address(.milliseconds(400))
    address.timeouts.connect = .milliseconds(400)
    let session = try meeting.session(file, at: address) { event in
      if case .waits(let why, _) = event { problems.withLock { $0.append("\(why)") } }
    }
    try file.add(1, 1)
    try await yieldUntil { try meeting.things() == ["1"] }
    try await yieldUntil { try isConnected }
    proxy.stall()
    try file.add(2, 2)
    try await yieldUntil { try !isConnected }
    try await yieldUntil { problems.withLock { $0.count } >= 2 }
    #expect(problems.withLock { $0[0].contains("the server has not answered for 0.4 s") })
    #expect(try ReplicaReport.of(file)?.problem?.contains("has not answered") == true)
    proxy.goOn()
    try await yieldUntil {
      session.reconnect()
      return try meeting.things() == ["1", "2"]
    }
    try await yieldUntil { try isConnected }
    #expect(try ReplicaReport.of(file)?.problem == nil)
    try await session.end()
    #expect(try !isConnected)
  }

  @Test func `a session ends though its server is silent`() async throws {
    defer { proxy.close() }
    let session = try meeting.session(file, at: address(.seconds(100_000)))
    try file.add(1, 1)
    try await yieldUntil { try meeting.things() == ["1"] }
    proxy.stall()
    defer { proxy.goOn() }
    try file.add(2, 2)
    try await session.end()
    #expect(try meeting.things() == ["1"])
    #expect(try ReplicaReport.of(file)?.unsentCommits == 1)
  }

  @Test func `a session ends though its server does not take a connection`() async throws {
    proxy.close()
    let silent = TemporaryFolder()
    let socket = try SilentSocket(in: silent.path)
    defer { socket.close() }
    let text = try PostgresServer.shared.get()
      .address(meeting.database.name, as: meeting.client, at: silent.path)
    let session = try meeting.session(file, at: ServerAddress(text))
    try file.add(1, 1)
    try await session.end()
    #expect(try meeting.things() == [])
  }

  @Test func `another process takes over where a session's server is silent`() async throws {
    defer { proxy.close() }
    var address = try address(.milliseconds(300))
    address.timeouts.connect = .milliseconds(300)
    let first = try meeting.session(file, at: address)
    try file.add(1, 1)
    try await yieldUntil { try meeting.things() == ["1"] }
    proxy.stall()
    let second = try meeting.session(file)
    try file.add(2, 2)
    try await yieldUntil { try meeting.things() == ["1", "2"] }
    proxy.goOn()
    for session in [first, second] { try await session.end() }
    #expect(try ReplicaReport.of(file)?.unsentCommits == 0)
  }

  @Test func `a session survives a locked table`() async throws {
    proxy.close()
    var address = meeting.address
    address.timeouts.answer = .milliseconds(400)
    let session = try meeting.session(file, at: address)
    try file.add(1, 1)
    try await yieldUntil { try meeting.things() == ["1"] }
    try meeting.connection.rows("BEGIN")
    try meeting.connection.rows("LOCK TABLE \"Thing\"")
    try file.add(2, 2)
    try await yieldUntil { try !isConnected }
    try meeting.connection.rows("COMMIT")
    try await yieldUntil {
      session.reconnect()
      return try meeting.things() == ["1", "2"]
    }
    try await session.end()
    #expect(try ReplicaReport.of(file)?.unsentCommits == 0)
  }

  @Test func `the note of a process that was killed is not believed`() throws {
    proxy.close()
    try Replica(file, classes: ["Thing"]).close()
    try SessionNotes.edit(file) { $0.isConnected = true }
    #expect(try !isConnected)
  }

  @Test func `one class that is stuck is said, and the others go on`() async throws {
    proxy.close()
    try meeting.connection.rows(
      """
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
        $f$ BEGIN PERFORM nothing_like_that(); RETURN NEW; END $f$
      """)
    try meeting.connection.rows(
      "CREATE TRIGGER fail BEFORE INSERT ON \"Thing\" FOR EACH ROW EXECUTE FUNCTION fail()")
    let problems = Lock([String]())
    let session = try meeting.session(file) { event in
      if case .waits(let why, _) = event { problems.withLock { $0.append("\(why)") } }
    }
    try file.add(1, 1)
    try await yieldUntil { try ReplicaReport.of(file)?.stuck.map(\.className) == ["Thing"] }
    try await yieldUntil {
      problems.withLock { $0.contains { $0.contains("cannot send the changes of Thing") } }
    }
    try await yieldUntil { try isConnected }
    try meeting.connection.rows("DROP TRIGGER fail ON \"Thing\"")
    try await yieldUntil {
      session.reconnect()
      return try meeting.things() == ["1"]
    }
    try await yieldUntil { try ReplicaReport.of(file)?.stuck.isEmpty == true }
    try await session.end()
    #expect(try ReplicaReport.of(file)?.unsentCommits == 0)
  }
}
