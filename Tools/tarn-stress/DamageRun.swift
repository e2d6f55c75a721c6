import Foundation
import Synchronization
import TarnStore
import ToolSupport

/// Runs `tarn`'s commands on damaged copies of stores, and counts the outcomes.
struct DamageRun {
  private let options: DamageOptions
  private let folder: String
  private let tarn: String

  init(_ options: DamageOptions) throws {
    self.options = options
    tarn = OwnProgram.sibling("tarn")
    // These files need not survive a power failure.
    let memory = "/dev/shm"
    let parent =
      access(memory, W_OK) == 0 && ProcessInfo.processInfo.environment["TMPDIR"] == nil
      ? memory : NSTemporaryDirectory()
    folder = (parent as NSString).appendingPathComponent("tarn-damage-\(getpid())")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  func run() throws -> ExitCode {
    print("seed \(options.seed), \(options.count) damaged files in \(folder)")
    let stores = try makeStores()
    let tally = Lock(DamageTally())
    let next = Atomic<Int>(0)
    let failure = Lock<(any Error)?>(nil)
    let (options, folder, tarn) = (options, folder, tarn)
    DispatchQueue.concurrentPerform(iterations: options.only == nil ? options.jobs : 1) { job in
      do {
        while true {
          let number = options.only ?? next.add(1, ordering: .relaxed).oldValue
          guard number < options.count || options.only != nil else { return }
          let copy = DamagedCopy(
            folder: folder + "/\(job)", tarn: tarn, number: number, seed: options.seed)
          let outcome = try copy.run(stores, keeps: options.only != nil)
          tally.withLock { $0.add(outcome, of: options) }
          if options.only != nil { return }
        }
      } catch {
        failure.withLock { $0 = error }
      }
    }
    if let error = failure.withLock({ $0 }) { throw error }
    if options.only == nil { try FileManager.default.removeItem(atPath: folder) }
    return tally.withLock { $0.report() }
  }

  /// Two small stores and a large one.
  private func makeStores() throws -> [DamageMap] {
    var random = StressRandom(options.seed)
    return try [false, false, true].enumerated().map { number, isLarge in
      DamageMap(
        try DamageStore(path: folder + "/sound-\(number)", isLarge: isLarge, random: &random))
    }
  }
}

/// The outcome of the commands on one damaged copy.
struct DamageOutcome {
  var title: String
  /// How each command ended, in words.
  var ends: [(command: String, end: String)] = []
  /// Forbidden outcomes, one sentence each.
  var faults: [String] = []
  /// The errors that commands reported.
  var complaints: [String] = []
}

/// The sums over all copies.
struct DamageTally {
  private var files = 0
  private var ends: [String: [String: Int]] = [:]
  private var complaints: [String: Int] = [:]
  private var faults = 0
  private var unnoticed = 0

  mutating func add(_ outcome: DamageOutcome, of options: DamageOptions) {
    files += 1
    if files % 500 == 0 { print("\(files) of \(options.count), \(faults) faults") }
    for (command, end) in outcome.ends { ends[command, default: [:]][end, default: 0] += 1 }
    for text in outcome.complaints { complaints[Self.kind(of: text), default: 0] += 1 }
    if outcome.complaints.isEmpty { unnoticed += 1 }
    for fault in outcome.faults { print("FAULT \(outcome.title): \(fault)") }
    faults += outcome.faults.count
    // So that each line appears in a log at once.
    fflush(nil)
  }

  /// The complaint without its numbers and names.
  private static func kind(of text: String) -> String {
    var kind = ""
    for character in text.prefix(160) {
      if character.isNumber {
        if kind.last != "#" { kind.append("#") }
      } else {
        kind.append(character)
      }
    }
    return kind
  }

  func report() -> ExitCode {
    print("\(files) files, \(unnoticed) of them without a complaint")
    for (command, ends) in ends.sorted(by: { $0.key < $1.key }) {
      let list = ends.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
      print("  \(command): \(list.joined(separator: ", "))")
    }
    for (text, count) in complaints.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) })
      .prefix(60)
    {
      print("  \(count) x \(text)")
    }
    print(faults == 0 ? "no faults" : "\(faults) faults")
    return faults == 0 ? .success : .failure
  }
}
