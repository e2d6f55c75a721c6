import Foundation
import Tarn
import ToolSupport

/// Writes that nobody waits for, in a process that only takes turns.
final class AsyncWriting {
  private let worker: Worker
  private let scheduler = ManualScheduler()
  private let realm: Realm

  init(_ worker: Worker) throws {
    self.worker = worker
    realm = try Realm(configuration: worker.configuration, scheduler: scheduler)
  }

  /// One queued write, told of when it is through.
  func commitOne() throws {
    queueOne()
    WorkerLine.say("ready")
    finish()
  }

  /// The same, but its turns never come: it stands in line and takes nothing.
  func standInLine() throws {
    queueOne()
    scheduler.pump()
    WorkerLine.say("ready")
    while true { sleep(1000) }
  }

  private func queueOne() {
    let writing = StressWriting(worker, realm)
    var sequence = 0
    realm.writeAsync {
      sequence = writing.change(with: { $0.transfer() })
    } onComplete: { error in
      if let error { WorkerLine.bad("\(error)") }
      WorkerLine.say("ack \(sequence)")
    }
  }

  /// So many commits, of which each leaves an object with a number of its own, and is told of when
  /// its completion comes. They may share a sync unless the last word is "single".
  func commitMany() throws {
    let mayShare = worker.sabotage != "single"
    WorkerLine.say("ready")
    for id in 1...max(1, worker.number) {
      realm.beginAsyncWrite { [realm] in
        realm.create(StressWriter.self, value: ["id": StressStore.firstDoneID + id, "sequence": 1])
        realm.object(ofType: StressTotal.self, forPrimaryKey: 0)!.commits += 1
        realm.commitAsyncWrite(allowGrouping: mayShare) { error in
          if let error { WorkerLine.bad("\(error)") }
          WorkerLine.say("done \(id)")
        }
      }
    }
    finish()
  }

  private func finish() {
    scheduler.pump()
    while realm.isPerformingAsynchronousWriteOperations {
      scheduler.wait(timeout: 10)
      scheduler.pump()
    }
  }
}
