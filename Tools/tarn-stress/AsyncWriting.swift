import Foundation
import Tarn
import ToolSupport

/// Asynchronous writes in a process that only takes turns.
final class AsyncWriting {
  private let worker: Worker
  private let scheduler = ManualScheduler()
  private let realm: Realm

  init(_ worker: Worker) throws {
    self.worker = worker
    realm = try Realm(configuration: worker.configuration, scheduler: scheduler)
  }

  /// Queues one write and reports its completion.
  func commitOne() throws {
    queueOne()
    WorkerLine.say("ready")
    finish()
  }

  /// The same without turns: the write stays in the queue and never takes the write lock.
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

  /// Makes that many commits, each of which adds an object with its own number and reports its
  /// completion. They may share a sync unless the last argument is "single".
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
