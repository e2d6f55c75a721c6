import Foundation
import StressFaults
import Tarn
import ToolSupport

/// A writer that queues its writes, some of which share a transaction, and acknowledges each when
/// its completion is called.
final class StressQueueing {
  /// How many writes are queued at a time.
  static let queuedMax = 4
  private let worker: Worker
  private let scheduler = ManualScheduler()
  private let realm: Realm
  private let writing: StressWriting
  private var random: StressRandom
  private var pace: StressPace
  private var count = 0
  private var failure: Realm.Error?

  init(_ worker: Worker) throws {
    self.worker = worker
    realm = try Realm(configuration: worker.configuration, scheduler: scheduler)
    writing = StressWriting(worker, realm)
    random = StressRandom(worker.seed)
    pace = StressPace(worker)
  }

  func run() throws {
    WorkerLine.say("start \(writing.sequence)")
    while failure == nil, !writing.isToldToStop() {
      if random.below(50) == 0 { stress_fail_next(stress_pages, ENOSPC) }
      let mayShare = random.chance(60)
      for _ in 0...random.below(Self.queuedMax) { queueOne(mayShare: mayShare) }
      scheduler.pump()
      while realm.isPerformingAsynchronousWriteOperations {
        scheduler.wait(timeout: 10)
        scheduler.pump()
      }
      pace.rest()
    }
    if let failure { throw failure }
    WorkerLine.say("stopped \(writing.sequence)")
  }

  private func queueOne(mayShare: Bool) {
    count += 1
    let number = count
    realm.beginAsyncWrite(timeout: ChildProcess.patience) { [self] in
      let done = writing.change { $0.change(number) }
      realm.commitAsyncWrite(allowGrouping: mayShare) { [self] error in
        if let error { note(error) } else { WorkerLine.say("ack \(done)") }
      }
    } onFailure: { [self] in
      note($0)
    }
  }

  private func note(_ error: any Error) {
    switch error as? Realm.Error {
    case let error? where error.code == .outOfDiskSpace: WorkerLine.say("full")
    case let error? where error.code == .schemaMismatch: failure = error
    default: WorkerLine.bad("an asynchronous write: \(error)")
    }
  }
}
