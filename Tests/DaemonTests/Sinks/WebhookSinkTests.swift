import Foundation
import TarnText
import TestSupport
import Testing
import ToolSupport

@testable import TarnDaemon

/// The webhook sink of a real daemon, and a server that fails by chance.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct WebhookSinkTests {
  private let folder = TemporaryFolder()

  private struct Request {
    let key: String
    let signature: String?
    let isTaken: Bool
    let body: String
  }

  private func server(
    seed: UInt64, failing percent: Int, retryAfter: String? = nil
  ) throws -> (ChildProcess, port: String) {
    let script = try #require(
      Bundle.module.url(forResource: "receiver", withExtension: "py", subdirectory: "Resources"))
    let process = try ChildProcess(
      "python3",
      [script.path, folder.file("requests"), "\(seed)", "\(percent)"]
        + [retryAfter].compactMap { $0 })
    return (process, try #require(process.line { _ in true }))
  }

  private func configuration(_ port: String, _ extra: String = "") -> String {
    """
    watches:
      - name: notes
        file: $/notes.tarn
        class: Note
        delivery: {first-retry: 5ms, last-retry: 20ms}
        sinks: [{webhook: 'http://127.0.0.1:\(port)/hook', \(extra)}]
    """
  }

  /// What the server has got.
  private struct Received {
    private(set) var requests: [Request] = []
    /// What a receiver has that drops repeated keys.
    private(set) var model = NoteModel()
    private var seen: Set<String> = []
    private var file: LineFile

    init(_ folder: TemporaryFolder) { file = LineFile(folder.file("requests")) }

    mutating func read() throws {
      for line in try file.next() {
        let json = try JSONScanner.value(in: line)
        guard case .string(let key)? = json["key"], case .string(let body)? = json["body"] else {
          throw ToolError("not a request: \(line)")
        }
        var signature: String?
        if case .string(let text)? = json["signature"] { signature = text }
        let request = Request(
          key: key, signature: signature, isTaken: json["taken"] == .bool(true), body: body)
        requests.append(request)
        guard request.isTaken, seen.insert(key).inserted else { continue }
        try model.apply(JSONScanner.value(in: body))
      }
    }
  }

  private func receive(until condition: (Received) throws -> Bool) async throws -> Received {
    var received = Received(folder)
    try await yieldUntil {
      try received.read()
      return try condition(received)
    }
    return received
  }

  /// The daemon is killed, requests fail and answers are lost: each change arrives once at a
  /// receiver that drops repeated keys, and a key always has the same body.
  @Test(.serialized, arguments: Seeds.of(1...20, first: 3))
  func deliversEachChangeOnce(_ seed: UInt64) async throws {
    var random = SeededRandom(seed: seed)
    let (server, port) = try self.server(seed: seed, failing: 40)
    let file = try NoteFile(folder)
    let daemon = try DaemonProcess(folder, configuration(port))
    for _ in 0..<Seeds.rounds(20, few: 6) {
      for _ in 0..<random.below(20) {
        try file.change(&random)
        for _ in 0..<random.below(3_000) { await Task.yield() }
      }
      try daemon.killAndRestart()
    }
    try file.put(99, "end")
    let version = try file.version
    let received = try await receive { $0.model.version >= version }
    #expect(try received.model.notes == file.expected)
    var bodies: [String: String] = [:]
    for request in received.requests {
      #expect(bodies[request.key, default: request.body] == request.body, "\(request.key)")
      bodies[request.key] = request.body
    }
    #expect(daemon.stop() == .exited(0))
    server.signal(SIGKILL)
  }

  @Test func signsBodies() async throws {
    let (server, port) = try self.server(seed: 1, failing: 0)
    let key = try folder.file("key", Array("secret\n".utf8))
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(folder, configuration(port, "secret-file: \(key)"))
    let request = try #require(try await receive { !$0.requests.isEmpty }.requests.first)
    let sum = HTTPClient.signature(of: Array(request.body.utf8), Array("secret".utf8))
    #expect(request.signature == "sha256=\(sum)")
    // RFC 4231, test case 2.
    #expect(
      HTTPClient.signature(of: Array("what do ya want for nothing?".utf8), Array("Jefe".utf8))
        == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    daemon.stop()
    server.signal(SIGKILL)
  }

  /// A batch that is larger than a body is sent as several.
  @Test func dividesLongBatches() async throws {
    let (server, port) = try self.server(seed: 1, failing: 20)
    let file = try NoteFile(folder)
    for id in 0..<200 { try file.put(id, String(repeating: "x", count: 50)) }
    let daemon = try DaemonProcess(folder, configuration(port, "body: 2kB"))
    let expected = try file.expected
    let received = try await receive { $0.model.notes == expected }
    let bodies = received.requests.filter(\.isTaken).map(\.body)
    #expect(bodies.allSatisfy { $0.utf8.count < 2_500 })
    #expect(bodies.count > 5)
    // Only a body that ends a batch has the position that a receiver may keep.
    for body in bodies {
      let json = try JSONScanner.value(in: body)
      #expect((json["position"] == nil) == (json["more"] != nil))
      #expect(json["fullResync"] == nil || json["part"] == .integer(1))
    }
    daemon.stop()
    server.signal(SIGKILL)
  }

  /// A receiver cannot silence a sink for longer than an hour, nor end the daemon.
  @Test(arguments: ["9223372037", "9223372036854775807", "Fri, 31 Dec 9999 23:59:59 GMT"])
  func waitsAnHourAtMost(_ retryAfter: String) async throws {
    let (server, port) = try self.server(seed: 1, failing: 100, retryAfter: retryAfter)
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(folder, configuration(port))
    try await yieldUntil { daemon.errors.contains("trying again in 3600.00 s") }
    #expect(daemon.errors.contains("s, of which the daemon waits an hour"))
    #expect(daemon.stop() == .exited(0))
    server.signal(SIGKILL)
  }

  /// Two watches of one store post different bodies for the same commits to one receiver.
  @Test func watchesOfOneStoreHaveKeysOfTheirOwn() async throws {
    let (server, port) = try self.server(seed: 1, failing: 0)
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let watches = ["a", "b"].map { name in
      """
        - name: \(name)
          file: $/notes.tarn
          class: Note
          sinks: [{webhook: 'http://127.0.0.1:\(port)/hook'}]

      """
    }
    let daemon = try DaemonProcess(folder, "watches:\n" + watches.joined())
    _ = try await receive { $0.requests.count == 2 }
    try file.put(2, "two")
    let requests = try await receive { $0.requests.count == 4 }.requests
    #expect(Set(requests.map(\.key)).count == 4)
    #expect(requests.allSatisfy { $0.key.utf8.count == 32 })
    daemon.stop()
    server.signal(SIGKILL)
  }
}
