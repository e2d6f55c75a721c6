import Foundation
import Synchronization
import Tarn
import TarnStore
import ToolSupport

/// `tarn-stress power`: states of stores that a power failure may leave, each opened and checked in
/// a process that may crash.
struct PowerRun {
  private let options: PowerOptions
  private let folder: String

  init(_ options: PowerOptions) throws {
    self.options = options
    let memory = "/dev/shm"
    let parent =
      access(memory, W_OK) == 0 && ProcessInfo.processInfo.environment["TMPDIR"] == nil
      ? memory : NSTemporaryDirectory()
    var template = Array((parent + "/tarn-power-XXXXXX").utf8CString)
    guard let made = mkdtemp(&template) else {
      throw ToolError("cannot make a folder in", parent, errno: errno)
    }
    folder = String(cString: made)
  }

  private struct Recording {
    let kind: String
    let trace: String
    let events: Int
    let states: Int
  }

  /// Some images of a recording.
  private struct Part {
    let recording: Recording
    let count: Int
    let range: Range<Int>
  }

  func run() throws -> ExitCode {
    say("seed \(options.seed), \(options.count) images in \(folder)")
    let recordings = try record()
    let tally = Lock(PowerReport(total: options.count))
    let parts = parts(of: recordings)
    let next = Atomic<Int>(0)
    let failure = Lock<(any Error)?>(nil)
    let (options, folder) = (options, folder)
    DispatchQueue.concurrentPerform(iterations: options.jobs) { job in
      do {
        let own = folder + "/\(job)"
        try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
        while true {
          let index = next.add(1, ordering: .relaxed).oldValue
          guard index < parts.count else { return }
          try Self.check(parts[index], own, options, tally)
        }
      } catch {
        failure.withLock { $0 = error }
      }
    }
    if let error = failure.withLock({ $0 }) { throw error }
    let code = tally.withLock { $0.end() }
    if code == .success || options.isSabotaged {
      try FileManager.default.removeItem(atPath: folder)
    } else {
      say("the traces are kept in \(folder)")
    }
    return code
  }

  private func say(_ text: String) {
    print(text)
    fflush(nil)
  }

  /// Runs each kind once, and traces it.
  private func record() throws -> [Recording] {
    let kinds = PowerWorkload.kinds.filter { options.kind == nil || $0.name == options.kind }
    guard !kinds.isEmpty else { throw UsageError("there is no kind '\(options.kind ?? "")'") }
    return try kinds.map { kind in
      let own = folder + "/" + kind.name
      try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
      let trace = own + "/trace"
      let (lines, end) = try ChildProcess(
        "/proc/self/exe",
        ["worker", "power-record", trace, "\(kind.steps)", "\(options.seed)", kind.name]
      ).finish()
      guard end == .exited(0), lines.last == "recorded" else {
        throw ToolError("\(kind.name) cannot be recorded: \(end) \(lines)")
      }
      let read = try PowerTrace(trace)
      let recording = Recording(
        kind: kind.name, trace: trace, events: read.events.count - read.beginning,
        states: read.states.values.reduce(0) { $0 + $1.count })
      say("\(kind.name): \(recording.events) calls, \(recording.states) states")
      return recording
    }
  }

  private func parts(of recordings: [Recording]) -> [Part] {
    recordings.enumerated().flatMap { index, recording in
      let count =
        options.count * (index + 1) / recordings.count - options.count * index / recordings.count
      return (0..<options.jobs).map { job in
        Part(
          recording: recording, count: count,
          range: count * job / options.jobs..<count * (job + 1) / options.jobs)
      }
    }
  }

  private static func check(
    _ part: Part, _ folder: String, _ options: PowerOptions, _ tally: borrowing Lock<PowerReport>
  ) throws {
    let rest = "\(part.count):\(part.range.upperBound):\(folder):\(options.sabotage ?? "")"
    let child = NumberedChild { first in
      try ChildProcess(
        "/proc/self/exe",
        ["worker", "power-check", part.recording.trace, "\(first)", "\(options.seed)", rest],
        environment: ["SWIFT_BACKTRACE": "enable=no"],
        errors: options.isSabotaged ? "/dev/null" : nil)
    }
    let kind = part.recording.kind
    try child.run(part.range) { line in
      tally.withLock { $0.hear(line) }
    } problem: { number, text in
      tally.withLock { $0.note("\(kind), image \(number): \(text)") }
    }
    tally.withLock { $0.done(part.range.count) }
  }
}

/// The sums over all images.
struct PowerReport {
  private static let shownMax = 50
  private let total: Int
  private var images = 0
  private var problems = 0
  private var sums = PowerTally().sums
  private let start = ContinuousClock.now

  init(total: Int) { self.total = total }

  mutating func hear(_ line: String) {
    let words = line.splitASCII(" ").map(String.init)
    guard words.count == sums.count + 1, words[0] == "sum" else { return print(line) }
    for (index, word) in words.dropFirst().enumerated() { sums[index] += Int(word) ?? 0 }
  }

  mutating func note(_ problem: String) {
    problems += 1
    if problems <= Self.shownMax { print("FAULT \(problem)") }
    fflush(nil)
  }

  mutating func done(_ count: Int) {
    images += count
    print("\(images) of \(total), \(problems) faults")
    fflush(nil)
  }

  func end() -> ExitCode {
    let seconds = (ContinuousClock.now - start).components.seconds
    print(
      "\(images) images in \(seconds) s: \(sums[0]) as acknowledged, \(sums[1]) newer, "
        + "\(sums[2]) between, \(sums[3]) before the first, \(sums[4]) refused")
    print(
      "of those refused, \(sums[5]) were accepted at a state that the file had, and \(sums[6]) at "
        + "another that passed the check")
    print(problems == 0 ? "no faults" : "\(problems) faults")
    return problems == 0 ? .success : .failure
  }
}

/// The options of `tarn-stress power`.
struct PowerOptions {
  var seed: UInt64 = 1
  var count = 100_000
  var jobs = 2
  /// The only kind of run.
  var kind: String?
  /// A medium that does not exist, to test the checks.
  var sabotage: String?
  var isSabotaged: Bool { sabotage != nil }

  static func fromCommandLine() throws -> PowerOptions {
    let parser = CommandLineParser(
      program: "tarn-stress power", version: ToolVersion.text, summary: command.summary,
      commands: [command])
    var options = PowerOptions()
    var arguments = Array(CommandLine.arguments.dropFirst(2))
    if arguments.count > 1, arguments[0] == "--sabotage" {
      options.sabotage = arguments[1]
      arguments.removeFirst(2)
    }
    let parsed = parser.parseOrExit(arguments)
    options.seed = UInt64(try parsed.integer("seed", default: 1, in: 0...Int.max))
    options.count = try parsed.integer("count", default: 100_000, in: 1...Int.max)
    options.jobs = try parsed.integer("jobs", default: 2, in: 1...64)
    options.kind = parsed.value("kind")
    return options
  }

  private static let command = CommandSpec(
    "tarn-stress power", "Checks states of stores that a power failure may leave.",
    discussion: """
      Programs of several kinds run once; each of their calls that changes a file or a name is \
      traced. Each image is a state that the medium may have after one of the calls. It is opened \
      and checked as by inspect --check, and its contents are compared with those that were \
      durable before. A file whose commits are not synced may be refused, and is then given to \
      the check that accepts it. The exit status is 0 only if no image is damaged, none lacks a \
      commit that was durable, and none that lacks others is opened without a check.
      """,
    options: [
      .value("seed", "N", "seed of the random choices (1)"),
      .value("count", "N", "number of images (100000)"),
      .value("jobs", "N", "number of images at a time (2)"),
      .value("kind", "NAME", "run only programs of this kind"),
    ])
}
