import Foundation
import Tarn
import ToolSupport

/// `tarn-stress worker damage FILE COUNT SEED RANGES`: opens damaged copies of a file, each in a
/// separate process, and reports the outcomes.
///
/// RANGES are byte offsets in the file, `from-to,from-to`; each copy has one bit there flipped.
/// With `cut` instead of ranges, the copies are cut after each page in turn. One line per copy: the
/// damage, then one of
///
///     fine                     opened, read, written, and read again
///     error CODE MESSAGE       a Realm.Error
///     trap MESSAGE             ended by a trap with a message of Tarn
///     crash SIGNAL MESSAGE     ended by a signal
///     hang                     took more than five minutes
struct DamageWorker {
  let worker: Worker
  private let sound: Data
  private let copy: String

  init(_ worker: Worker) throws {
    self.worker = worker
    sound = try Data(contentsOf: URL(fileURLWithPath: worker.path))
    copy = worker.path + ".damaged"
  }

  func run() throws {
    guard let what = worker.sabotage, what != "cut" else { return try cut() }
    let ranges = what.splitASCII(",").map { text in
      let ends = text.splitASCII("-").compactMap { Int($0) }
      return ends[0]..<ends[1]
    }
    var random = StressRandom(worker.seed)
    for _ in 0..<worker.number {
      let range = ranges[random.below(ranges.count)]
      let at = range.lowerBound + random.below(range.count)
      let bit = random.below(8)
      var bytes = sound
      bytes[at] ^= 1 << UInt8(bit)
      try attempt("\(at).\(bit)", bytes)
    }
  }

  private func cut() throws {
    for pages in 0..<(sound.count / 4096) {
      try attempt("\(pages) pages", sound.prefix(pages * 4096))
      try attempt("\(pages) pages and a half", sound.prefix(pages * 4096 + 2048))
    }
  }

  private func attempt(_ name: String, _ bytes: Data) throws {
    for suffix in ["-lock", "-signal", ".said"] { unlink(copy + suffix) }
    try bytes.write(to: URL(fileURLWithPath: copy))
    let child = try ChildProcess(
      "/proc/self/exe", ["worker", "try", copy],
      environment: ["SWIFT_BACKTRACE": "enable=no"])
    let limit = ContinuousClock.now + ChildProcess.patience
    var said: [String] = []
    while child.isOpen, ContinuousClock.now < limit {
      child.waitForOutput(milliseconds: 100)
      said += child.lines()
    }
    if child.isOpen {
      child.signal(SIGKILL)
      child.wait()
      return WorkerLine.say("\(name): hang")
    }
    let message = (try? String(contentsOfFile: copy + ".said", encoding: .utf8)) ?? ""
    WorkerLine.say("\(name): \(outcome(child.wait(), said, message))")
  }

  private func outcome(_ end: ChildProcess.End, _ said: [String], _ message: String) -> String {
    let lines = message.splitASCII("\n").map(String.init)
    // Warnings may come before it: the file is a copy.
    let first = lines.first { $0.contains("Fatal error") } ?? lines.first ?? ""
    switch end {
    case .exited(0): return said.last ?? "silence"
    case .exited(let code): return "crash exit \(code) \(said) \(first)"
    case .killed(let signal):
      let isOurs = first.contains("Tarn/") && signal != SIGSEGV && signal != SIGBUS
      return isOurs ? "trap \(first)" : "crash \(signal) \(first)"
    }
  }

  /// Runs in a process that may crash: everything that a program does with a file.
  static func tryAll(_ path: String) {
    let said = open(path + ".said", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    dup2(said, STDERR_FILENO)
    do {
      let realm = try Realm(configuration: StressStore.configuration(path))
      var count = readAll(realm)
      let worker = Worker(["", path, "5"])
      // If a bit turned a row into another one, a writer would only report that.
      let hasShelves = (0..<StressShelf.shelves).allSatisfy {
        realm.object(ofType: StressShelf.self, forPrimaryKey: $0) != nil
      }
      if hasShelves, realm.object(ofType: StressTotal.self, forPrimaryKey: 0) != nil {
        let writing = StressWriting(worker, realm)
        for _ in 0..<10 { _ = try writing.write { $0.change(1) } }
        count = readAll(realm)
      }
      WorkerLine.say("fine \(count)")
    } catch let error as Realm.Error {
      WorkerLine.say("error \(error.code) \(error.message)")
    } catch {
      WorkerLine.say("error other \(error)")
    }
  }

  private static func readAll(_ realm: Realm) -> Int {
    let accounts = realm.objects(StressAccount.self)
    var bytes = 0
    for account in accounts {
      bytes &+= account.id &+ account.balance &+ account.note.utf8.count
      bytes &+= account.partner?.balance ?? 0
    }
    return bytes &+ accounts.sorted(by: \.note).where { $0.balance > 10 }.count
  }
}
