import Foundation
import StressFaults
import Tarn
import TarnStore
import ToolSupport

/// Starts of the daemon during which each of its system calls fails once. Each time it must hand
/// out a change, or end with a message; the next start must hand out changes.
struct FailingDaemon {
  private static let patience = Duration.seconds(30)

  private let folder: String
  /// With the functions of StressFaults.
  private let library: String
  private let fault: CallFault
  private let configuration: Realm.Configuration
  private var path: String { folder + "/notes.realm" }
  private var output: String { folder + "/out.jsonl" }
  private var errors: String { folder + "/errors" }

  init(_ folder: String, _ library: String, _ fault: String) throws {
    guard let fault = CallFault.all.first(where: { $0.name == fault }) else {
      throw UsageError("there is no error '\(fault)'")
    }
    self.folder = folder
    self.library = library
    self.fault = fault
    configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: folder + "/notes.realm"), objectTypes: [SoakNote.self])
  }

  private var settings: String {
    """
    name: calls
    state: \(folder)/state
    watches:
      - name: all
        file: \(path)
        class: SoakNote
        sinks:
          - file: \(output)

    """
  }

  /// - Parameter note: gets the number of a call and what is wrong when it fails.
  /// - Returns: the number of calls, and of starts that ended with an error.
  func run(
    from first: Int, by stride: Int, problem: (Int, String) -> Void
  ) throws -> (calls: Int, refusals: Int) {
    var refusals = 0
    var number = first
    while true {
      try makeFiles()
      let (outcome, calls) = try start(failing: number)
      if let calls, calls < number { return (calls, refusals) }
      switch outcome {
      case .works: break
      case .refuses: refusals += 1
      case .fails(let text): problem(number, text)
      }
      if case .fails(let text) = try start(failing: nil).outcome {
        problem(number, "the next start: \(text)")
      }
      let check = Result { try PowerStore.check(path) }
      if case .failure(let error) = check { problem(number, "\(error)") }
      number += stride
    }
  }

  private func makeFiles() throws {
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(
      atPath: folder + "/state", withIntermediateDirectories: true)
    try Data(settings.utf8).write(to: URL(fileURLWithPath: folder + "/calls.yaml"))
    try commit()
  }

  private func commit() throws {
    let realm = try Realm(configuration: configuration)
    try realm.write {
      realm.create(SoakNote.self, value: ["id": realm.objects(SoakNote.self).count])
    }
  }

  private enum Outcome {
    case works, refuses
    case fails(String)
  }

  /// - Returns: the number of calls; nil if it did not say it.
  private func start(failing number: Int?) throws -> (outcome: Outcome, calls: Int?) {
    unlink(output)
    let count = folder + "/count"
    unlink(count)
    var environment = ["SWIFT_BACKTRACE": "enable=no"]
    if let number {
      environment["LD_PRELOAD"] = library
      environment["TARN_CALLS"] = "\(fault.kinds):\(number):\(fault.number)"
      environment["TARN_CALLS_COUNT"] = count
    }
    let daemon = try ChildProcess(
      OwnProgram.sibling("tarn-daemon"), ["run", "--config", "\(folder)/calls.yaml"],
      environment: environment, errors: errors)
    let hasWorked = try handsOut(daemon)
    daemon.signal(SIGTERM)
    let end = daemon.finish(within: Self.patience).end
    let calls = (try? String(contentsOfFile: count, encoding: .utf8)).flatMap {
      Int($0.dropLast())
    }
    let said = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
    switch end {
    case .exited(0) where hasWorked: return (.works, calls)
    case .exited(let code) where code != 0 && !said.isEmpty: return (.refuses, calls)
    default:
      let text = hasWorked ? "it worked, and ended: \(end)" : "it did not work, and ended: \(end)"
      return (.fails("\(text) \(said.suffix(400))"), calls)
    }
  }

  /// Whether it hands out one of the commits that are made meanwhile.
  private func handsOut(_ daemon: ChildProcess) throws -> Bool {
    let limit = ContinuousClock.now + Self.patience
    while ContinuousClock.now < limit, daemon.poll() == nil {
      var facts = stat()
      if stat(output, &facts) == 0, facts.st_size > 0 { return true }
      try commit()
      usleep(50_000)
    }
    return false
  }
}
