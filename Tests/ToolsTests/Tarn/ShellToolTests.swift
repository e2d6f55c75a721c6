import Foundation
import TestSupport
import Testing

/// `tarn shell`, and what `tarn generate` prints.
@Suite(.timeLimit(.minutes(30))) struct ShellToolTests {
  private let folder = TemporaryFolder()

  private func tarn(_ arguments: String..., input: String = "") throws -> ToolProcess.Result {
    try ToolProcess(folder, arguments, input: input).finish()
  }

  private func makeFile() throws {
    let lines = "{\"id\":1,\"name\":\"Rex\",\"age\":3}\n{\"id\":2,\"name\":\"Ann B\",\"age\":9}\n"
    #expect(
      try tarn("import", "a.tarn", "-", "-c", "Dog", "-f", "jsonl", "-k", "id", input: lines).status
        == 0)
  }

  @Test func runsLines() throws {
    try makeFile()
    let result = try tarn(
      "shell", "a.tarn",
      input: """
        count Dog age > 5
        count Dog name == "Ann B"

        set Dog age=4 --where 'id == 1'
        query Dog age < 5 --json
        cursor list
        """)
    #expect(result.status == 0)
    #expect(
      result.output == """
        1
        1
        changed 1 object of Dog, version 2
        {"id":1,"name":"Rex","age":4}
        NAME  VERSION  BEHIND  BYTES  ACKNOWLEDGED  SELECTS  STATE

        """)
  }

  @Test(arguments: [
    ("dance", "unknown command 'dance'"), ("count Dog size > 1", "size"),
    ("count 'Dog", "the line ends within quotes"), ("query Dog --colour", "--colour"),
    ("shell", "'shell' is not a command for this prompt: run 'tarn shell' outside of it"),
    ("sync --to x", "'sync' is not a command for this prompt: run 'tarn sync' outside of it"),
    ("help create", "'create' is not a command for this prompt"),
    ("exit now", "'exit' takes no arguments"), ("cursor", "cursor needs ACTION: "),
    (#"count Dog name == "x" --where id == 1"#, "unexpected argument '==' behind the options"),
    ("query Dog --columns name --json id == 1", "unexpected argument 'id' behind the options"),
    ("query Dog -s name age > 1", "unexpected argument 'age'"),
    ("count Dog -- age", "unexpected argument '--'"),
    ("delete Dog --where id == 1", "unexpected argument '=='"),
  ])
  func endsAtTheFirstError(_ line: String, _ reason: String) throws {
    try makeFile()
    let result = try tarn("shell", "a.tarn", input: "\(line)\ncount Dog\n")
    #expect(result.status != 0)
    #expect(result.output == "")
    #expect(result.errors.contains(reason), "\(result.errors)")
    #expect(!result.errors.contains("tarn: tarn"), "\(result.errors)")
    #expect(!result.errors.contains("a.tarn'"), "\(result.errors)")
  }

  /// A long line takes as long as its parts: a second, where a program that copies the line for
  /// each character takes minutes.
  @Test(arguments: [
    ("query ", "", 1), ("count Dog name == '", "'", 0), ("help ", "", 2), ("", "", 2),
    ("set Dog --where 'id == 1' name=", "", 0),
  ])
  func takesALongLine(_ front: String, _ end: String, _ status: Int32) throws {
    try makeFile()
    let line = front + String(repeating: "x", count: 400_000) + end
    let script = "ulimit -t 3; exec \"$0\" shell a.tarn"
    let result = try ToolProcess(
      folder, ["-c", script, ToolProcess.tarn.path], program: "/bin/sh", input: line + "\n"
    ).finish()
    #expect(result.status == status, "\(result.errors.prefix(200))")
  }

  @Test(arguments: ["exit", "quit", "  exit \r"])
  func endsWhereItIsAskedTo(_ word: String) throws {
    try makeFile()
    let result = try tarn("shell", "a.tarn", input: "count Dog\n\(word)\ndance\n")
    #expect(result == .init(status: 0, output: "2\n", errors: ""))
  }

  @Test func helpIsAboutThePrompt() throws {
    try makeFile()
    let all = try tarn("shell", "a.tarn", input: "help\n")
    #expect(all.status == 0)
    for name in ["query", "import", "alter", "help", "quit, exit"] {
      #expect(all.output.contains("\n  \(name) "), "\(name)")
    }
    for name in ["create", "load", "shell", "sync", "server", "daemon", "generate"] {
      #expect(!all.output.contains("\n  \(name) "), "\(name)")
    }
    let one = try tarn("shell", "a.tarn", input: "help count\n").output
    #expect(one.contains("\nUsage: count [OPTIONS] CLASS [FILTER]\n"), "\(one)")
  }

  /// The filter is everything between the class and the first option, as it is typed.
  @Test(arguments: [
    ("count Dog age > -5", 2), ("count Dog -5 < age", 2), ("count 'Dog' age > 5", 1),
    (#"count Dog name == "a -n b --x""#, 0), ("count Dog 'age > 5'", 1),
    ("count Dog 'Rex' == name OR name == 'Ann B'", 2), (#"count Dog "age > 5""#, 1),
    (#"count Dog "Rex" == name OR name == "Ann B""#, 2), ("count Dog --where 'age > 5'", 1),
    ("count --where 'age > 5' Dog", 1), ("count Dog -w 'age > -5'", 2),
  ])
  func filtersNeedNoQuotes(_ line: String, _ count: Int) throws {
    try makeFile()
    let result = try tarn("shell", "a.tarn", input: line)
    #expect(result.output == "\(count)\n", "\(result.errors)")
  }

  /// Ctrl-C gives up a line, or ends a command; the next ones are not affected.
  @Test func ctrlCEndsOnlyOneThing() throws {
    try makeFile()
    let screen = try Screen()
    try screen.resize(columns: 80, lines: 24)
    let process = try ToolProcess(
      folder, ["shell", "a.tarn"], environment: ["HOME": folder.path, "TERM": "xterm"],
      output: screen, typed: true)
    _ = screen.text(upTo: "tarn> ")
    try screen.type("query D\u{3}")
    _ = screen.text(upTo: "^C\r\n")
    try screen.type("count Dog\n")
    _ = screen.text(upTo: "\r\n2\r\n")
    for _ in 0..<2 {
      try screen.type("watch Dog\n")
      _ = screen.text(upTo: "Ann B")
      process.signal(SIGINT)
      _ = screen.text(upTo: "tarn> ")
      try screen.type("count Dog age > 5\n")
      _ = screen.text(upTo: "\r\n1\r\n")
    }
    // The history does not wait for the end.
    process.signal(SIGKILL)
    #expect(process.status() == -1)
    let history = try String(
      contentsOfFile: folder.file(".local/state/tarn/history"), encoding: .utf8)
    #expect(history.contains("watch"))
  }

  /// A person types, with completion and history.
  @Test func completesWhatIsTyped() throws {
    try makeFile()
    let screen = try Screen()
    try screen.resize(columns: 80, lines: 24)
    let process = try ToolProcess(
      folder, ["shell", "a.tarn"], environment: ["HOME": folder.path, "TERM": "xterm"],
      output: screen, typed: true)
    _ = screen.text(upTo: "tarn> ")
    try screen.type("cou\tD\ta\t> 5\n")
    // The answer. The line itself is drawn with movements of the cursor.
    _ = screen.text(upTo: "\r\n1\r\n")
    try screen.type("quit\n")
    #expect(process.status() == 0)
    let history = try String(
      contentsOfFile: folder.file(".local/state/tarn/history"), encoding: .utf8)
    #expect(history.replacing("\\040", with: " ").contains("count Dog age > 5"))
  }

  @Test func generatesFromTheTable() throws {
    let page = try tarn("generate", "man", "query").output
    #expect(page.hasPrefix(".TH TARN\\-QUERY 1"))
    #expect(page.contains(".B \\-\\-explain\nprint the query plan instead of the objects\n"))
    #expect(try tarn("generate", "man").output.contains("\\fBtarn\\-watch\\fR(1)"))
    let bash = try tarn("generate", "bash").output
    #expect(bash.contains("complete -o default -F _tarn tarn\n"))
    let check = try ToolProcess(folder, ["-n"], program: "/bin/bash", input: bash).finish()
    #expect(check == .init(status: 0, output: "", errors: ""))
    #expect(try tarn("generate", "zsh").output.contains("'watch:Prints the objects of one class"))
    #expect(
      try tarn("generate", "fish").output
        .contains("complete -c tarn -n '__fish_seen_subcommand_from query' -l sort -s s -r -d "))
    #expect(try tarn("generate", "html").status == 2)
  }

  /// The program that `tarn daemon` becomes is beside it.
  @Test func becomesTheDaemon() throws {
    let result = try tarn("daemon", "check", "--config", "nothing.yaml")
    #expect(result.status == 1)
    #expect(result.output == "nothing.yaml: there is no such file\n")
  }
}
