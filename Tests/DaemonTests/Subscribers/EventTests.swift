import Foundation
import TarnText
import TestSupport
import Testing
import ToolSupport

/// Server-sent events of a real daemon.
@Suite(.timeLimit(.minutes(30)))
struct EventTests {
  private let folder = TemporaryFolder()

  private static let configuration = """
    http: {listen: $/http.sock}
    watches:
      - {name: notes, file: $/notes.tarn, class: Note, sinks: [{events: true}]}
    """

  private func stream(_ header: String = "") throws -> LineClient {
    try LineClient(
      folder.file("http.sock"), "GET /watches/notes/events HTTP/1.0\r\n\(header)\r\n")
  }

  /// The next event: its id, and its data.
  private func event(_ client: LineClient) throws -> (id: String, data: JSONValue) {
    var id = ""
    while let line = try client.line() {
      if line.hasPrefix("id: ") { id = String(line.dropFirst(4)) }
      if line.hasPrefix("data: ") {
        return (id, try JSONScanner.value(in: String(line.dropFirst(6))))
      }
    }
    throw ToolError("the stream has ended")
  }

  @Test func streamsAndResumes() throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(folder, Self.configuration)
    let client = try stream()
    var model = NoteModel()
    let first = try event(client)
    try model.apply(first.data)
    #expect(first.data["position"] == .string(first.id))
    try file.put(2, "two")
    try model.apply(try event(client).data)
    #expect(try model.notes == file.expected)
    try file.delete(1)
    let resumed = try event(try stream("Last-Event-ID: \(first.id)\r\n"))
    #expect(resumed.data["startAnew"] == nil)
    var other = NoteModel()
    try other.apply(first.data)
    try other.apply(resumed.data)
    #expect(try other.notes == file.expected)
    #expect(daemon.stop() == .exited(0))
  }

  @Test(arguments: [
    ("/watches/other/events", "404"), ("/nothing", "404"),
    ("/watches/notes/events?from=x", "400"), ("/health", "200"),
  ])
  func answers(_ path: String, _ status: String) throws {
    _ = try NoteFile(folder)
    let daemon = try DaemonProcess(folder, Self.configuration)
    let client = try LineClient(folder.file("http.sock"), "GET \(path) HTTP/1.0\r\n\r\n")
    #expect(try client.line()?.split(separator: " ").dropFirst().first == status[...])
    daemon.stop()
  }
}
