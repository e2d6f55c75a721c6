import Testing

@testable import ToolSupport

@Suite struct TerminalTests {
  private func terminal(_ isTerminal: Bool, _ environment: [String: String]) -> Terminal {
    Terminal(descriptor: -1, isTerminal: isTerminal, environment: environment)
  }

  @Test func coloursAreForTerminalsThatWantThem() {
    #expect(terminal(true, [:]).styled("x", .bold, .red) == "\u{1b}[1;31mx\u{1b}[0m")
    #expect(terminal(true, ["NO_COLOR": ""]).usesColor)
    for plain in [
      terminal(false, [:]), terminal(true, ["NO_COLOR": "1"]), terminal(true, ["TERM": "dumb"]),
    ] {
      #expect(plain.styled("x", .red) == "x")
    }
  }

  /// What a person asks for on the command line counts more than the environment.
  @Test func anOptionOverridesTheEnvironment() {
    for environment in [["NO_COLOR": "1"], ["TERM": "dumb"], [:]] {
      #expect(terminal(false, environment).colored("always").usesColor)
      #expect(!terminal(true, environment).colored("never").usesColor)
    }
    #expect(!terminal(true, ["NO_COLOR": "1"]).colored("auto").usesColor)
  }

  @Test func theWidthFallsBackToColumnsThenTo80() {
    #expect(terminal(false, ["COLUMNS": "132"]).width == 132)
    #expect(terminal(false, ["COLUMNS": "0"]).width == 80)
    #expect(terminal(true, [:]).width == 80)
  }

  @Test(arguments: [
    ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("❤️", 2), ("", 0),
    ("a\u{1b}b", 2), ("한", 2), ("ｱ", 1), ("Ａ", 2),
  ])
  func textTakesSoManyCells(_ text: String, _ width: Int) {
    #expect(displayWidth(text) == width)
  }

  @Test func foreignTextCannotSteerTheTerminal() {
    #expect(printable("plain – ü") == "plain – ü")
    #expect(printable("a\u{1b}[2Jb\n\tc\r") == "a\\u{1b}[2Jb\\n\\tc\\r")
    #expect(printable("x\u{202e}y\u{9b}") == "x\\u{202e}y\\u{9b}")
  }

  @Test func textIsCutAtCellsNotLetters() {
    #expect(truncated("abcdef", toWidth: 4) == "abc…")
    #expect(truncated("日本語", toWidth: 4) == "日…")
    #expect(truncated("ab", toWidth: 2) == "ab")
    #expect(truncated("ab", toWidth: 0) == "")
    #expect(padded("日", toWidth: 4) == "日  ")
    #expect(padded("7", toWidth: 3, toRight: true) == "  7")
  }

  @Test func tablesAlignTheirColumns() {
    var table = TextTable([.init("name"), .init("rows", .right), .init("note")])
    table.add(["Person", "1,000", "日本\n"])
    table.add(["Dog", "7"])
    #expect(
      table.text() == """
        name     rows  note
        Person  1,000  日本\\n
        Dog         7

        """)
  }

  @Test func tablesThatAreTooWideLoseTextButNoFigures() {
    var table = TextTable([.init("name"), .init("size", .right)])
    table.add(["a-rather-long-name", "123456789"])
    #expect(table.text(width: 22) == "name              size\na-rather-l…  123456789\n")
  }

  @Test func theProgressLineFitsItsTerminal() {
    for width in [5, 20, 40, 80, 200] {
      for done in [Int64(0), 1, 50, 99, 100, 120] {
        let line = ProgressBar.line("import", done: done, total: 100, elapsed: 90, width: width)
        #expect(displayWidth(line) < width)
      }
    }
    #expect(
      ProgressBar.line("import", done: 25, total: 100, elapsed: 30, width: 40)
        == "import ████░░░░░░░░░░░░░  25% 1:30 left")
    #expect(ProgressBar.line("read", done: 12, total: 0, elapsed: 3, width: 80) == "read 12")
  }

  @Test(arguments: [(4.2, "5 s"), (60, "1:00"), (3599, "59:59"), (3723, "1:02:03")])
  func durationsReadLikeAClock(_ seconds: Double, _ text: String) {
    #expect(clockText(seconds) == text)
  }
}
