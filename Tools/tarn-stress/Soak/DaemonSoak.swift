import Foundation
import Tarn
import TarnStore
import TarnText
import ToolSupport

/// An object of the soak.
class SoakNote: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var text = ""
  @Persisted var count = 0
}

/// `tarn-stress soak-daemon`: a daemon and a writer, with consumers that are slow or reconnect.
/// Fails if one of them misses a change, or if the daemon's memory grows.
final class DaemonSoak {
  private static let keys = 2_000
  private static let pause: UInt32 = 1_000
  private let options: DaemonSoakOptions
  private let folder: String
  private let path: String
  private let configuration: Realm.Configuration
  private var program: FeedProgram

  init(_ options: DaemonSoakOptions) throws {
    self.options = options
    program = FeedProgram(seed: options.seed)
    var template = Array((NSTemporaryDirectory() + "/tarn-soak-XXXXXX").utf8CString)
    guard let made = mkdtemp(&template) else {
      throw ToolError("cannot make", "a folder", errno: errno)
    }
    folder = String(cString: made)
    path = "\(folder)/notes.tarn"
    configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), objectTypes: [SoakNote.self], durability: .relaxed)
  }

  func run() throws -> ExitCode {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let realm = try Realm(configuration: configuration)
    try Data(settings.utf8).write(to: URL(fileURLWithPath: "\(folder)/soak.yaml"))
    let daemon = try ChildProcess(
      OwnProgram.sibling("tarn-daemon"), ["run", "--config", "\(folder)/soak.yaml"],
      errors: "\(folder)/log")
    let clients = try (0..<8).map { try SoakClient("\(folder)/notes.sock", options.seed &+ $0) }
    var log = SoakLog("\(folder)/out.jsonl")
    var samples: [DaemonSample] = []
    print("tarn-stress soak-daemon: seed \(options.seed), \(options.seconds) s in \(folder)")
    fflush(nil)
    let start = ContinuousClock.now
    var commits = 0
    while ContinuousClock.now - start < .seconds(options.seconds) {
      let second = Int((ContinuousClock.now - start).components.seconds)
      if second >= samples.count {
        samples.append(try DaemonSample(daemon.processID))
        for client in clients { client.disturb() }
        if second % 20 == 19 { log.rotate(daemon) }
        try log.read()
      }
      try commit(realm)
      commits += 1
      usleep(Self.pause)
    }
    let expected = try finish(realm, daemon, &log, clients)
    daemon.signal(SIGTERM)
    let end = daemon.wait()
    guard end == .exited(0) else { throw ToolError("the daemon ended as \(end)") }
    return report(samples, commits, expected, clients)
  }

  /// All kinds of consumers that need no other program.
  private var settings: String {
    """
    name: soak
    state: \(folder)/state
    watches:
      - name: all
        file: \(path)
        class: SoakNote
        sinks:
          - file: \(folder)/out.jsonl
          - {socket: \(folder)/notes.sock, patience: 2s}
      - name: some
        file: \(path)
        class: SoakNote
        where: count > 3
        old-values: true
        delivery: {interval: 200ms, first-retry: 10ms, last-retry: 50ms}
        sinks:
          - exec: [sh, -c, 'cat >/dev/null']
          - {name: failing, exec: [sh, -c, 'test $(($(date +%s) % 3)) = 0']}
          - {name: each, exec: ['true', '{key}']}

    """
  }

  private func commit(_ realm: Realm) throws {
    try realm.write {
      for _ in 0...program.below(4) {
        let id = program.below(Self.keys)
        if program.below(4) == 0, let note = realm.object(ofType: SoakNote.self, forPrimaryKey: id)
        {
          realm.delete(note)
        } else {
          realm.create(
            SoakNote.self,
            value: ["id": id, "text": "t\(program.below(1000))", "count": program.below(6)],
            update: .all)
        }
      }
    }
  }

  /// Waits until every consumer has the last commit, and compares.
  private func finish(
    _ realm: Realm, _ daemon: ChildProcess, _ log: inout SoakLog, _ clients: [SoakClient]
  ) throws -> Int {
    let notes = realm.objects(SoakNote.self)
    let expected = Dictionary(
      uniqueKeysWithValues: notes.map { note in
        ("\(note.id)", "\(note.text) \(note.count)")
      })
    let deadline = ContinuousClock.now + .seconds(60)
    while log.texts != expected {
      guard ContinuousClock.now < deadline, daemon.poll() == nil else {
        throw ToolError("the file sink does not have what the store has")
      }
      usleep(10_000)
      try log.read()
    }
    for client in clients { try client.finish(expected) }
    return expected.count
  }

  private func report(
    _ samples: [DaemonSample], _ commits: Int, _ objects: Int, _ clients: [SoakClient]
  ) -> ExitCode {
    let quarter = samples.count / 4
    let (early, late) = (samples[quarter..<(2 * quarter)], samples[(3 * quarter)...])
    let ends = clients.reduce(0) { $0 + $1.ends }
    print("  commits      \(commits), \(objects) objects at the end, the same at every consumer")
    print("  clients      \(ends) connections ended and were resumed")
    var isFlat = true
    for (title, value, room) in [
      ("memory, kB", \DaemonSample.memory, 2_048), ("descriptors", \.descriptors, 16),
      ("threads", \.threads, 16),
    ] {
      let (before, after) = (
        Self.median(early.map { $0[keyPath: value] }),
        Self.median(late.map { $0[keyPath: value] })
      )
      let grows = after > before + before / 20 + room
      isFlat = isFlat && !grows
      print("  \(padded(title)) \(before) in the second quarter, \(after) in the last")
    }
    print(isFlat ? "  no problems" : "  the daemon grows")
    return isFlat ? .success : .failure
  }

  private func padded(_ title: String) -> String {
    title.padding(toLength: 12, withPad: " ", startingAt: 0)
  }

  private static func median(_ values: [Int]) -> Int {
    values.isEmpty ? 0 : values.sorted()[values.count / 2]
  }
}

/// The resources that the daemon uses at one time.
private struct DaemonSample {
  /// Its own memory, in kilobytes, not the mapped files.
  var memory = 0
  var descriptors = 0
  var threads = 0

  init(_ process: pid_t) throws {
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    for line in status.splitASCII("\n") {
      let words = line.split(whereSeparator: { " \t".contains($0) })
      guard words.count > 1 else { continue }
      if words[0] == "RssAnon:" { memory = Int(words[1]) ?? 0 }
      if words[0] == "Threads:" { threads = Int(words[1]) ?? 0 }
    }
    descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
  }
}

/// A reader of the file sink that renames the file from time to time, as logrotate does.
private struct SoakLog {
  private let path: String
  private var model = LineModel()
  private var offset: UInt64 = 0
  private var isRotated = false

  init(_ path: String) { self.path = path }

  private var former: String { path + ".1" }

  var texts: [String: String] { model.notes }

  /// Reads the lines that are whole.
  mutating func read() throws {
    guard isRotated else {
      offset = try read(path, from: offset)
      return
    }
    // The daemon makes the new file for its next line, after the last one of the former.
    let isReopened = access(path, F_OK) == 0
    offset = try read(former, from: offset)
    guard isReopened else { return }
    unlink(former)
    isRotated = false
    offset = try read(path, from: 0)
  }

  private mutating func read(_ path: String, from offset: UInt64) throws -> UInt64 {
    guard let handle = FileHandle(forReadingAtPath: path) else { return offset }
    defer { try? handle.close() }
    try handle.seek(toOffset: offset)
    let data = try handle.readToEnd() ?? Data()
    guard let end = data.lastIndex(of: 0x0a) else { return offset }
    for line in data[..<end].split(separator: 0x0a) {
      try model.apply(JSONScanner.value(in: String(decoding: line, as: UTF8.self)))
    }
    return offset + UInt64(end - data.startIndex + 1)
  }

  /// Renames the file, as logrotate does.
  mutating func rotate(_ daemon: ChildProcess) {
    guard !isRotated, rename(path, former) == 0 else { return }
    isRotated = true
    daemon.signal(SIGHUP)
  }
}

/// The options of `tarn-stress soak-daemon`.
struct DaemonSoakOptions {
  var seed: UInt64 = 1
  var seconds = 900

  static func fromCommandLine() throws -> DaemonSoakOptions {
    let parser = CommandLineParser(
      program: "tarn-stress soak-daemon", version: ToolVersion.text, summary: command.summary,
      commands: [command])
    let parsed = parser.parseOrExit(Array(CommandLine.arguments.dropFirst(2)))
    return DaemonSoakOptions(
      seed: UInt64(try parsed.integer("seed", default: 1, in: 0...Int.max)),
      seconds: try parsed.integer("seconds", default: 900, in: 8...1_000_000))
  }

  private static let command = CommandSpec(
    "tarn-stress soak-daemon", "Runs a daemon beside a writer, and checks that it does not grow.",
    discussion: """
      A thousand commits a second; a file that is rotated, commands that fail, and clients of a \
      socket that are slow, vanish and come back. The exit status is 0 only if all of them have \
      what the store has, and the daemon's memory, descriptors and threads of the last quarter are \
      those of the second.
      """,
    options: [
      .value("seed", "N", "of the changes (1)"), .value("seconds", "N", "how long it runs (900)"),
    ])
}
