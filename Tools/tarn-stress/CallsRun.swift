import Foundation
import Synchronization
import Tarn
import TarnStore
import ToolSupport

/// `tarn-stress calls`: everything that is done to a file, with each of its system calls failing
/// once, in processes that may crash or hang.
struct CallsRun {
  private let options: CallsOptions
  private let folder: String

  init(_ options: CallsOptions) throws {
    self.options = options
    let memory = "/dev/shm"
    let parent =
      access(memory, W_OK) == 0 && ProcessInfo.processInfo.environment["TMPDIR"] == nil
      ? memory : NSTemporaryDirectory()
    var template = Array((parent + "/tarn-calls-XXXXXX").utf8CString)
    guard let made = mkdtemp(&template) else {
      throw ToolError("cannot make a folder in", parent, errno: errno)
    }
    folder = String(cString: made)
  }

  private static let daemon = "daemon"

  func run() throws -> ExitCode {
    let (options, folder) = (options, folder)
    var kinds = FailingThing.Kind.allCases.map(\.rawValue)
    if options.preloaded != nil { kinds.append(Self.daemon) }
    let runs = kinds.flatMap { kind in
      CallFault.all.map { (kind: kind, fault: $0.name) }
    }.filter {
      (options.kind == nil || $0.kind == options.kind)
        && (options.fault == nil || $0.fault == options.fault)
    }
    let next = Atomic<Int>(0)
    let problems = Atomic<Int>(0)
    let failure = Lock<(any Error)?>(nil)
    DispatchQueue.concurrentPerform(iterations: options.jobs) { job in
      do {
        while true {
          let index = next.add(1, ordering: .relaxed).oldValue
          guard index < runs.count else { return }
          let own = "\(folder)/\(job)"
          try? FileManager.default.removeItem(atPath: own)
          problems.add(
            try Self.run(runs[index], own, options, first: 1 + index % options.stride),
            ordering: .relaxed)
        }
      } catch {
        failure.withLock { $0 = error }
      }
    }
    try? FileManager.default.removeItem(atPath: folder)
    if let error = failure.withLock({ $0 }) { throw error }
    let count = problems.load(ordering: .relaxed)
    print(count == 0 ? "no faults" : "\(count) faults")
    return count == 0 ? .success : .failure
  }

  /// - Returns: the number of problems.
  private static func run(
    _ run: (kind: String, fault: String), _ folder: String, _ options: CallsOptions, first: Int
  ) throws -> Int {
    var problems = 0
    if run.kind == daemon, let library = options.preloaded {
      let starts = try FailingDaemon(folder, library, run.fault)
      let sum = try starts.run(from: first, by: options.stride) { number, text in
        problems += 1
        print("FAULT \(run.kind), \(run.fault), call \(number): \(text)")
        fflush(nil)
      }
      print("\(run.kind), \(run.fault): sum \(sum.calls) calls, refused \(sum.refusals)")
      fflush(nil)
      return problems
    }
    var child = NumberedChild { first in
      try ChildProcess(
        "/proc/self/exe",
        [
          "worker", "fail-calls", folder, "\(first)", "\(options.stride)",
          "\(run.kind):\(run.fault)",
        ], environment: ["SWIFT_BACKTRACE": "enable=no"], errors: folder + ".errors")
    }
    child.patience = .seconds(60)
    child.stride = options.stride
    try child.run(first..<100_000) { line in
      print("\(run.kind), \(run.fault): \(line)")
      fflush(nil)
    } problem: { number, text in
      problems += 1
      let said = (try? String(contentsOfFile: folder + ".errors", encoding: .utf8)) ?? ""
      print("FAULT \(run.kind), \(run.fault), call \(number): \(text) \(said.suffix(400))")
      fflush(nil)
    }
    return problems
  }
}

/// The options of `tarn-stress calls`.
struct CallsOptions {
  var jobs = 2
  /// Fails only every so many calls.
  var stride = 1
  /// The library with the functions that fail, for the daemon; nil to leave the daemon out.
  var preloaded: String?
  var kind: String?
  var fault: String?

  static func fromCommandLine() throws -> CallsOptions {
    let parser = CommandLineParser(
      program: "tarn-stress calls", version: ToolVersion.text, summary: command.summary,
      commands: [command])
    var options = CallsOptions()
    let parsed = parser.parseOrExit(Array(CommandLine.arguments.dropFirst(2)))
    options.jobs = try parsed.integer("jobs", default: 2, in: 1...64)
    options.stride = try parsed.integer("stride", default: 1, in: 1...10_000)
    options.preloaded = parsed.value("preload")
    options.kind = parsed.value("kind")
    options.fault = parsed.value("fault")
    return options
  }

  private static let command = CommandSpec(
    "tarn-stress calls", "Lets each system call fail once.",
    discussion: """
      Stores are created, opened, written, migrated, copied, compacted and closed. System calls \
      are counted, and then each of them fails once with each error that it may have, or does half \
      of its work. Each time there must be an error or success, a sound file with everything that \
      was committed before, and a next try that succeeds. The exit status is 0 only if all of that \
      holds, and nothing crashes or hangs.
      """,
    options: [
      .value("jobs", "N", "number of processes at a time (2)"),
      .value("stride", "N", "let only every N-th call fail (1)"),
      .value("preload", "FILE", "also start the daemon, with this library of failing functions"),
      .value("kind", "NAME", "do only this"), .value("fault", "NAME", "only with this error"),
    ])
}
