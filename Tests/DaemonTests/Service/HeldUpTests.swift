import Foundation
import Tarn
import TarnText
import TestSupport
import Testing
import ToolSupport

/// Files that a long writer holds up, and daemons with many files.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct HeldUpTests {
  private let folder = TemporaryFolder()

  private static func watch(_ pattern: String) -> String {
    """
    http: {listen: $/http.sock}
    watches:
      - name: notes
        file: $/\(pattern)
        class: Note
        start: newest
        delivery: {first-retry: 10ms, last-retry: 20ms}
        sinks: [{file: $/out.jsonl}, {socket: $/notes.sock}]

    """
  }

  private func status(_ daemon: DaemonProcess) throws -> JSONValue {
    let (text, _) = try DaemonProcess.run(["status", "--json", "--config", daemon.configuration])
    return try JSONScanner.value(in: text)
  }

  private func paths(_ daemon: DaemonProcess, _ list: String) throws -> Set<String> {
    guard case .array(let items)? = try status(daemon)[list] else { return [] }
    let member = list == "files" ? "path" : "file"
    return Set(
      items.compactMap { item in
        if case .string(let path)? = item[member] { path } else { nil }
      })
  }

  /// Reads until a client has the first version of a file.
  private func readFirst(_ client: LineClient, _ path: String) throws {
    while true {
      let line = try client.json()
      if line["file"] == .string(path), line["version"] == .integer(1) { return }
    }
  }

  private func text(_ name: String) -> String {
    FileManager.default.contents(atPath: folder.file(name)).map {
      String(decoding: $0, as: UTF8.self)
    } ?? ""
  }

  @Test func aLongWriterHoldsUpOnlyItsFile() async throws {
    let (held, free) = (try NoteFile(folder, "held.tarn"), try NoteFile(folder, "free.tarn"))
    try held.put(1, "before")
    let daemon = try held.holding {
      // It is ready, answers and lives, although it can make no cursor in the file.
      let daemon = try DaemonProcess(
        folder, Self.watch("*.tarn"), environment: ["WATCHDOG_USEC": "1000000"])
      #expect(try daemon.waitForNotice("WATCHDOG=1"))
      #expect(try paths(daemon, "files") == [held.path, free.path])
      let client = try LineClient(folder.file("notes.sock"), "{}\n")
      try free.put(1, "one")
      try readFirst(client, free.path)
      // So does a file that appears, and the end of a watch.
      let late = try NoteFile(folder, "late.tarn")
      try late.put(1, "one")
      try readFirst(client, late.path)
      try daemon.reload("watches: []\nsync: []\n")
      try daemon.reload(Self.watch("*.tarn"))
      let other = try LineClient(folder.file("notes.sock"), "{}\n")
      try readFirst(other, late.path)
      return daemon
    }
    #expect(daemon.errors.contains("a file of 'notes' is held up"))
    #expect(daemon.errors.contains("the watches stand, except 'notes'"))
    // The file begins when it can, as one that was there before the watch.
    try held.put(2, "after")
    try await yieldUntil { text("out.jsonl").contains("after") }
    #expect(!text("out.jsonl").contains("before"))
    #expect(daemon.stop() == .exited(0))
  }

  /// Another process may be opening a file for longer than the daemon waits for that at once. The
  /// daemon is ready when it has the file: a commit after that is not missed.
  @Test func isReadyWhenItsCursorsStand() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "before")
    // Byte 2^40 of the lock file, which belongs to the process that opens the store.
    let holder = try ChildProcess(
      "python3",
      [
        "-c",
        """
        import fcntl, struct, sys, time
        lock = open(sys.argv[1], "r+b")
        fcntl.fcntl(lock, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 1 << 40, 1, 0))
        print("held", flush=True)
        open(sys.argv[2], "a").close()
        while "waiting for" not in open(sys.argv[2]).read():
            time.sleep(0.01)
        """, file.path + "-lock", folder.file("errors"),
      ])
    #expect(holder.line { _ in true } == "held")
    let daemon = try DaemonProcess(folder, Self.watch("notes.tarn"))
    try file.put(2, "after")
    try await yieldUntil { text("out.jsonl").contains("after") }
    #expect(!text("out.jsonl").contains("before"))
    #expect(daemon.errors.contains("waiting for \(file.path)"))
    #expect(daemon.stop() == .exited(0))
    #expect(holder.wait() == .exited(0))
  }

  @Test func manyStoresFitInAFewDescriptors() async throws {
    let files = try (1...30).map { try NoteFile(folder, "n\($0).tarn") }
    for file in files { try file.put(1, "one") }
    let daemon = try DaemonProcess(
      folder,
      """
      http: {listen: $/http.sock}
      watches:
        - {name: a, file: '$/n*.tarn', class: Note, sinks: [{file: $/a.jsonl}, {events: true}]}
        - {name: b, file: $/n1.tarn, class: Note, sinks: [{exec: [sh, -c, 'ulimit -n >$/limit']}]}
      """, within: ["prlimit", "--nofile=100:4096"])
    // What the daemon starts has the limit that it was given.
    try await yieldUntil {
      text("a.jsonl").split(separator: "\n").count == 30 && text("limit") == "100\n"
    }
    let open = "/proc/\(daemon.process.processID)/fd"
    var targets: [String] = []
    // A position is open only while it is written, which it is after a delivery.
    try await yieldUntil {
      targets = try FileManager.default.contentsOfDirectory(atPath: open).compactMap {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "\(open)/\($0)")
      }
      return !targets.contains { $0.contains("/positions/") }
    }
    // Six for each store, and one for its cursors, however many sinks it has.
    #expect(targets.count { $0.contains(".tarn") } == 30 * 7)
    #expect(daemon.stop() == .exited(0))
  }

  @Test func whatLeavesAPatternLeavesTheStatus() async throws {
    let files = try ["a", "b"].map { try NoteFile(folder, "\($0).tarn") }
    for file in files { try file.put(1, "one") }
    let daemon = try DaemonProcess(folder, Self.watch("?.tarn"))
    let all = Set(files.map(\.path))
    try await yieldUntil {
      try paths(daemon, "files") == all && paths(daemon, "sinks") == all
    }
    #expect(unlink(files[1].path) == 0)
    try await yieldUntil {
      try paths(daemon, "files") == [files[0].path] && paths(daemon, "sinks") == [files[0].path]
    }
    #expect(try status(daemon)["healthy"] == .bool(true))
    daemon.stop()
  }
}
