import Foundation
import TestSupport
import Testing

/// `tarn watch --table`, seen by a person at a terminal.
@Suite struct WatchTableTests {
  private let folder = TemporaryFolder()

  private func tarn(_ arguments: String..., input: String = "") throws {
    let done = try ToolProcess(folder, arguments, input: input).finish()
    try #require(done.status == 0, "\(done.errors)")
  }

  private func fill(_ count: Int) throws {
    let lines = (0..<count).map {
      "{\"id\": \($0), \"name\": \"dog \($0)\", \"age\": \($0 * 10)}\n"
    }
    try tarn(
      "import", "dogs.realm", "-", "-f", "jsonl", "-c", "Dog", "-k", "id", input: lines.joined())
  }

  private func watch(_ screen: Screen, _ arguments: String...) throws -> ToolProcess {
    try ToolProcess(
      folder, ["watch", "dogs.realm", "Dog", "--sort", "age", "--table"] + arguments,
      environment: ["NO_COLOR": "1", "TERM": "xterm"], output: screen)
  }

  /// The rows of the last whole picture in a terminal's text: headings, rows, state.
  private func picture(_ text: String) -> [String] {
    var last = text.components(separatedBy: "\u{1b}[H").last ?? ""
    for code in ["\u{1b}[K", "\u{1b}[J", "\r"] { last = last.replacing(code, with: "") }
    last = last.replacing(/\u{1b}\[\d+;1H/, with: "")
    return last.split(whereSeparator: \.isNewline).map(String.init)
  }

  @Test func `the table follows what is committed, within eighty columns`() throws {
    try fill(5)
    let screen = try Screen()
    try screen.resize(columns: 80, lines: 12)
    let process = try watch(screen)
    let first = screen.text(upTo: "q quits")
    #expect(first.contains("\u{1b}[?1049h"))
    #expect(
      picture(first) == [
        "      id  age  name",
        "   0  0     0  dog 0", "   1  1    10  dog 1", "   2  2    20  dog 2",
        "   3  3    30  dog 3", "   4  4    40  dog 4",
        "version 1  Dog  5 objects  rows 0–4  ↑↓ PgUp PgDn Home End, q quits",
      ])
    try tarn("set", "dogs.realm", "Dog", "--where", "id == 1", "name=Rex")
    #expect(picture(screen.text(upTo: "~1  ↑↓")).contains("~  1  1    10  Rex"))
    try tarn("delete", "dogs.realm", "Dog", "--where", "id == 3")
    let gone = picture(screen.text(upTo: "-1  ↑↓"))
    #expect(gone.contains("-     3    30  dog 3"))
    #expect(gone.contains("   3  4    40  dog 4"))
    try tarn("set", "dogs.realm", "Dog", "--where", "id == 0", "age=99")
    #expect(picture(screen.text(upTo: "↕1  ↑↓")).contains("↕  3  0    99  dog 0"))
    try screen.type("q")
    #expect(screen.text(upTo: "\u{1b}[?1049l").hasSuffix("\u{1b}[?25h\u{1b}[?1049l"))
    #expect(process.status() == 0)
  }

  @Test func `marks go by themselves, and keys scroll`() throws {
    try fill(40)
    let screen = try Screen()
    try screen.resize(columns: 60, lines: 7)
    let process = try watch(screen)
    _ = screen.text(upTo: "rows 0–4")
    try screen.type("\u{1b}[6~j")
    #expect(picture(screen.text(upTo: "rows 6–10"))[1].hasPrefix("    6  6"))
    try tarn("set", "dogs.realm", "Dog", "--where", "id == 8", "name=Rex")
    _ = screen.text(upTo: "~   8  8")
    // Without another key or commit.
    #expect(screen.text(upTo: "    8  8    80  Rex").contains("    8  8    80  Rex"))
    try screen.type("G")
    #expect(screen.text(upTo: "rows 35–39").contains("dog 39"))
    process.signal(SIGTERM)
    #expect(screen.text(upTo: "\u{1b}[?1049l").contains("\u{1b}[?1049l"))
    #expect(process.status() == 0)
  }

  @Test func `where there is no terminal it is text`() throws {
    try fill(2)
    let watch = ["watch", "dogs.realm", "Dog", "--exit-after", "1"]
    let processes = [
      try ToolProcess(folder, watch + ["--table"]), try ToolProcess(folder, watch),
    ]
    for process in processes {
      #expect(try process.line()?.hasPrefix("version 1  Dog  2 objects") == true)
    }
    try tarn("delete", "dogs.realm", "Dog", "--where", "id == 0")
    let (done, plain) = (try processes[0].finish(), try processes[1].finish())
    #expect(done == plain)
    #expect(done.status == 0)
    #expect(done.output.contains("version 2  Dog  -1  now 1 object"))
    #expect(!done.output.contains("\u{1b}"))
  }

  @Test func `a file that is lost gives the screen back before it is told`() throws {
    try fill(2)
    let screen = try Screen()
    let process = try watch(screen)
    _ = screen.text(upTo: "2 objects")
    try FileManager.default.removeItem(atPath: "\(folder.path)/dogs.realm")
    #expect(screen.text(upTo: "\u{1b}[?1049l").contains("\u{1b}[?1049l"))
    #expect(process.status() == 1)
    #expect(process.errors().contains("it can no longer be watched"))
  }

  @Test(arguments: [
    ["Dog", "--table", "--json"], ["Dog", "--table", "--no-initial"], ["--table"],
  ])
  func `options that make no sense together are refused`(arguments: [String]) throws {
    try fill(1)
    let done = try ToolProcess(folder, ["watch", "dogs.realm"] + arguments).finish()
    #expect(done.status == 2)
    #expect(done.errors.contains("--table"))
  }
}
