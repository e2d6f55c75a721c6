import Foundation
import TarnText
import TestSupport
import Testing
import ToolSupport

/// The socket sink of a real daemon.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct SocketSinkTests {
  private let folder = TemporaryFolder()

  private static func configuration(_ extra: String = "", _ watch: String = "") -> String {
    """
    watches:
      - name: notes
        file: $/notes.tarn
        class: Note
        \(watch)
        sinks: [{socket: $/notes.sock, \(extra)}]
    """
  }

  private func client(_ request: String = "{}\n") throws -> LineClient {
    try LineClient(folder.file("notes.sock"), request)
  }

  @Test func givesManyClientsTheStateAndChanges() throws {
    var random = SeededRandom(seed: 1)
    let file = try NoteFile(folder)
    let daemon = try DaemonProcess(folder, Self.configuration())
    var clients: [(client: LineClient, model: NoteModel)] = []
    for _ in 0..<64 {
      try file.change(&random)
      clients.append((try client(), NoteModel()))
    }
    for _ in 0..<20 { try file.change(&random) }
    try file.put(99, "end")
    let version = try file.version
    for index in clients.indices {
      try clients[index].client.read(upTo: version, into: &clients[index].model)
      #expect(try clients[index].model.notes == file.expected)
      #expect(clients[index].model.beginnings == ["snapshot"])
    }
    daemon.stop()
    // The daemon says why it lets them go.
    #expect(try clients[0].client.line() == #"{"error":"the daemon ends"}"#)
    #expect(try clients[0].client.line() == nil)
  }

  @Test func resumesAtAPosition() throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(folder, Self.configuration())
    let first = try client().json()
    guard case .string(let position)? = first["position"] else {
      Issue.record("no position")
      return
    }
    try file.put(2, "two")
    try daemon.killAndRestart()
    try file.put(3, "three")
    let later = try client("{\"from\":\"\(position)\"}\n").json()
    #expect(later["fullResync"] == nil)
    var model = NoteModel()
    try model.apply(first)
    try model.apply(later)
    #expect(try model.notes == file.expected)
    // One that does not show what it selects.
    let bare = position.split(separator: "/").prefix(3).joined(separator: "/")
    #expect(try client("{\"from\":\"\(bare)\"}\n").json()["fullResync"] == .string("selection"))
    // Another selection.
    try daemon.write(Self.configuration("", "where: 'id > 1'"))
    try daemon.killAndRestart()
    for from in ["\"\(position)\"", "{\"\(file.path)\":\"\(position)\"}"] {
      let line = try client("{\"from\":\(from)}\n").json()
      #expect(line["fullResync"] == .string("selection"))
    }
    // A position of another file.
    let other = "AF11F38A-D1C8-96E9-DC49-3114BC34C012/2/f6250ec265baf384"
    #expect(try client("{\"from\":\"\(other)\"}\n").json()["fullResync"] == .string("restored"))
    daemon.stop()
  }

  @Test(arguments: [
    ("nonsense\n", "not a value at column 1"),
    ("[]\n", "the request is not a JSON object"),
    ("{\"to\":1}\n", "the request has the member 'to'; there is only \"from\""),
    ("{\"from\":1}\n", "\"from\" is neither a position nor an object of them"),
    ("{\"from\":\"x\"}\n", "'x' is not a position"),
  ])
  func refusesOtherRequests(_ request: String, _ reason: String) throws {
    _ = try NoteFile(folder)
    let daemon = try DaemonProcess(folder, Self.configuration())
    let client = try client(request)
    guard case .string(let found)? = try client.json()["error"] else {
      Issue.record("no error")
      return
    }
    #expect(found.contains(reason))
    #expect(try client.line() == nil)
    daemon.stop()
  }

  /// A client that does not read gets one difference of everything once it reads again.
  @Test func mergesForAClientThatIsSlow() throws {
    var random = SeededRandom(seed: 2)
    let file = try NoteFile(folder)
    let long = String(repeating: "x", count: 20_000)
    let daemon = try DaemonProcess(folder, Self.configuration())
    let slow = try client()
    var model = NoteModel()
    try model.apply(try slow.json())
    for _ in 0..<300 {
      try file.change(&random)
      try file.put(100, long + "\(random.below(1000))")
    }
    try slow.read(upTo: try file.version, into: &model)
    #expect(try model.notes == file.expected)
    #expect(model.lines < 300)
    daemon.stop()
  }

  @Test func dropsAClientThatDoesNotRead() async throws {
    let file = try NoteFile(folder)
    for id in 0..<50 { try file.put(id, String(repeating: "x", count: 100_000)) }
    let daemon = try DaemonProcess(
      folder, "http: {listen: $/http.sock}\n" + Self.configuration("patience: 1s"))
    let idle = try client()
    try await yieldUntil { [folder] in
      let metrics = try Self.status(daemon, folder)
      return metrics["dropped"] == .integer(1)
    }
    // What was on its way is cut off.
    while try idle.line() != nil {}
    var model = NoteModel()
    try client().read(upTo: try file.version, into: &model)
    #expect(try model.notes == file.expected)
    daemon.stop()
  }

  private static func status(_ daemon: DaemonProcess, _ folder: TemporaryFolder) throws -> JSONValue
  {
    let client = try LineClient(folder.file("http.sock"), "GET /status HTTP/1.0\r\n\r\n")
    while let line = try client.line() {
      guard line.hasPrefix("{") else { continue }
      guard case .array(let sinks)? = try JSONScanner.value(in: line)["sinks"] else { break }
      return sinks[0]
    }
    throw ToolError("no status")
  }
}
