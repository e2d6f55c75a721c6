import BenchFloors
import Foundation
import Tarn
import ToolSupport

/// The parts of workloads that run in a separate process.
enum BenchChild {
  /// The first argument of such a process.
  static let word = "child-of-tarn-bench"

  static func start(_ arguments: [String]) throws -> (Process, Pipe) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [word] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    return (process, pipe)
  }

  /// Starts one without output that ends when `life` is closed.
  static func start(_ arguments: [String], until life: Pipe) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [word] + arguments
    process.standardInput = life.fileHandleForReading
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    return process
  }

  static func run(_ arguments: [String]) -> Never {
    do {
      switch arguments.first {
      case "observe":
        try floor(bf_run_on(Int32(arguments[4]) ?? -1))
        try observe(arguments[1], arguments[2], Int(arguments[3]) ?? 0)
      case "pass": try pass(arguments[1], arguments[2], Int(arguments[3]) ?? 0)
      case "follow":
        try follow(arguments[1], arguments[2], Int(arguments[3]) ?? 0, of: Int(arguments[4]) ?? 1)
      case "tickets":
        let numbers = arguments[4...].compactMap { Int($0) }
        try watchTickets(
          arguments[1], arguments[2], arguments[3], seat: numbers[0], of: numbers[1],
          groups: numbers[2])
      case "open": try open(arguments[1], arguments[2], Int(arguments[3]) ?? 1)
      default: throw ToolError("unknown part")
      }
      exit(ExitCode.success.rawValue)
    } catch {
      try? FileHandle.standardError.write(contentsOf: Data("tarn-bench: \(error)\n".utf8))
      exit(ExitCode.failure.rawValue)
    }
  }

  static func configuration(_ path: String) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), objectTypes: [Person.self, Ping.self],
      durability: .relaxed)
  }

  /// W10: opens the file repeatedly, closing everything in between, and prints the median in
  /// seconds. Another file with the same classes was opened before.
  private static func open(_ path: String, _ other: String, _ id: Int) throws {
    for _ in 0..<2 { _ = try Realm(configuration: configuration(other)) }
    var sum = 0
    func once() throws -> Double {
      try benchTime {
        let realm = try Realm(configuration: configuration(path))
        sum += realm.object(ofType: Person.self, forPrimaryKey: id)?.age ?? -1000
      }
    }
    _ = try once()
    let median = try Statistics.median(of: 21) { try once() }
    guard sum >= 0 else { throw ToolError("the person is missing") }
    try FileHandle.standardOutput.write(contentsOf: Data("\(median)\n".utf8))
  }
}

/// W10: opens a file of all persons and reads one, in a process that has opened files before.
/// Includes checking the file, opening LMDB, checking the schema against the classes, the instance,
/// a snapshot, one object, and closing everything.
func measureOpening(_ bench: Bench) throws {
  let stores = try bench.stores()
  let (child, pipe) = try BenchChild.start([
    "open", bench.configuration("main").fileURL!.path, "\(bench.folder)/other.realm",
    String(bench.objects),
  ])
  let output = pipe.fileHandleForReading.readDataToEndOfFile()
  child.waitUntilExit()
  let text = String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  guard let ours = Double(text) else { throw ToolError("the process that opens files failed") }
  let floors = try bench.alternate([
    { try seconds { bf_lmdb_reopen(stores.lmdb, $0) } },
    { try seconds { bf_sqlite_reopen(stores.sqlite, $0) } },
  ])
  bench.add(
    BenchFigure(
      "W10", "open a file of \(amount(bench.objects)) objects, find one", .seconds, ours: ours,
      floor: floors[0], sqlite: floors[1], target: .value(0.5e-3)))
}

/// W13: opens a file again that is open in this process, in a program of 160 classes that lists
/// none of them.
func measureReopening(_ bench: Bench) throws {
  let configuration = Realm.Configuration(
    fileURL: URL(fileURLWithPath: "\(bench.folder)/again.realm"), durability: .relaxed)
  let first = try Realm(configuration: configuration)
  guard first.schema.objectSchema.count >= 160 else { throw ToolError("classes are missing") }
  let openings = bench.rounds(20_000, tiny: 200)
  var same = 0
  let medians = try bench.alternate([
    {
      try benchTime {
        for _ in 0..<openings where try Realm(configuration: configuration) == first { same += 1 }
      } / Double(openings)
    }
  ])
  guard same % openings == 0, same > 0 else { throw ToolError("another instance was opened") }
  bench.add(
    BenchFigure(
      "W13", "try Realm() of an open file, 160 classes", .seconds, ours: medians[0],
      target: .value(5e-6)))
}
