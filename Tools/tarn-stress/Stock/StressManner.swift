import Foundation
import StressFaults
import Tarn
import TarnStore
import ToolSupport

/// The kinds of writers of a stress run.
enum WriterManner: String, CaseIterable {
  case plain, async, otherUser, smallMap, forking
}

/// The kinds of observers of a stress run.
enum ObserverManner: String, CaseIterable {
  case plain, consumer, readOnly, otherUser
}

extension Worker {
  /// The user of the kinds that are not root: Debian's `nobody`.
  static let otherUser: UInt32 = 65_534

  /// The kind that the stress run wants, which is after the sabotage.
  func write() throws {
    try adopt()
    let store = manner == WriterManner.smallMap.rawValue ? try openSmall() : nil
    if manner == WriterManner.async.rawValue {
      try StressQueueing(self).run()
    } else {
      try StressWriting(self, Realm(configuration: configuration)).run()
    }
    withExtendedLifetime(store) {}
  }

  func observe() throws {
    try adopt()
    if manner == ObserverManner.consumer.rawValue {
      try StressConsuming(self).run()
    } else {
      try StressObserving(self).run()
    }
  }

  /// Changes the user of the process if its kind wants that.
  private func adopt() throws {
    guard manner == WriterManner.otherUser.rawValue else { return }
    let code = stress_become(Self.otherUser)
    if code != 0 { throw ToolError("cannot become", "user \(Self.otherUser)", errno: code) }
  }

  /// Opens the store with a map of a mebibyte, which the file soon outgrows.
  private func openSmall() throws -> Store {
    var options = Store.Options()
    options.isDurable = configuration.durability != .relaxed
    options.mapBudget.byteCount = 0
    options.mapBudget.smallMapByteCount = 1 << 20
    return try StoreRegistry.open(path, options)
  }

  /// Runs a worker of the stress run. One that has the classes of before a migration, or was
  /// started while the disk was full, ends, and the run starts another.
  func runTolerantly(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as Realm.Error where error.code == .schemaMismatch {
      WorkerLine.say("outdated")
    } catch let error as Realm.Error where error.code == .outOfDiskSpace {
      WorkerLine.say("full")
    }
  }
}

/// How fast a worker works, and whether its clock jumps: as a file beside the store says, with the
/// milliseconds of a pause after each commit.
struct StressPace {
  private let pause: UInt32?
  private var random: StressRandom

  init(_ worker: Worker) {
    let text = try? String(contentsOfFile: Self.file(worker.path), encoding: .utf8)
    pause = text.flatMap { UInt32($0) }
    random = StressRandom(worker.seed)
  }

  private static func file(_ path: String) -> String { path + ".pace" }

  static func set(_ path: String, milliseconds: Int) throws {
    try String(milliseconds).write(toFile: file(path), atomically: true, encoding: .utf8)
  }

  mutating func rest() {
    guard let pause else { return }
    if random.below(50) == 0 { stress_jump_clock(Int64(random.below(4) - 2) * 86_400 * 400) }
    usleep(pause * 1000 + UInt32(random.below(1000)))
  }
}
