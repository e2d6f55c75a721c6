import Foundation
import ToolSupport

/// The parsed command line.
struct StressOptions {
  var seed: UInt64 = 1
  var seconds = 30
  /// How many commits to make, instead of how long to run. Times are not judged then.
  var commits: Int?
  var processes = 20
  var keeps = false
  var isDurable = false
  /// Whether the file is on a disk of its own, which is full now and then.
  var hasOwnDisk = false
  /// A fault made on purpose, to test the checks.
  var sabotage: String?

  static func fromCommandLine() throws -> StressOptions {
    let parser = CommandLineParser(
      program: "tarn-stress", version: ToolVersion.text,
      summary: "Stresses one file with many processes and checks what they see.",
      commands: [command])
    var arguments = Array(CommandLine.arguments.dropFirst())
    var options = StressOptions()
    options.sabotage = takeSabotage(&arguments)
    let parsed = parser.parseOrExit(arguments)
    options.seed = UInt64(try parsed.integer("seed", default: 1, in: 0...Int.max))
    options.seconds = try parsed.integer("seconds", default: 30, in: 1...86_400)
    if parsed.has("commits") {
      options.commits = try parsed.integer("commits", default: 1, in: 1...Int.max)
    }
    options.processes = try parsed.integer("processes", default: 20, in: 2...200)
    options.keeps = parsed.has("keep")
    options.isDurable = parsed.has("durable")
    options.hasOwnDisk = parsed.has("own-disk")
    return options
  }

  private static var command: CommandSpec {
    CommandSpec(
      "tarn-stress", "Stresses one file with many processes and checks what they see.",
      discussion: """
        Half of the processes write without pause, some of them asynchronously, as another user, \
        with a small map, or in forked children. The other half observe: they apply every change \
        of results, lists, sets and maps to a copy and compare it with the data, read-only or as \
        another user, or consume a cursor. What a writer's n-th commit does to its objects of all \
        types is known beforehand, so that each process verifies each version. Meanwhile \
        processes are killed and stopped at random, some of them inside a commit, disks are full, \
        and migrations change a class. The exit status is 0 only if there were no problems.
        """,
      options: [
        .value("seed", "N", "seed of the random choices (1)"),
        .value("seconds", "N", "duration of the run (30)"),
        .value("commits", "N", "end after so many commits, and judge no times: for a busy machine"),
        .value("processes", "N", "number of writers and observers (20)"),
        .flag("durable", "make every commit durable"),
        .flag("own-disk", "mount a small disk for the file, and fill it now and then; as root"),
        .flag("keep", "keep the file at the end"),
      ])
  }

  /// Not in the help: only this tool's test uses it.
  private static func takeSabotage(_ arguments: inout [String]) -> String? {
    guard let at = arguments.firstIndex(of: "--sabotage"), at + 1 < arguments.count else {
      return nil
    }
    defer { arguments.removeSubrange(at...at + 1) }
    return arguments[at + 1]
  }
}
