import Foundation
import Tarn
import ToolSupport

/// A consumer of a cursor: keeps a copy of all stocks in a file, verifies it after each batch, and
/// acknowledges then.
final class StressConsuming {
  private struct Copies: Codable {
    var commits = -1
    /// The steps of each stock.
    var steps: [Int: Int] = [:]
    var items: [Int: StockModel.Item] = [:]
    var position: ChangePosition?
  }

  private let worker: Worker
  private let scheduler = ManualScheduler()
  private let realm: Realm
  private var copies = Copies()
  private var models: [Int: StockModel] = [:]
  private var updates = 0
  private var said = -1

  init(_ worker: Worker) throws {
    self.worker = worker
    realm = try Realm(configuration: worker.configuration, scheduler: scheduler)
    if let data = try? Data(contentsOf: file) {
      copies = try JSONDecoder().decode(Copies.self, from: data)
    }
  }

  private var file: URL { URL(fileURLWithPath: "\(worker.path).consumer\(worker.number)") }
  /// Some give back the position that they keep with their copies, the others begin where the file
  /// has them.
  private var keepsPosition: Bool { worker.number / ObserverManner.allCases.count % 2 == 0 }

  func run() throws {
    let cursor = try realm.cursor(
      "consumer \(worker.number)",
      of: .objects(of: StressTotal.self).adding(.objects(of: StressStock.self))
        .adding(.objects(of: StressItem.self)),
      startingAt: .snapshot, keeping: keepsPosition ? nil : .oldValues,
      expecting: keepsPosition ? copies.position : nil, waiting: .seconds(60))
    report()
    while access(worker.path + ".end", F_OK) != 0 {
      do {
        while let batch = try cursor.next() { try consume(batch) }
        report()
      } catch let error as Realm.Error where error.code == .outOfDiskSpace {
        WorkerLine.say("full")
      }
      scheduler.wait(timeout: 0.05)
      scheduler.pump()
    }
    cursor.close()
    if let problem = problem() { WorkerLine.bad("a consumer at the end: \(problem)") }
    WorkerLine.say("updates \(updates)")
  }

  private func report() {
    guard copies.commits != said else { return }
    said = copies.commits
    WorkerLine.say("seen \(said)")
  }

  private func consume(_ batch: ChangeBatch) throws {
    updates += 1
    let isSkipped = worker.sabotage == "cursor" && updates > 5 && batch.fullResync == nil
    if !isSkipped { try apply(batch) }
    // Otherwise the objects have values of a newer version, and the next batch the other changes.
    if batch.changes.reachesNewest, let problem = problem() {
      WorkerLine.bad("a consumer of batch \(batch.from) to \(batch.to): \(problem)")
    }
    copies.position = batch.position
    try keep()
    try batch.acknowledge()
  }

  private func apply(_ batch: ChangeBatch) throws {
    if batch.fullResync != nil {
      copies = Copies()
      for total in batch.objects(StressTotal.self) { copies.commits = total.commits }
      for stock in batch.objects(StressStock.self) { copies.steps[stock.id] = stock.steps }
      for item in batch.objects(StressItem.self) { store(item) }
      return
    }
    for total in batch[StressTotal.self].upserts { copies.commits = total.commits }
    for stock in batch[StressStock.self].upserts { copies.steps[stock.id] = stock.steps }
    let items = batch[StressItem.self]
    for identity in items.removals {
      guard let id = identity.key(as: Int.self) else {
        WorkerLine.bad("a batch removes \(identity)")
      }
      copies.items[id] = nil
    }
    for item in items.upserts { store(item) }
  }

  private func store(_ item: StressItem) {
    let wrong = StressContent(item).difference(from: .expected(item.id, stamp: item.stamp))
    if let wrong { WorkerLine.bad("a batch has item \(item.id) with \(wrong)") }
    copies.items[item.id] = StockModel.Item(
      stamp: item.stamp, code: item.code, friend: item.friend?.id)
  }

  /// A mismatch of the copies with the model; nil without one.
  private func problem() -> String? {
    var wanted: [Int: StockModel.Item] = [:]
    for (owner, steps) in copies.steps {
      models[owner, default: StockModel(owner: owner)].go(to: steps)
      wanted.merge(models[owner]?.items ?? [:]) { $1 }
    }
    for id in Set(wanted.keys).union(copies.items.keys).sorted()
    where wanted[id] != copies.items[id] {
      let (found, right) = (copies.items[id].map { "\($0)" }, wanted[id].map { "\($0)" })
      return "item \(id) is \(found ?? "nothing"), not \(right ?? "nothing")"
    }
    return nil
  }

  /// Replaces the file with the copies, as soon as the disk has room for it.
  private func keep() throws {
    let data = try JSONEncoder().encode(copies)
    while true {
      do {
        return try data.write(to: file, options: .atomic)
      } catch let error as CocoaError where error.code == .fileWriteOutOfSpace {
        WorkerLine.say("full")
        usleep(10_000)
      }
    }
  }
}
