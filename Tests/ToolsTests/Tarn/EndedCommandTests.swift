import Foundation
import TarnStore
import TestSupport
import Testing

/// Signals end commands at once; one that writes has then written nothing, or prints its result.
@Suite(.timeLimit(.minutes(30))) struct EndedCommandTests {
  private let folder = TemporaryFolder()

  private func fill() throws {
    let made = try ToolProcess.run(
      folder, "import", "a.tarn", "-", "-c", "A", "-f", "jsonl", "-k", "id",
      input: "{\"id\":1}\n{\"id\":2}\n")
    try #require(made.status == 0, "\(made.errors)")
  }

  private func prompt(path: String? = nil) throws -> (process: ToolProcess, screen: Screen) {
    try fill()
    let screen = try Screen()
    try screen.resize(columns: 200, lines: 24)
    var environment = ["HOME": folder.path, "TERM": "xterm", "LC_ALL": "C.UTF-8"]
    if let path { environment["PATH"] = path }
    let process = try ToolProcess(
      folder, ["-c", "-w", ToolProcess.tarn.path, "shell", "a.tarn"], program: "/usr/bin/setsid",
      environment: environment, errors: screen.program, output: screen, typed: true)
    _ = screen.text(upTo: "tarn> ")
    return (process, screen)
  }

  private func end(_ process: ToolProcess, _ screen: Screen) throws {
    try screen.type("count A\n")
    _ = screen.text(upTo: "\r\n2\r\ntarn> ")
    try screen.type("exit\n")
    #expect(process.status() == 0)
  }

  // MARK: - Pipes

  private func makePipe() throws -> String {
    let pipe = folder.file("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    return pipe
  }

  @Test func `a pipe is read from its first writer to its last`() throws {
    try fill()
    let pipe = try makePipe()
    let importing = try ToolProcess(folder, ["import", "a.tarn", "pipe", "-f", "jsonl", "-c", "A"])
    let end = open(pipe, O_WRONLY)
    let other = open(pipe, O_WRONLY)
    let line = Array("{\"id\":3}\n".utf8)
    #expect(write(end, line, line.count) == line.count)
    close(end)
    #expect(!importing.hasOutput(within: 50))
    close(other)
    #expect(try importing.finish().output == "A: 1 added, version 2\n")
  }

  @Test(arguments: [
    ["import", "a.tarn", "pipe", "-c", "A", "-f", "jsonl"], ["load", "b", "pipe"],
  ])
  func `a signal ends a command that waits for a pipe`(_ arguments: [String]) throws {
    try fill()
    let pipe = try makePipe()
    let waiting = try ToolProcess(folder, arguments)
    // Whoever writes waits for the command.
    let end = open(pipe, O_WRONLY)
    defer { close(end) }
    waiting.signal(SIGTERM)
    #expect(waiting.status() == -1)
    #expect(!folder.names.contains { $0.hasPrefix("b") })
  }

  /// Whether a process has a file open.
  private func hasOpen(_ path: String, _ process: Int32) -> Bool {
    let folder = "/proc/\(process)/fd"
    let numbers = try? FileManager.default.contentsOfDirectory(atPath: folder)
    return numbers?.contains {
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
      return target == path
    } ?? false
  }

  @Test func `Ctrl-C ends a command that waits for a pipe`() async throws {
    let (process, screen) = try prompt()
    let pipe = try makePipe()
    // 'setsid' waits for the shell.
    let shell = try #require(ToolProcess.child(of: process.processID))
    for _ in 1...2 {
      try screen.type("import pipe -c A -f jsonl\n")
      try await yieldUntil { hasOpen(pipe, shell) }
      try screen.type("\u{3}")
      _ = screen.text(upTo: "tarn: interrupted: nothing was written\r\ntarn> ")
      #expect(!hasOpen(pipe, shell))
    }
    try end(process, screen)
  }

  // MARK: - Unpacking

  /// A folder with a `gzip` that unpacks for ever, and the file in which it notes its process.
  private func makeEndless() throws -> (path: String, note: String) {
    let note = folder.file("note")
    let programs = folder.file("programs")
    try #require(mkdir(programs, 0o700) == 0)
    let script = """
      #!/bin/sh
      echo $$ >'\(note).new'
      /bin/mv '\(note).new' '\(note)'
      while :; do echo; /bin/sleep 0.02 || exit; done

      """
    let program = try folder.file("programs/gzip", Array(script.utf8))
    try #require(chmod(program, 0o700) == 0)
    _ = try folder.file("a.jsonl.gz", [0x1f, 0x8b, 0, 0])
    return (programs + ":/usr/bin:/bin", note)
  }

  /// Returns when the process is gone.
  private func expectEnd(_ note: String) async throws {
    let text = try String(contentsOfFile: note, encoding: .utf8)
    let id = try #require(Int32(text.split(separator: "\n")[0]))
    try await yieldUntil {
      // Nothing is written on the command line of a zombie.
      let words = FileManager.default.contents(atPath: "/proc/\(id)/cmdline")
      return words?.isEmpty ?? true
    }
  }

  @Test func `Ctrl-C ends unpacking`() async throws {
    let (path, note) = try makeEndless()
    let (process, screen) = try prompt(path: path)
    try screen.type("import a.jsonl.gz -c A\n")
    try await yieldUntil { FileManager.default.fileExists(atPath: note) }
    try screen.type("\u{3}")
    _ = screen.text(upTo: "tarn: interrupted: nothing was written\r\ntarn> ")
    try await expectEnd(note)
    try end(process, screen)
  }

  @Test func `a signal ends unpacking, and the program that does it`() async throws {
    let (path, note) = try makeEndless()
    let importing = try ToolProcess(
      folder, ["import", "a.tarn", "a.jsonl.gz", "-c", "A"], environment: ["PATH": path])
    try await yieldUntil { FileManager.default.fileExists(atPath: note) }
    importing.signal(SIGTERM)
    #expect(importing.status() == -1)
    #expect(!folder.names.contains { $0.hasPrefix("a.tarn") })
    try await expectEnd(note)
  }

  // MARK: - Commits

  @Test func `what an ended import has committed is reported`() throws {
    try fill()
    let pipe = try makePipe()
    let importing = try ToolProcess(
      folder,
      ["import", "a.tarn", "pipe", "-c", "A", "-f", "jsonl"]
        + ["--on-error", "skip", "--batch", "2"])
    let end = open(pipe, O_WRONLY)
    defer { close(end) }
    let lines = (3...5).flatMap { Array("{\"id\":\($0)}\n".utf8) }
    try #require(write(end, lines, lines.count) == lines.count)
    let store = try StoreRegistry.open(folder.file("a.tarn"), Store.Options())
    while try store.newestSnapshot().version < Version(2) { sched_yield() }
    importing.signal(SIGTERM)
    let done = try importing.finish()
    #expect(
      done
        == .init(
          status: -1, output: "A: 2 added, version 2\n",
          errors: "tarn: interrupted: the batches so far were imported\n"))
  }

  // MARK: - Separate processes

  /// The processes that a process has started.
  private func children(of id: Int32) -> [Int32] {
    let text = try? String(contentsOfFile: "/proc/\(id)/task/\(id)/children", encoding: .utf8)
    return (text ?? "").split(separator: " ").compactMap { Int32($0) }
  }

  /// One that is stopped stands for one that computes.
  @Test func `Ctrl-C ends a command that does not look at it`() async throws {
    try fill()
    let screen = try Screen()
    let process = try ToolProcess(
      folder, ["shell", "a.tarn"], environment: ["HOME": folder.path, "TERM": "xterm"],
      output: screen, typed: true)
    _ = screen.text(upTo: "tarn> ")
    try screen.type("inspect --check\n")
    // In color, unless the environment forbids it.
    _ = screen.text(upTo: "Sound")
    _ = screen.text(upTo: "tarn> ")
    try screen.type("log --follow\n")
    _ = screen.text(upTo: "version 1")
    let child = try #require(children(of: process.processID).first)
    kill(child, SIGSTOP)
    process.signal(SIGINT)
    _ = screen.text(upTo: "tarn> ")
    #expect(children(of: process.processID).isEmpty)
    // It does not outlive the prompt.
    try screen.type("log --follow\n")
    _ = screen.text(upTo: "version 1")
    let other = try #require(children(of: process.processID).first)
    process.signal(SIGTERM)
    #expect(process.status() == -1)
    try await yieldUntil {
      FileManager.default.contents(atPath: "/proc/\(other)/cmdline")?.isEmpty ?? true
    }
  }
}
