import Foundation
import StressFaults
import TarnStore
import ToolSupport

/// `tarn-stress worker power-check TRACE FIRST SEED COUNT:END:FOLDER:SABOTAGE`: opens images of a
/// trace, checks each page by page, and compares it with what had been acknowledged.
///
/// It says `at N` before image N, which ends this process if the engine crashes on it, and `bad N`
/// with each problem.
struct PowerCheck {
  private let trace: PowerTrace
  private let seed: UInt64
  private let count: Int
  private let range: Range<Int>
  private let folder: String
  /// Not of any medium: only the tool's test uses it.
  private let tears: Bool
  private let lies: Bool
  private let paths: [String]

  init(_ worker: Worker) throws {
    trace = try PowerTrace(worker.path)
    let parts = (worker.sabotage ?? "").splitASCII(":", omittingEmpty: false).map(String.init)
    guard parts.count > 3, let count = Int(parts[0]), let end = Int(parts[1]) else {
      throw ToolError("power-check needs COUNT:END:FOLDER:SABOTAGE")
    }
    self.count = count
    range = worker.number..<end
    folder = parts[2]
    (tears, lies) = (parts[3] == "tear", parts[3] == "lie")
    seed = worker.seed
    paths = trace.acknowledged.keys.sorted()
  }

  func run() throws {
    // Each image is a copy of the file, which each opener says.
    StoreLog.shared.setHook { _, _ in }
    var disk = CrashDisk(trace)
    disk.isLying = lies
    var next = 0
    var tally = PowerTally()
    let crashes = crashes()
    for number in range {
      let crash = crashes[number]
      while next <= crash {
        if next > 0 { disk.finish(trace.events[next - 1]) }
        disk.begin(trace.events[next])
        next += 1
      }
      WorkerLine.say("at \(number)")
      var random = StressRandom(seed &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(number))
      let path = paths[random.below(paths.count)]
      do {
        try check(path, crash, disk, &random, &tally)
      } catch {
        WorkerLine.say("bad \(number) crash at event \(crash), \(path): \(error)")
      }
    }
    WorkerLine.say("sum \(tally.older) \(tally.newer) \(tally.between) \(tally.missing)")
  }

  /// The event during which each image's failure comes: more of them where more is undecided.
  private func crashes() -> [Int] {
    var disk = CrashDisk(trace)
    disk.isLying = lies
    var sums: [Int] = []
    for (index, event) in trace.events.enumerated() {
      disk.begin(event)
      let isBefore = index < trace.beginning
      sums.append((sums.last ?? 0) + (isBefore ? 0 : 1 + min(30, disk.undecided)))
      disk.finish(event)
    }
    var event = 0
    return (0..<count).map { number in
      while sums[event] <= number * (sums.last ?? 0) / count { event += 1 }
      return event
    }
  }

  private func check(
    _ path: String, _ crash: Int, _ disk: CrashDisk, _ random: inout StressRandom,
    _ tally: inout PowerTally
  ) throws {
    let sectors = tears ? 8 : random.chance(50) ? 512 : 4096
    let told = trace.acknowledged[path]!
    let last = told.lastIndex { $0.event <= crash }
    let image = disk.image(of: path, torn: sectors, &random)
    guard image != nil || last == nil else {
      throw ToolError("there is no file, but state \(told[last!].transactionID) was acknowledged")
    }
    let own = folder + "/" + (path as NSString).lastPathComponent
    unlink(own)
    // Companions of another file may be there.
    if random.chance(80) { for suffix in ["-lock", "-signal"] { unlink(own + suffix) } }
    if image == nil { tally.missing += 1 }
    try image?.write(to: own)
    let found = try PowerStore.check(own)
    // From any acknowledged state on: the pages of later ones were not written yet.
    let later = told[(last ?? 0)...]
    if let index = later.firstIndex(where: { $0.digest == found.digest }) {
      if index == last { tally.older += 1 } else { tally.newer += 1 }
    } else if let last {
      let lower = told[last].transactionID
      let upper = last + 1 < told.count ? told[last + 1].transactionID : lower
      guard lower < found.transactionID, found.transactionID < upper else {
        throw ToolError(
          "state \(found.transactionID) is not one of those from \(lower) on, which was "
            + "acknowledged")
      }
      tally.between += 1
    } else {
      tally.missing += 1
    }
    if random.chance(15) { try PowerStore.commit(own) }
  }
}

/// How many images had which state.
struct PowerTally {
  /// The last one that was acknowledged, and one that was not yet.
  var older = 0
  var newer = 0
  /// One within a call, between two acknowledgements.
  var between = 0
  /// None: nothing had been acknowledged.
  var missing = 0
}

/// The work on an image.
enum PowerStore {
  static func open(_ path: String) throws -> Store {
    var options = Store.Options()
    options.adoptsClasses = false
    return try StoreRegistry.open(path, options)
  }

  static func version(_ path: String) throws -> UInt64 {
    try open(path).newestSnapshot().version.rawValue
  }

  /// The whole check of `tarn inspect`, and the state found.
  static func check(_ path: String) throws -> (transactionID: UInt64, digest: UInt64) {
    let store = try open(path)
    let snapshot = try store.newestSnapshot()
    let check = try StoreCheck(snapshot, pages: store.environment.verifyPages())
    guard check.problems.isEmpty else {
      throw ToolError("damaged: " + check.problems.joined(separator: "; "))
    }
    return (snapshot.transaction.transactionID, try StoreDigest.of(snapshot.transaction))
  }

  /// Deletes some objects of each class, and adds some where that is possible: the next commit.
  static func commit(_ path: String) throws {
    let store = try open(path)
    let token = try store.acquireGate()
    let session = WriteSession(try SnapshotReader(store.newestSnapshot())) {}
    for described in session.schema.schema.classes where !described.isEmbedded {
      for key in try keys(described.id, store) { _ = try session.delete(key, in: described.id) }
    }
    try store.commit(session, token)
    _ = try check(path)
  }

  private static func keys(_ id: ClassID, _ store: Store) throws -> [ObjectKey] {
    var keys: [ObjectKey] = []
    try SnapshotReader(store.newestSnapshot()).forEachCluster(in: id) {
      cluster throws(StorageError) in
      keys.append(cluster.image.key(at: 0))
      return keys.count < 5
    }
    return keys
  }
}
