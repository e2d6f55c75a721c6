import Foundation
import TestSupport
import Testing
import ToolSupport

@testable import TarnDaemon

/// Status and metrics, and who may ask for them.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct HTTPDoorTests {
  private let folder = TemporaryFolder()

  private static let watches = """
    watches:
      - {name: notes, file: $/notes.tarn, class: Note, sinks: [{file: $/out.jsonl}]}
    """

  @Test func countsWithoutValues() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "a secret")
    let daemon = try DaemonProcess(folder, "http: {listen: $/http.sock}\n" + Self.watches)
    func waitForVersion(_ version: Int) async throws {
      try await yieldUntil { try NoteModel(file: folder.file("out.jsonl")).version == version }
    }
    // Apart, so that they are not merged to one delivery.
    try await waitForVersion(1)
    try file.put(2, "another secret")
    try await waitForVersion(2)
    func metrics() throws -> String {
      try DaemonProcess.run(["status", "--prometheus", "--config", daemon.configuration]).text
    }
    let labels = "{watch=\"notes\",sink=\"file\",file=\"\(file.path)\"}"
    try await yieldUntil { try metrics().contains("tarn_behind_versions\(labels) 0") }
    let text = try metrics()
    #expect(text.contains("# TYPE tarn_deliveries_total counter"))
    #expect(text.contains("tarn_deliveries_total\(labels) 2"))
    #expect(text.contains("tarn_file_commits_total{file=\"\(file.path)\"} 2"))
    #expect(text.contains("tarn_healthy 1"))
    #expect(!text.contains("secret"))
    #expect(!daemon.errors.contains("secret"))
    let (table, end) = try DaemonProcess.run(["status", "--config", daemon.configuration])
    #expect(end == .exited(0))
    #expect(table.hasPrefix("WATCH  SINK"))
    daemon.stop()
    let (_, failed) = try DaemonProcess.run(["status", "--config", daemon.configuration])
    #expect(failed == .exited(1))
  }

  /// A reader that stands still makes the file grow; who it is belongs to the status.
  @Test func namesReadersOfOldVersions() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "a")
    let daemon = try DaemonProcess(folder, "http: {listen: $/http.sock}\n" + Self.watches)
    let pin = try DaemonTestStore.snapshot(file.path)
    for number in 2..<30 { try file.put(number, String(repeating: "long ", count: 200)) }
    try await yieldUntil { try NoteModel(file: folder.file("out.jsonl")).version == 29 }
    func status(_ option: String) throws -> String {
      try DaemonProcess.run(["status", option, "--config", daemon.configuration]).text
    }
    let json = try status("--json")
    let own = "{\"process\":\"process \(getpid()) "
    let pinned = try #require(json.components(separatedBy: "\"pins\":").last)
    #expect(pinned.contains(own), "\(json)")
    #expect(pinned.contains("\"since\":\"20"), "\(json)")
    let metrics = try status("--prometheus")
    let lines = metrics.split(separator: "\n").filter { $0.hasPrefix("tarn_file_pinned_bytes") }
    let bytes = lines.first.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
    #expect((bytes ?? 0) > 50_000, "\(lines)")
    #expect(metrics.contains("# TYPE tarn_file_pinned_seconds gauge"))
    withExtendedLifetime(pin) {}
    daemon.stop()
  }

  @Test func protectsTheSocket() throws {
    _ = try NoteFile(folder)
    let daemon = try DaemonProcess(folder, "http: {listen: $/http.sock}\n" + Self.watches)
    var status = stat()
    #expect(stat(folder.file("http.sock"), &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
    daemon.stop()
    #expect(stat(folder.file("http.sock"), &status) != 0)
  }

  @Test func asksForTokenHostAndOriginOnAPort() throws {
    _ = try NoteFile(folder)
    let port = try freePort()
    let token = try folder.file("token", Array("0123456789abcdef\n".utf8))
    let daemon = try DaemonProcess(
      folder,
      "http: {listen: '127.0.0.1:\(port)', token-file: \(token), origins: ['https://good']}\n"
        + Self.watches)
    let client = HTTPClient()
    func status(_ headers: String...) throws -> Int {
      try client.perform(
        HTTPClient.Request(
          url: "http://127.0.0.1:\(port)/health", headers: headers, timeout: .seconds(30))
      ).status
    }
    let right = "Authorization: Bearer 0123456789abcdef"
    #expect(try status(right) == 200)
    #expect(try status("Authorization: bearer  0123456789abcdef") == 200)
    #expect(try status("Authorization: BearerX 0123456789abcdef") == 401)
    #expect(try status("Authorization: Basic 0123456789abcdef") == 401)
    #expect(try status() == 401)
    #expect(try status("Authorization: Bearer 0123456789abcdeF") == 401)
    #expect(try status(right, "Host: evil") == 421)
    #expect(try status(right, "Origin: https://evil") == 403)
    #expect(try status(right, "Origin: https://good") == 200)
    // A proxy must not get the token; this one would answer nothing.
    let proxy = ["http_proxy": "http://127.0.0.1:9", "no_proxy": ""]
    let asked = try ChildProcess(
      OwnProgram.sibling("tarn-daemon"), ["status", "--config", daemon.configuration],
      environment: proxy)
    #expect(asked.finish().end == .exited(0))
    // Another token counts at once; the former one is kept while there is none.
    _ = try folder.file("token", Array("fedcba9876543210\n".utf8))
    #expect(try status(right) == 401)
    #expect(try status("Authorization: Bearer fedcba9876543210") == 200)
    unlink(token)
    #expect(try status("Authorization: Bearer fedcba9876543210") == 200)
    daemon.stop()
  }

  /// Without the token nobody can ask whose daemon has the port.
  @Test func aCheckWithoutTheTokenDoesNotKnowTheDaemon() throws {
    _ = try NoteFile(folder)
    let text =
      "http: {listen: '127.0.0.1:\(try freePort())', token: {env: DOOR_TOKEN}}\n" + Self.watches
    let daemon = try DaemonProcess(
      folder, text, environment: ["DOOR_TOKEN": "0123456789abcdef"])
    // Another state folder, in which the daemon is not noted.
    let other = try folder.file(
      "other.yaml", Array(text.replacingOccurrences(of: "$", with: folder.path).utf8))
    func check(_ environment: [String: String]) throws -> (text: String, end: ChildProcess.End) {
      let (lines, end) = try ChildProcess(
        OwnProgram.sibling("tarn-daemon"), ["check", "--config", other], environment: environment
      ).finish()
      return (lines.joined(separator: "\n"), end)
    }
    let (found, end) = try check([:])
    #expect(end == .exited(0), "\(found)")
    #expect(found.contains("it must be the daemon of this configuration"), "\(found)")
    let (wrong, failed) = try check(["DOOR_TOKEN": "fedcba9876543210"])
    #expect(failed == .exited(1))
    #expect(wrong.contains("problem: http.listen: cannot listen on"), "\(wrong)")
    daemon.stop()
  }

  private func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let found = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    try #require(found)
    return Int(UInt16(bigEndian: address.sin_port))
  }
}
