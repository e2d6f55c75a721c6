import Foundation
import TarnStore
import TestSupport
import Testing

/// The prompt of `tarn shell` on a terminal of its own, which makes signals of keys.
@Suite(.timeLimit(.minutes(30))) struct ShellPromptTests {
  private let folder = TemporaryFolder()

  /// A prompt, and the screen that shows it.
  private func start(
    locale: String = "C.UTF-8"
  ) throws -> (process: ToolProcess, screen: Screen) {
    let lines = "{\"id\":1,\"s\":\"x\"}\n{\"id\":2,\"s\":\"y\"}\n"
    let made = try ToolProcess.run(
      folder, "import", "test.realm", "-", "-c", "A", "-f", "jsonl", "-k", "id", input: lines)
    try #require(made.status == 0, "\(made.errors)")
    let screen = try Screen()
    try screen.resize(columns: 200, lines: 24)
    // Tests in the background of a script inherit that SIGQUIT is ignored.
    let process = try ToolProcess(
      folder,
      ["-c", "-w", "env", "--default-signal=QUIT", ToolProcess.tarn.path, "shell", "test.realm"],
      program: "/usr/bin/setsid",
      environment: ["HOME": folder.path, "TERM": "xterm", "LC_ALL": locale],
      errors: screen.program, output: screen, typed: true)
    _ = screen.text(upTo: "tarn> ")
    return (process, screen)
  }

  /// The prompt goes on, with its terminal as it was.
  private func expectCount(_ count: Int, _ screen: Screen) throws {
    try screen.type("count A\n")
    _ = screen.text(upTo: "\r\n\(count)\r\ntarn> ")
  }

  /// The program that gave it the terminal waits for it.
  private func end(_ process: ToolProcess, _ screen: Screen) throws {
    try screen.type("exit\n")
    #expect(process.status() == 0)
  }

  @Test func ctrlCEndsEachCommand() throws {
    let (process, screen) = try start()
    let commands = [
      ("watch A", "2   y"), ("watch A", "2   y"), ("log --follow", "version 1"),
      ("watch A --cursor c", "full resync"), ("log --follow", "version 1"),
      ("watch A --table", "q quits"), ("watch A --table", "q quits"),
    ]
    for (command, text) in commands {
      try screen.type("\(command)\n")
      _ = screen.text(upTo: text)
      try screen.type("\u{3}")
      _ = screen.text(upTo: "tarn> ")
      try expectCount(2, screen)
    }
    try end(process, screen)
  }

  /// The log is styled, and its escapes are not shown as text.
  @Test func theLogIsStyled() throws {
    let (process, screen) = try start()
    try screen.type("log\n")
    let shown = screen.text(upTo: "inserted\r\ntarn> ")
    #expect(shown.contains("version 1"), "\(shown)")
    #expect(!shown.contains("u001b"), "\(shown)")
    try end(process, screen)
  }

  /// It ends at once, without the report of a crash that waits for a key.
  @Test func ctrlBackslashEndsTheShell() throws {
    let (process, screen) = try start()
    try screen.type("\u{1c}")
    // That is what setsid makes of SIGQUIT, with and without a core file.
    #expect([SIGQUIT, SIGQUIT | 0x80].contains(process.status()))
  }

  /// Commands that wait for another writer, which is this process.
  @Test func anInterruptedWriteWritesNothing() throws {
    let (process, screen) = try start()
    _ = try folder.file("more.jsonl", Array("{\"id\":3,\"s\":\"z\"}\n".utf8))
    let opened = try StoreRegistry.open(folder.file("test.realm"), Store.Options())
    let token = try opened.acquireGate()
    let commands = [
      "delete A --all", "set A s=z --all", "import more.jsonl -c A", "alter A --drop s", "undo 1",
      "reindex",
    ]
    for command in commands {
      try screen.type("\(command)\n")
      _ = screen.text(upTo: "waiting for ")
      try screen.type("\u{3}")
      _ = screen.text(upTo: "tarn: interrupted: nothing was written\r\ntarn> ")
    }
    token.release()
    #expect(try opened.newestSnapshot().version == Version(1))
    try expectCount(2, screen)
    try screen.type("delete A --where 'id == 1'\n")
    _ = screen.text(upTo: "deleted 1 object of A, version 2")
    try end(process, screen)
  }

  /// What an import has committed is reported.
  @Test func anInterruptedImportReportsItsBatches() throws {
    let (process, screen) = try start()
    let pipe = folder.file("more")
    try #require(mkfifo(pipe, 0o600) == 0)
    // Also for reading, so that it neither waits nor ends.
    let more = open(pipe, O_RDWR | O_CLOEXEC)
    defer { close(more) }
    let lines = (3...5).flatMap { Array("{\"id\":\($0),\"s\":\"z\"}\n".utf8) }
    try #require(write(more, lines, lines.count) == lines.count)
    let opened = try StoreRegistry.open(folder.file("test.realm"), Store.Options())
    try screen.type("import more -c A -f jsonl --on-error skip --batch 2\n")
    while try opened.newestSnapshot().version < Version(2) { sched_yield() }
    try screen.type("\u{3}")
    let text = screen.text(upTo: "tarn: interrupted: the batches so far were imported\r\ntarn> ")
    #expect(text.contains("A: 2 added, version 2\r\n"), "\(text)")
    try expectCount(4, screen)
    try end(process, screen)
  }

  @Test(arguments: ["C", "xx_YY", "C.UTF-8"])
  func linesAreUTF8InEveryLocale(_ locale: String) throws {
    let (process, screen) = try start(locale: locale)
    try screen.type("set A s=café你😀 --all\n")
    _ = screen.text(upTo: "changed 2 objects")
    // Tab counts the same letters.
    try screen.type("query A s == \"café你😀\" --js\t\n")
    _ = screen.text(upTo: "{\"id\":2,\"s\":\"café你😀\"}\r\n")
    try end(process, screen)
  }
}
