import Foundation
import Tarn
import TarnStore
import ToolSupport

/// `tarn-stress feed`: consumers of cursors against a model. Each seed is a separate file with
/// random commits; the consumers' copies must equal the file.
final class FeedRun {
  private let options: FeedOptions
  private let folder: String
  private var problems = 0
  private var batches = 0

  init(_ options: FeedOptions) throws {
    self.options = options
    var template = Array((NSTemporaryDirectory() + "/tarn-feed-XXXXXX").utf8CString)
    guard let made = mkdtemp(&template) else {
      throw ToolError("cannot make a folder in", NSTemporaryDirectory(), errno: errno)
    }
    folder = String(cString: made)
  }

  func run() throws -> ExitCode {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    if options.churn > 0 { try churn(options.churn) }
    for number in 0..<options.count { try run(options.seed &+ UInt64(number)) }
    print(
      "\(options.count) seeds, \(batches) batches\(options.kills ? " with kills" : ""): "
        + (problems == 0 ? "no problems" : "\(problems) problems"))
    return problems == 0 ? .success : .failure
  }

  private func run(_ seed: UInt64) throws {
    let path = "\(folder)/\(seed).realm"
    if options.kills { try runWithKills(path, seed) } else { try runInside(path, seed) }
    for name in try FileManager.default.contentsOfDirectory(atPath: folder)
    where name.beginsWithBytes(of: "\(seed).realm") {
      try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
    }
  }

  private func complain(_ seed: UInt64, _ text: String) {
    problems += 1
    print("seed \(seed): \(text)")
  }

  // MARK: - In one process

  /// Commits and consumers alternate at random; cursors are also opened again without an
  /// acknowledgement. With old values the copies are compared at every version. The kinds of
  /// changes are compared with the states before and after them.
  private func runInside(_ path: String, _ seed: UInt64) throws {
    let realm = try Realm(configuration: FeedFile.configuration(path))
    var program = FeedProgram(seed: seed)
    let consumers = [0, 1 + program.below(FeedConsumer.kinds.count - 1)].map {
      FeedConsumer(path, $0, sabotaged: options.isSabotaged)
    }
    var oracle = FeedOracle()
    try oracle.note(realm)
    for _ in 0..<3 {
      for _ in 0..<1 + program.below(4) {
        try program.commit(realm)
        try oracle.note(realm)
      }
      for consumer in consumers where program.below(3) > 0 {
        try consume(consumer, realm, seed, oracle, dies: program.below(3) == 0)
      }
    }
    for consumer in consumers {
      try consume(consumer, realm, seed, oracle, dies: false)
      let expected = try consumer.expected(realm)
      if try consumer.copies.objects != expected.objects {
        complain(seed, "'\(consumer.kind.name)' differs from the file at the end")
      }
    }
  }

  private struct Death: Error {}

  private func consume(
    _ consumer: FeedConsumer, _ realm: Realm, _ seed: UInt64, _ oracle: FeedOracle, dies: Bool
  ) throws {
    let cursor = try consumer.open(realm)
    defer { if dies { withExtendedLifetime(cursor) {} } else { cursor.close() } }
    do {
      try consumer.consume(cursor) { batch, copies in
        batches += 1
        for fault in oracle.faults(in: batch, of: consumer.kind) {
          complain(seed, "'\(consumer.kind.name)': \(fault)")
        }
        // After it has kept the effect, and before the acknowledgement.
        if dies { throw Death() }
        guard batch.changes.reachesNewest, batch.fullResync == nil else { return }
        let right = FeedCopies(batch, consumer.names, only: consumer.kind.properties)
        if copies.objects != right.objects {
          complain(seed, "'\(consumer.kind.name)' differs at version \(batch.to)")
        }
      }
    } catch is Death {}
  }

  // MARK: - With kills

  /// Processes commit and consume, and are killed at random points on the way.
  private func runWithKills(_ path: String, _ seed: UInt64) throws {
    var program = FeedProgram(seed: seed)
    let number = program.below(FeedConsumer.kinds.count)
    for round in 0..<4 {
      let isLast = round == 3
      let fault = isLast ? nil : 1 + program.below(60)
      let isWriter = program.below(2) == 0
      let writer = try worker(
        "feed-commit", path, 1 + program.below(4), seed &+ UInt64(round),
        fault: isWriter ? fault : nil)
      check(writer.finish(), seed, mayDie: isWriter && fault != nil)
      let reader = try worker(
        "feed-consume", path, number, seed, fault: isWriter ? nil : fault)
      check(reader.finish(), seed, mayDie: !isWriter && fault != nil)
    }
    let realm = try Realm(configuration: FeedFile.configuration(path))
    let consumer = FeedConsumer(path, number)
    let expected = try consumer.expected(realm)
    if try consumer.copies.objects != expected.objects {
      complain(seed, "'\(consumer.kind.name)' differs from the file after the kills")
    }
  }

  private func worker(
    _ kind: String, _ path: String, _ number: Int, _ seed: UInt64, fault: Int?
  ) throws -> ChildProcess {
    var environment: [String: String] = [:]
    if let fault { environment["TARN_FAULT"] = String(fault) }
    return try ChildProcess(
      "/proc/self/exe", ["worker", kind, path, String(number), String(seed)],
      environment: environment)
  }

  private func check(
    _ worker: (lines: [String], end: ChildProcess.End), _ seed: UInt64, mayDie: Bool
  ) {
    batches += 1
    if worker.end == .exited(0) || (mayDie && worker.end == .killed(SIGKILL)) { return }
    complain(
      seed, "a worker ended with \(worker.end): \(worker.lines.joined(separator: " | "))")
  }

  // MARK: - A slow reader

  /// Commits delete and create the same few objects, and each prunes all records that it may; a
  /// cursor that is always some hundred versions behind reads in between.
  private func churn(_ commits: Int) throws {
    let path = "\(folder)/churn.realm"
    let realm = try Realm(configuration: FeedFile.configuration(path))
    let consumer = FeedConsumer(path, 0)
    let cursor = try consumer.open(realm)
    var program = FeedProgram(seed: options.seed)
    var pageCount = 0
    for number in 1...commits {
      let id = program.below(10)
      try realm.write {
        if let thing = realm.object(ofType: FeedThing.self, forPrimaryKey: id) {
          realm.delete(thing)
        } else {
          realm.create(FeedThing.self, value: ["id": id, "number": number])
        }
      }
      guard number % 500 == 0 else { continue }
      try consumer.consume(cursor) { batch, copies in
        batches += 1
        if copies.objects != FeedCopies(batch, consumer.names).objects {
          complain(options.seed, "the slow reader differs at version \(batch.to)")
        }
      }
      if number == commits / 10 { pageCount = pages(path) }
    }
    cursor.close()
    let last = pages(path)
    if last > 2 * pageCount + 64 {
      complain(options.seed, "the file has grown from \(pageCount) to \(last) pages")
    }
    print("\(commits) commits on the same keys beside a slow reader: \(last) pages")
  }

  private func pages(_ path: String) -> Int {
    StoreRegistry.store(at: .file(path))?.environment.statistics.pageCount ?? 0
  }
}

/// The options of `tarn-stress feed`.
struct FeedOptions {
  var seed: UInt64 = 1
  var count = 1000
  var kills = false
  /// The number of commits during which a slow reader runs.
  var churn = 0
  /// Not in the help: only this tool's test uses it.
  var isSabotaged = false

  static func fromCommandLine() throws -> FeedOptions {
    let parser = CommandLineParser(
      program: "tarn-stress feed", version: ToolVersion.text, summary: command.summary,
      commands: [command])
    var options = FeedOptions()
    var arguments = Array(CommandLine.arguments.dropFirst(2))
    options.isSabotaged = arguments.first == "--sabotage"
    if options.isSabotaged { arguments.removeFirst() }
    let parsed = parser.parseOrExit(arguments)
    options.seed = UInt64(try parsed.integer("seed", default: 1, in: 0...Int.max))
    options.count = try parsed.integer("count", default: 1000, in: 0...Int.max)
    options.churn = try parsed.integer("churn", default: 0, in: 0...Int.max)
    options.kills = parsed.has("kills")
    return options
  }

  private static let command = CommandSpec(
    "tarn-stress feed", "Compares what consumers of cursors make of their batches with the file.",
    discussion: """
      Each seed is a file with random commits and consumers that keep copies of its objects. They \
      are opened again without having acknowledged, and with --kills commit and consume in \
      processes that are killed at random points. The exit status is 0 only if all copies equal \
      the file.
      """,
    options: [
      .value("seed", "N", "the first seed (1)"), .value("count", "N", "number of seeds (1000)"),
      .flag("kills", "in processes that are killed"),
      .value("churn", "N", "first make N commits on the same keys beside a slow reader (0)"),
    ])
}
