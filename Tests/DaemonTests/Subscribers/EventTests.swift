import Foundation
import TarnStore
import TarnText
import TestSupport
import Testing
import ToolSupport

/// Server-sent events of a real daemon.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
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

  /// A version that the client has, and that another commit has made by now.
  @Test func startsAnewAfterARestoredBackup() throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(folder, Self.configuration)
    daemon.stop()
    let backup = folder.file("backup")
    try FileManager.default.copyItem(atPath: file.path, toPath: backup)
    try daemon.restart()
    let client = try stream()
    let first = try event(client)
    try file.put(1, "lost")
    let lost = try event(client)
    daemon.stop()
    unlink(file.path)
    try FileManager.default.copyItem(atPath: backup, toPath: file.path)
    for id in 2...5 { try file.put(id, "other") }
    try daemon.restart()
    let again = try event(try stream("Last-Event-ID: \(lost.id)\r\n"))
    #expect(again.data["fullResync"] == .string("restored"))
    var model = NoteModel()
    try model.apply(again.data)
    #expect(try model.notes == file.expected)
    // The backup has this one.
    #expect(try event(try stream("Last-Event-ID: \(first.id)\r\n")).data["fullResync"] == nil)
    #expect(daemon.stop() == .exited(0))
  }

  /// With the id of an event of a watch that selected something else, a client gets all objects.
  @Test(arguments: ["$/notes.tarn", "'$/*.tarn'"])
  func startsAnewWithAnotherSelection(_ pattern: String) throws {
    let file = try NoteFile(folder)
    try file.putAll([1: "one", 2: "two"])
    func configuration(_ selection: String) -> String {
      Self.configuration.replacingOccurrences(
        of: "$/notes.tarn, class: Note", with: pattern + selection)
    }
    let selections = [
      ", class: Note", ", class: Note, where: 'id == 2'", ", class: Note, columns: [text]",
    ]
    let daemon = try DaemonProcess(folder, configuration(selections[0]))
    var last = try event(try stream()).id
    for selection in selections[1...] + selections[...0] {
      try daemon.reload(configuration(selection))
      let next = try event(try stream("Last-Event-ID: \(last)\r\n"))
      #expect(next.data["fullResync"] == .string("selection"), "\(selection)")
      guard case .array(let objects)? = next.data["objects"] else { throw ToolError("no objects") }
      #expect(objects.count == (selection.contains("where") ? 1 : 2))
      try file.put(2, selection)
      // It goes on with the new id, also after another start.
      try daemon.killAndRestart()
      let change = try event(try stream("Last-Event-ID: \(next.id)\r\n"))
      #expect(change.data["fullResync"] == nil)
      #expect(change.data["modified"] != nil)
      last = change.id
    }
    #expect(daemon.stop() == .exited(0))
  }

  /// A browser gives up for good if it gets another answer than a stream.
  @Test func answersWhileTheWatchIsReplaced() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(folder, Self.configuration)
    let isDone = Lock(false)
    let socket = folder.file("http.sock")
    let asking = Task.detached { () throws -> [String] in
      var others: [String] = []
      while !isDone.withLock({ $0 }) {
        let client = try LineClient(socket, "GET /watches/notes/events HTTP/1.0\r\n\r\n")
        let line = try client.line() ?? "nothing"
        if !line.contains(" 200 ") { others.append(line) }
      }
      return others
    }
    for milliseconds in 1...4 {
      let delivery = "class: Note, delivery: {delay: \(milliseconds)ms}"
      try daemon.reload(
        Self.configuration.replacingOccurrences(of: "class: Note", with: delivery))
    }
    isDone.withLock { $0 = true }
    #expect(try await asking.value == [])
    #expect(daemon.stop() == .exited(0))
  }

  /// Also if they come at the same time.
  @Test func admitsSoManyClients() throws {
    _ = try NoteFile(folder)
    let daemon = try DaemonProcess(
      folder, Self.configuration.replacingOccurrences(of: "true}", with: "true, clients: 2}"))
    let clients = try (0..<12).map { _ in try stream() }
    let answers = try clients.map { try $0.line() ?? "" }
    #expect(answers.count { $0.contains(" 200 ") } == 2)
    #expect(answers.count { $0.contains(" 503 ") } == 10)
    #expect(daemon.stop() == .exited(0))
  }

  /// The heartbeat would notice later that they have left.
  @Test func admitsClientsInPlaceOfThoseThatHaveLeft() throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(
      folder, Self.configuration.replacingOccurrences(of: "true}", with: "true, clients: 2}"))
    for _ in 1...3 {
      let clients = try (1...2).map { _ in try stream() }
      for client in clients { _ = try event(client) }
      #expect(try stream().line()?.contains(" 503 ") == true)
      withExtendedLifetime(clients) {}
    }
    #expect(try clients(daemon) == 2)
    #expect(daemon.stop() == .exited(0))
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
    let resumed = try stream("Last-Event-ID: \(first.id)\r\n")
    var other = NoteModel()
    try other.apply(first.data)
    // The hub may notice the last commit later than the client.
    while try other.version < file.version {
      let data = try event(resumed).data
      #expect(data["fullResync"] == nil)
      try other.apply(data)
    }
    #expect(try other.notes == file.expected)
    #expect(daemon.stop() == .exited(0))
  }

  /// A browser comes back with the id of the last event that it has got, also after another file
  /// has appeared, or with the position of one file.
  @Test func resumesInSeveralFiles() throws {
    let files = [try NoteFile(folder, "a.tarn"), try NoteFile(folder, "b.tarn")]
    for file in files { try file.put(1, "one") }
    let pattern = Self.configuration.replacingOccurrences(of: "$/notes.tarn", with: "'$/*.tarn'")
    let daemon = try DaemonProcess(folder, pattern)
    let client = try stream()
    var models = [folder.file("a.tarn"): NoteModel(), folder.file("b.tarn"): NoteModel()]
    func read(_ client: LineClient) throws -> (id: String, position: String, isNew: Bool) {
      let event = try event(client)
      guard case .string(let path)? = event.data["file"],
        case .string(let position)? = event.data["position"]
      else { throw ToolError("no file") }
      try models[path, default: NoteModel()].apply(event.data)
      return (event.id, position, event.data["fullResync"] != nil)
    }
    let early = try read(client)
    let both = try read(client)
    #expect(early.isNew && both.isNew)
    // Only the file that the first event was not of needs a full resync.
    let again = try stream("Last-Event-ID: \(early.id)\r\n")
    #expect(try read(again).isNew)
    for file in files { try file.put(2, "two") }
    let third = try NoteFile(folder, "c.tarn")
    try third.put(3, "three")
    let back = try stream("Last-Event-ID: \(both.id)\r\n")
    let news = try (0..<3).map { _ in try read(back).isNew }
    #expect(news.filter { $0 }.count == 1)
    for file in files + [third] {
      #expect(try models[file.path]?.notes == file.expected)
    }
    // Of one file, as earlier versions gave them.
    let single = try stream("Last-Event-ID: \(both.position)\r\n")
    #expect(try (0..<3).map { _ in try read(single).isNew }.filter { $0 }.count == 2)
    daemon.stop()
  }

  /// A client is connected while the endpoint changes.
  @Test func anotherEndpointEndsTheStreams() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(folder, Self.configuration)
    let clients = try (1...5).map { _ in try stream() }
    for client in clients { _ = try event(client) }
    let other = Self.configuration.replacingOccurrences(of: "http.sock", with: "other.sock")
    try daemon.reload(other)
    for client in clients { while try client.line() != nil {} }
    let request = "GET /watches/notes/events HTTP/1.0\r\n\r\n"
    var opened: LineClient?
    try await yieldUntil {
      opened = try? LineClient(folder.file("other.sock"), request)
      return opened != nil
    }
    let client = try #require(opened)
    var model = NoteModel()
    try model.apply(try event(client).data)
    #expect(try model.notes == file.expected)
    #expect(daemon.stop() == .exited(0), "\(daemon.errors)")
  }

  /// Clients come and go while the daemon ends.
  @Test(.serialized, arguments: 0..<Seeds.rounds(100, few: 10))
  func endsWhileClientsConnect(_ round: Int) throws {
    _ = try NoteFile(folder)
    let daemon = try DaemonProcess(folder, Self.configuration)
    var clients: [LineClient] = []
    for _ in 0..<round { clients.append(try stream()) }
    daemon.process.signal(SIGTERM)
    while clients.count < 200, let client = try? stream() {
      clients.append(client)
      if clients.count % 3 == 0 { clients.removeFirst() }
    }
    #expect(daemon.process.wait() == .exited(0), "\(daemon.errors)")
  }

  /// A quiet stream has comments, by which a client that has left is noticed.
  @Test func noticesClientsThatLeave() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(
      folder,
      Self.configuration.replacingOccurrences(
        of: "events: true", with: "events: true, heartbeat: 10ms"))
    do {
      let client = try stream()
      _ = try event(client)
      while try client.line() != ":" {}
      #expect(try self.clients(daemon) == 1)
    }
    try await yieldUntil { try self.clients(daemon) == 0 }
    daemon.stop()
  }

  private func clients(_ daemon: DaemonProcess) throws -> Int64? {
    let (text, _) = try DaemonProcess.run(["status", "--json", "--config", daemon.configuration])
    guard case .array(let sinks)? = try JSONScanner.value(in: text)["sinks"],
      case .integer(let count)? = sinks.first?["clients"]
    else { return nil }
    return count
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
