import Foundation
import TestSupport
import Testing
import ToolSupport

@testable import TarnDaemon

/// Sockets of a service manager, and files of other users.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct HandedOverTests {
  private let folder = TemporaryFolder()

  /// Listens as a socket unit does, and starts the daemon in its own place.
  private static let manager = """
    import fcntl, os, socket, sys
    paths = sys.argv[1].split(",")
    for number, path in enumerate(paths):
        made = socket.socket(socket.AF_UNIX)
        made.bind(path)
        made.listen()
        high = fcntl.fcntl(made.fileno(), fcntl.F_DUPFD_CLOEXEC, 100)
        made.close()
        os.dup2(high, 3 + number, inheritable=True)
    if "BEFORE_START" in os.environ:
        open(os.environ["BEFORE_START"]).read()
    os.environ["LISTEN_FDS"] = str(len(paths))
    os.environ["LISTEN_PID"] = str(os.getpid())
    os.execv(sys.argv[2], sys.argv[2:])
    """

  private func health(_ socket: String) throws -> Int {
    try HTTPClient().perform(
      HTTPClient.Request(
        url: "http://localhost/health", socketPath: socket, timeout: .seconds(60))
    ).status
  }

  @Test func servesAllSockets() throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let text = """
      state: $/state
      http: {listen: $/own.sock}
      watches:
        - {name: notes, file: $/notes.tarn, class: Note, sinks: [{socket: $/notes.sock}]}
      """
    let configuration = try folder.file(
      "watch.yaml", Array(text.replacingOccurrences(of: "$", with: folder.path).utf8))
    let given = ["first.sock", "notes.sock", "second.sock"].map { folder.file($0) }
    let notices = try NoticeSocket(folder.file("notice"))
    let process = try ChildProcess(
      "python3",
      [
        "-c", Self.manager, given.joined(separator: ","), OwnProgram.sibling("tarn-daemon"), "run",
        "--config", configuration,
      ], environment: ["NOTIFY_SOCKET": folder.file("notice")], errors: folder.file("errors"))
    try #require(try notices.wait(for: "READY=1", or: process))
    for name in ["own.sock", "first.sock", "second.sock"] {
      #expect(try health(folder.file(name)) == 200, "\(name)")
    }
    let line = try LineClient(folder.file("notes.sock"), "{}\n").json()
    #expect(line["fullResync"] == .string("snapshot"))
    process.signal(SIGTERM)
    #expect(process.wait() == .exited(0))
    #expect(!folder.names.contains("own.sock"))
    // These belong to the service manager.
    #expect(given.allSatisfy { folder.names.contains(String($0.split(separator: "/").last!)) })
  }

  /// Those that came while no daemon ran get the stream, not an answer of a daemon without watches.
  @Test func requestsWaitForTheWatches() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let text = """
      state: $/state
      http: {listen: $/own.sock}
      watches:
        - {name: notes, file: $/notes.tarn, class: Note, sinks: [{events: true}]}
      """
    let configuration = try folder.file(
      "watch.yaml", Array(text.replacingOccurrences(of: "$", with: folder.path).utf8))
    let (socket, begin) = (folder.file("http.sock"), folder.file("begin"))
    try #require(mkfifo(begin, 0o600) == 0)
    let process = try ChildProcess(
      "python3",
      [
        "-c", Self.manager, socket, OwnProgram.sibling("tarn-daemon"), "run", "--config",
        configuration,
      ], environment: ["BEFORE_START": begin], errors: folder.file("errors"))
    func ask(_ path: String) throws -> LineClient {
      try LineClient(socket, "GET \(path) HTTP/1.0\r\n\r\n")
    }
    var clients: [LineClient] = []
    try await yieldUntil {
      if let client = try? ask("/watches/notes/events") { clients.append(client) }
      return !clients.isEmpty
    }
    clients.append(try ask("/metrics"))
    close(open(begin, O_WRONLY))
    for client in clients {
      let line = try client.line()
      #expect(line?.contains(" 200 ") == true, "\(line ?? "nothing")")
    }
    var metrics: [String] = []
    while let line = try clients[1].line() { metrics.append(line) }
    #expect(metrics.contains { $0.contains(#"watch="notes""#) }, "\(metrics)")
    process.signal(SIGTERM)
    #expect(process.wait() == .exited(0))
  }

  /// A link and its target have one cursor for each sink.
  @Test func aLinkBesideItsTargetIsOneStore() async throws {
    let file = try NoteFile(folder, "b.tarn")
    try file.put(1, "one")
    symlink(file.path, folder.file("a.tarn"))
    symlink(file.path, folder.file("c.tarn"))
    let daemon = try DaemonProcess(
      folder,
      """
      watches:
        - {name: notes, file: $/*.tarn, class: Note, sinks: [{file: $/out.jsonl}]}
      """)
    try await yieldUntil { try NoteModel(file: folder.file("out.jsonl")).notes == file.expected }
    try file.put(2, "two")
    try await yieldUntil { try NoteModel(file: folder.file("out.jsonl")).notes == file.expected }
    daemon.stop()
    #expect(try NoteModel(file: folder.file("out.jsonl")).lines == 2)
    #expect(!daemon.errors.contains("is held by"), "\(daemon.errors)")
  }

  /// A daemon that may read a store, and lock it, keeps its position in its own folder.
  @Test func followsAStoreThatItMayOnlyRead() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    mkdir(folder.file("state"), 0o777)
    chmod(folder.file("state"), 0o777)
    chmod(folder.path, 0o755)
    chmod(file.path, 0o644)
    let text = """
      watches:
        - name: notes
          file: $/notes.tarn
          class: Note
          delivery: {first-retry: 10ms, last-retry: 20ms}
          sinks: [{file: $/state/out.jsonl}]
      """
    for companion in ["-lock", "-signal"] { chmod(file.path + companion, 0o444) }
    let daemon = try DaemonProcess(folder, text, asOther: true)
    if geteuid() == 0 {
      try await yieldUntil { daemon.errors.contains("let the owner run 'chmod g+rw ") }
    }
    daemon.stop()
    for companion in ["-lock", "-signal"] { chmod(file.path + companion, 0o666) }
    try daemon.restart()
    let output = folder.file("state/out.jsonl")
    try await yieldUntil { try NoteModel(file: output).notes == file.expected }
    try file.put(2, "two")
    try await yieldUntil { try NoteModel(file: output).notes == file.expected }
    #expect(daemon.stop() == .exited(0))
  }
}
