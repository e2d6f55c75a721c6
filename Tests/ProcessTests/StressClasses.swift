import CTarn
import Foundation
import Tarn
import TestSupport
import Testing
import ToolSupport

@testable import TarnStore

// The classes of the tool's workers, as this process sees them in the same files.

class StressAccount: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var balance = 0
  @Persisted var note = ""
  @Persisted var partner: StressAccount?
}

class StressWriter: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var sequence = 0
}

class StressTotal: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var commits = 0
  @Persisted var accounts = 0
  @Persisted var nextAccount = 0
}

/// A folder with a filled file, gone with everything in it when the test lets go of it.
final class StressFile {
  static let number = 99

  private let position = TemporaryFolder()
  private let isDurable: Bool
  var folder: String { position.path }
  var path: String { position.file("x.realm") }

  init(isFilled: Bool = true, isDurable: Bool = false) throws {
    self.isDurable = isDurable
    if isFilled { try fill(path, isDurable: isDurable) }
  }

  /// - Parameter isDurable: the workers then wait for the disk at every commit.
  func fill(_ path: String, isDurable: Bool = false) throws {
    let (lines, end) = try StressTool.worker("fill", path, isDurable ? "1" : "0").finish()
    precondition(end == .exited(0), "\(lines)")
  }

  static func configuration(_ path: String) -> Realm.Configuration {
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: path),
      objectTypes: [StressAccount.self, StressWriter.self, StressTotal.self])
    configuration.durability = .relaxed
    return configuration
  }

  /// As this process opens the file.
  var configuration: Realm.Configuration {
    var configuration = Self.configuration(path)
    if isDurable { configuration.durability = .full }
    return configuration
  }

  /// This process's view of the file.
  func open() throws -> Realm {
    try Realm(configuration: configuration, scheduler: ManualScheduler())
  }

  /// Waits until so many writers of all processes stand in the queue of the gate. They tell no one,
  /// so the queue is looked at; the limit only ends a hang.
  func untilWaiting(_ count: Int) throws {
    let gate = try store().gate
    let limit = ContinuousClock.now + ChildProcess.patience
    while true {
      let found = (0..<SignalLayout.waiterCount).count { tarn_load64(gate.waiter($0)) != 0 }
      if found >= count { return }
      try #require(ContinuousClock.now < limit, "only \(found) wait for the gate")
      sched_yield()
    }
  }

  /// The engine's object behind it.
  func store() throws -> Store {
    var options = Store.Options()
    options.isDurable = isDurable
    return try StoreRegistry.open(path, options)
  }

  var bytes: Data { (try? Data(contentsOf: URL(fileURLWithPath: path))) ?? Data() }
}

extension Realm {
  var total: StressTotal { object(ofType: StressTotal.self, forPrimaryKey: 0)! }

  /// How many writes the file has seen, as this Realm shows it.
  var commits: Int { total.commits }

  /// What a killed writer must never leave: half of a transfer, a count that does not fit.
  var problem: String? {
    let accounts = objects(StressAccount.self)
    let sum = accounts.reduce(0) { $0 + $1.balance }
    if sum != 12_000 { return "the balances are \(sum) in all" }
    if accounts.count != total.accounts { return "\(accounts.count) accounts, not as counted" }
    let sequences = objects(StressWriter.self).reduce(0) { $0 + $1.sequence }
    return sequences == commits ? nil : "\(sequences) writes by the writers, \(commits) in all"
  }

  /// One write that keeps all promises of the workers' writes.
  func commitOne(_ body: () -> Void = {}) throws {
    try write {
      let number = StressFile.number
      let mine =
        object(ofType: StressWriter.self, forPrimaryKey: number)
        ?? create(StressWriter.self, value: ["id": number])
      mine.sequence += 1
      total.commits += 1
      body()
    }
  }

  func account(_ id: Int) -> StressAccount {
    object(ofType: StressAccount.self, forPrimaryKey: id)!
  }
}

extension ChildProcess {
  /// Waits until an observer has seen the version; false if it did not, however long that took.
  func reached(_ commits: Int) -> Bool {
    line { $0 == "seen \(commits)" } != nil
  }
}
