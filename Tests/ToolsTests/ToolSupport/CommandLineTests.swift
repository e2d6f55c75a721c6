import TarnStore
import Testing

@testable import ToolSupport

@Suite struct CommandLineTests {
  private let parser = CommandLineParser(
    program: "pond", version: "1.2", summary: "Looks into ponds.",
    commands: [
      CommandSpec(
        "watch", "print what changes", discussion: "Ends by SIGINT.",
        positionals: [
          PositionalSpec("FILE", "the pond"),
          PositionalSpec("KIND", "only this kind", isOptional: true),
        ],
        options: [
          .value("where", short: "w", "PREDICATE", "only what fits"),
          .value("sort", "KEY", repeats: true, "order by this"),
          .value("limit", short: "n", "COUNT", "at most so many"),
          .flag("json", short: "j", "one object a line"),
          .flag("verbose", short: "v", "say more"),
        ]),
      CommandSpec(
        "count", "count frogs",
        positionals: [PositionalSpec("FILES", "the ponds", repeats: true)]),
    ])

  private func run(_ line: String...) throws -> ParsedArguments {
    guard case .run(let parsed) = parser.parse(line) else {
      throw UsageError("not to be run: \(parser.parse(line))")
    }
    return parsed
  }

  private func refusal(_ line: String...) -> String? {
    guard case .refuse(let text) = parser.parse(line) else { return nil }
    return text
  }

  @Test func marksAreFoundBesideAnything() throws {
    let parsed = try run("watch", "--where=\u{301}a", "f")
    #expect(parsed.value("where").map { Array($0.unicodeScalars) } == ["\u{301}", "a"])
  }

  @Test func optionsAndArgumentsComeInAnyOrder() throws {
    let parsed = try run("watch", "--json", "a.realm", "--where", "age > 5", "Dog")
    #expect(parsed.command == "watch")
    #expect(parsed.required("FILE") == "a.realm")
    #expect(parsed.positional("KIND") == "Dog")
    #expect(parsed.value("where") == "age > 5")
    #expect(parsed.has("json"))
    #expect(!parsed.has("verbose"))
  }

  @Test func valuesFollowAnEqualsSignOrALetter() throws {
    let parsed = try run("watch", "f", "--where=a=b", "-n5", "--sort=", "--sort", "-x")
    #expect(parsed.value("where") == "a=b")
    #expect(parsed.value("limit") == "5")
    #expect(parsed.values("sort") == ["", "-x"])
  }

  @Test func shortFlagsJoin() throws {
    let parsed = try run("watch", "f", "-jvw", "x")
    #expect(parsed.has("json"))
    #expect(parsed.has("verbose"))
    #expect(parsed.value("where") == "x")
  }

  @Test func twoDashesEndTheOptionsAndOneDashIsAName() throws {
    let parsed = try run("count", "-", "--", "--json", "-v")
    #expect(parsed.positionals("FILES") == ["-", "--json", "-v"])
  }

  @Test func helpIsMadeFromTheDeclarations() {
    guard case .show(let text) = parser.parse(["watch", "f", "--help"]) else {
      Issue.record("--help is not shown")
      return
    }
    #expect(text.hasPrefix("print what changes\n\nUsage: pond watch [OPTIONS] FILE [KIND]\n"))
    for part in ["  -w, --where PREDICATE  only what fits\n", "--sort KEY", "Ends by SIGINT.\n"] {
      #expect(text.contains(part))
    }
    #expect(parser.parse(["help", "watch"]) == .show(text))
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    #expect(parser.help().contains("  count  count frogs\n"))
    #expect(parser.parse(["--help"]) == .show(parser.help()))
    #expect(parser.parse(["help"]) == .show(parser.help()))
  }

  @Test func theVersionIsShownAnywhere() {
    #expect(parser.parse(["--version"]) == .show("pond 1.2\n"))
    #expect(parser.parse(["watch", "--version"]) == .show("pond 1.2\n"))
  }

  @Test func refusalsSayWhatIsWrong() {
    let cases: [([String], String)] = [
      ([], "a command is missing: watch, count"),
      (["wacth", "f"], "unknown command 'wacth'; did you mean 'watch'?"),
      (["--json"], "the command must come first, before '--json'"),
      (["watch"], "watch needs FILE: the pond"),
      (["count"], "count needs FILES: the ponds"),
      (["watch", "f", "D", "more"], "unexpected argument 'more'"),
      (["watch", "f", "--jsno"], "unknown option '--jsno'; did you mean '--json'?"),
      (["watch", "f", "-q"], "unknown option '-q'"),
      (["watch", "f", "--json=yes"], "--json takes no value"),
      (["watch", "f", "--where"], "--where needs a PREDICATE after it"),
      (["watch", "f", "-n1", "-n2"], "--limit is given twice"),
    ]
    for (line, message) in cases {
      // The help of the command, as far as there is one.
      let command = ["watch", "count"].contains(line.first) ? " \(line[0])" : ""
      let expected = "pond: \(message)\nTry 'pond\(command) --help' for more information.\n"
      #expect(parser.parse(line) == .refuse(expected), "\(line)")
    }
  }

  @Test func numbersAndWordsAreChecked() throws {
    let parsed = try run("watch", "f", "-n", "12", "--where", "red")
    #expect(try parsed.integer("limit", default: 1, in: 0...20) == 12)
    #expect(try run("watch", "f").integer("limit", default: 1, in: 0...20) == 1)
    #expect(throws: UsageError("--limit takes a whole number from 0 to 9, not '12'")) {
      try parsed.integer("limit", default: 1, in: 0...9)
    }
    #expect(try parsed.choice("where", of: ["red", "blue"], default: "blue") == "red")
    #expect(throws: UsageError("--where takes one of blue, green, not 'red'")) {
      try parsed.choice("where", of: ["blue", "green"], default: "blue")
    }
  }

  @Test func aProgramWithoutSubcommandsTakesItsArgumentsAtOnce() {
    let single = CommandLineParser(
      program: "frog", version: "1", summary: "Jumps.",
      commands: [CommandSpec("frog", "Jumps.", options: [.value("seed", "N", "where to begin")])])
    var expected = ParsedArguments(command: "frog")
    expected.given = ["seed": ["7"]]
    #expect(single.parse(["--seed", "7"]) == .run(expected))
    #expect(single.help().contains("Usage: frog [OPTIONS]\n"))
  }

  @Test(arguments: [("", "", 0), ("abc", "", 3), ("watch", "wacth", 2), ("sort", "port", 1)])
  func editDistanceCountsSteps(_ a: String, _ b: String, _ distance: Int) {
    #expect(editDistance(a, b) == distance)
    #expect(editDistance(b, a) == distance)
  }
}
