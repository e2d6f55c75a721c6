import Foundation
import StressFaults
import TarnStore
import ToolSupport

/// `tarn-stress worker power-check TRACE FIRST SEED COUNT:END:FOLDER:SABOTAGE`: opens images of a
/// trace, checks each page by page, and compares it with what had been durable.
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
    paths = trace.states.keys.sorted()
  }

  func run() throws {
    // Each image is a copy of the file, which each opener says.
    StoreLog.shared.setHook { _, _ in }
    stress_restart_system()
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
    WorkerLine.say("sum " + tally.sums.map(String.init).joined(separator: " "))
  }

  /// The event during which each image's failure comes: more of them where more is undecided, and
  /// as many where a single write makes a commit durable.
  private func crashes() -> [Int] {
    var disk = CrashDisk(trace)
    disk.isLying = lies
    var sums: [Int] = []
    for (index, event) in trace.events.enumerated() {
      disk.begin(event)
      let isBefore = index < trace.beginning
      let weight = event.isAtOnce ? 30 : min(30, disk.undecided)
      sums.append((sums.last ?? 0) + (isBefore ? 0 : 1 + weight))
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
    let states = trace.states[path]!
    let last = states.lastIndex { $0.durableFrom <= crash }
    let image = disk.image(of: path, torn: sectors, &random)
    guard image != nil || last == nil else {
      throw ToolError("there is no file, but state \(states[last!].transactionID) was durable")
    }
    let own = folder + "/" + (path as NSString).lastPathComponent
    unlink(own)
    // Companions of another file may be there.
    if random.chance(80) { for suffix in ["-lock", "-signal"] { unlink(own + suffix) } }
    try image?.write(to: own)
    let isRefusable = trace.refusableFrom[path] != nil
    let isChanged: Bool
    do {
      let found = try PowerStore.check(own)
      try compare(found, states, last, crash, mayLieBetween: !isRefusable, &tally)
      isChanged = true
    } catch let error as StorageError where isRefusable {
      isChanged = try accept(own, error, states, last, isSettled(path, crash), &tally)
    }
    if isChanged, random.chance(15) { try PowerStore.commit(own) }
  }

  /// - Parameter mayLieBetween: whether it may be a state within a call, which was not noted.
  private func compare(
    _ found: FoundState, _ states: [PowerTrace.State], _ last: Int?, _ crash: Int,
    mayLieBetween: Bool, _ tally: inout PowerTally
  ) throws {
    // From any durable state on: the pages of later ones were not written yet.
    let later = states[(last ?? 0)...]
    if let index = later.firstIndex(where: { $0.digest == found.digest }) {
      if index == last { tally.older += 1 } else { tally.newer += 1 }
    } else if let last {
      let lower = states[last].transactionID
      let upper = later.first { $0.notedFrom > crash }?.transactionID ?? later.last!.transactionID
      guard mayLieBetween, lower < found.transactionID, found.transactionID < upper else {
        throw ToolError(
          "state \(found.transactionID) is not one of those from \(lower) on, which was durable")
      }
      tally.between += 1
    } else {
      tally.missing += 1
    }
  }

  // MARK: - Files whose commits are not synced

  /// Whether everything was durable when the failure came, and nothing was written since.
  private func isSettled(_ path: String, _ crash: Int) -> Bool {
    let durable = trace.states[path]!.map(\.durableFrom).filter { $0 <= crash }.max()
    let begun = trace.refusableFrom[path]!.last { $0 <= crash }
    guard let durable else { return false }
    return begun.map { $0 < durable } ?? true
  }

  /// Gives a file that was refused to the check.
  ///
  /// - Returns: whether it was accepted.
  private func accept(
    _ own: String, _ refusal: StorageError, _ states: [PowerTrace.State], _ last: Int?,
    _ isSettled: Bool, _ tally: inout PowerTally
  ) throws -> Bool {
    let codes: [StorageError.Code] =
      isSettled ? [.uncertain] : [.uncertain, .corrupted, .notAStore]
    guard codes.contains(refusal.code) else { throw refusal }
    tally.refused += 1
    let found: FoundState
    do {
      found = try PowerStore.check(own, accepting: true)
    } catch let error as StorageError where !isSettled && codes.contains(error.code) {
      return false
    }
    if isSettled, let last, !states[last...].contains(where: { $0.digest == found.digest }) {
      throw ToolError(
        "state \(found.transactionID) was accepted, but \(states[last].transactionID) was durable")
    }
    if states.contains(where: { $0.digest == found.digest }) {
      tally.accepted += 1
    } else {
      tally.mixed += 1
    }
    return true
  }
}

/// How many images had which state.
struct PowerTally {
  /// The last one that was durable, and one that was not yet.
  var older = 0
  var newer = 0
  /// One within a call, between two acknowledgements.
  var between = 0
  /// None: nothing had been durable.
  var missing = 0
  /// It could only be opened by `accept`: how often; how often that gave a state that the file had,
  /// and another one.
  var refused = 0
  var accepted = 0
  var mixed = 0

  var sums: [Int] { [older, newer, between, missing, refused, accepted, mixed] }
}

typealias FoundState = (transactionID: UInt64, digest: UInt64)

/// The work on an image.
enum PowerStore {
  static func open(_ path: String, accepting accepts: Bool = false) throws -> Store {
    var options = Store.Options()
    options.adoptsClasses = false
    options.acceptsUncertain = accepts
    return try StoreRegistry.open(path, options)
  }

  static func version(_ path: String) throws -> UInt64 {
    try open(path).newestSnapshot().version.rawValue
  }

  /// The whole check of `tarn inspect`, and the state found.
  static func check(_ path: String, accepting accepts: Bool = false) throws -> FoundState {
    let store = try open(path, accepting: accepts)
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
