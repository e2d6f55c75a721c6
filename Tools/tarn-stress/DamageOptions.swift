import ToolSupport

/// The options of `tarn-stress damage`.
struct DamageOptions {
  var seed: UInt64 = 1
  var count = 10_000
  var jobs = 2
  /// The number of the only copy to test, which is kept.
  var only: Int?

  static func fromCommandLine() throws -> DamageOptions {
    let parser = CommandLineParser(
      program: "tarn-stress damage", version: ToolVersion.text, summary: command.summary,
      commands: [command])
    var options = DamageOptions()
    let parsed = parser.parseOrExit(Array(CommandLine.arguments.dropFirst(2)))
    options.seed = UInt64(try parsed.integer("seed", default: 1, in: 0...Int.max))
    options.count = try parsed.integer("count", default: 10_000, in: 1...Int.max)
    options.jobs = try parsed.integer("jobs", default: 2, in: 1...64)
    options.only =
      parsed.has("only") ? try parsed.integer("only", default: 0, in: 0...Int.max) : nil
    return options
  }

  private static let command = CommandSpec(
    "tarn-stress damage", "Damages copies of stores and runs tarn's commands on them.",
    discussion: """
      In each copy bytes are changed, pages zeroed, overwritten, swapped or cut off, or records \
      changed such that their checksums stay valid. inspect, inspect --check, export, watch, set \
      and import must end by themselves and in time, with status 0, or with 1 and an error \
      message. The exit status is 0 only if all of them did.
      """,
    options: [
      .value("seed", "N", "seed of the random choices (1)"),
      .value("count", "N", "number of copies (10000)"),
      .value("jobs", "N", "number of copies at a time (2)"),
      .value("only", "N", "test only copy N, and keep it"),
    ])
}
