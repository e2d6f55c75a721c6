import Foundation
import Tarn
import TarnStore
import ToolSupport

/// The row by whose changes latency is measured.
class SoakPulse: Object {
  @Persisted(primaryKey: true) var id = 0
  /// Monotonic nanoseconds.
  @Persisted var sent = 0

  static var now: Int {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return now.tv_sec * 1_000_000_000 + now.tv_nsec
  }
}

extension Worker {
  fileprivate var pulseConfiguration: Realm.Configuration {
    var configuration = configuration
    configuration.objectTypes?.append(SoakPulse.self)
    return configuration
  }

  fileprivate var isToEnd: Bool { access(path + ".end", F_OK) == 0 }
}

/// Changes one row twice a second, and reports how long each write took.
struct SoakPulsing {
  private let worker: Worker

  init(_ worker: Worker) { self.worker = worker }

  func run() throws {
    let realm = try Realm(configuration: worker.pulseConfiguration)
    let pulse = try realm.write {
      realm.create(SoakPulse.self, value: ["id": 0], update: .modified)
    }
    while !worker.isToEnd {
      let start = SoakPulse.now
      do {
        try realm.write { pulse.sent = SoakPulse.now }
        WorkerLine.say("took \((SoakPulse.now - start) / 1000)")
      } catch let error as Realm.Error where error.code == .outOfDiskSpace {
        WorkerLine.say("full")
      }
      usleep(500_000)
    }
  }
}

/// Reports how long after its write it has each change of the row.
final class SoakListening {
  private let worker: Worker
  private let scheduler = ManualScheduler()
  private var isOutdated = false

  init(_ worker: Worker) { self.worker = worker }

  func run() throws {
    let realm = try Realm(configuration: worker.pulseConfiguration, scheduler: scheduler)
    let token = realm.objects(SoakPulse.self).observe { [unowned self] change in
      switch change {
      case .initial: break
      case .update(let pulses, _, _, _):
        if let pulse = pulses.first {
          WorkerLine.say("took \((SoakPulse.now - pulse.sent) / 1000)")
        }
      case .error: isOutdated = true
      }
    }
    while !worker.isToEnd, !isOutdated {
      scheduler.wait(timeout: 0.2)
      scheduler.pump()
    }
    if isOutdated { WorkerLine.say("outdated") }
    token.invalidate()
  }
}

/// Copies the file now and then, and checks each copy wholly.
struct SoakCopying {
  private let worker: Worker

  init(_ worker: Worker) { self.worker = worker }

  func run() throws {
    let copy = "\(worker.path).copy\(worker.number)"
    while !worker.isToEnd {
      do {
        try check(copy)
      } catch let error as Realm.Error where error.code == .outOfDiskSpace {
        WorkerLine.say("full")
      }
      for name in [copy, copy + "-lock", copy + "-signal"] { unlink(name) }
      for _ in 0..<20 where !worker.isToEnd { usleep(250_000) }
    }
  }

  private func check(_ copy: String) throws {
    let start = SoakPulse.now
    try Realm(configuration: worker.configuration).writeCopy(toFile: URL(fileURLWithPath: copy))
    WorkerLine.say("took \((SoakPulse.now - start) / 1000)")
    var configuration = worker.configuration
    configuration.fileURL = URL(fileURLWithPath: copy)
    let realm = try Realm(configuration: configuration)
    let problem = StressStore.problem(realm) ?? StressStockCheck(seed: worker.seed).problem(realm)
    if let problem { WorkerLine.bad("a copy: \(problem)") }
    guard let store = StoreRegistry.store(at: .file(copy)) else { return }
    let found = try StoreCheck(store.newestSnapshot(), pages: store.environment.verifyPages())
    if let problem = found.problems.first { WorkerLine.bad("a copy: \(problem)") }
  }
}
