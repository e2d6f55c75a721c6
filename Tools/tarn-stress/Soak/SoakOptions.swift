import ToolSupport

/// The options of `tarn-stress soak`.
struct SoakOptions {
  var seed: UInt64 = 1
  var seconds = 2_700
  var processes = 64
  var chart: String?

  static func fromCommandLine() throws -> SoakOptions {
    let parser = CommandLineParser(
      program: "tarn-stress soak", version: ToolVersion.text, summary: command.summary,
      commands: [command])
    let parsed = parser.parseOrExit(Array(CommandLine.arguments.dropFirst(2)))
    return SoakOptions(
      seed: UInt64(try parsed.integer("seed", default: 1, in: 0...Int.max)),
      seconds: try parsed.integer("seconds", default: 2_700, in: 30...1_000_000),
      processes: try parsed.integer("processes", default: 64, in: 20...200),
      chart: parsed.value("chart"))
  }

  private static let command = CommandSpec(
    "tarn-stress soak", "Runs many processes on one file, and checks that nothing grows.",
    discussion: """
      Writers, observers and consumers of all kinds as in a stress run, a process that copies the \
      file and checks each copy, and some that measure latency. Processes are killed and stopped, \
      clocks jump, and the disk is full now and then, all the time. In the first half a reader \
      holds a version for a sixth of the time, an observer is stopped for as long, and migrations \
      end all processes. In the last half, the file, the memory of each kind of process and the \
      latency must not grow: their growth there must be below three standard errors of the slope, \
      or 2 % of the mean, or 1 MiB of memory, 4 MiB of the file and a millisecond; \
        runs of less than 1200 seconds are not judged. The exit status \
      is 0 only if that is so and there were no problems.
      """,
    options: [
      .value("seed", "N", "seed of the random choices (1)"),
      .value("seconds", "N", "how long it runs (2700)"),
      .value("processes", "N", "number of processes (64)"),
      .value("chart", "FILE", "write the figures over time as an SVG"),
    ])
}
