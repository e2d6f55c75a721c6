import Foundation
import Tarn
import ToolSupport

/// A writer: writes without pause, and acknowledges each commit when `write` has returned.
final class StressWriting {
  private let worker: Worker
  private let realm: Realm
  private var random: StressRandom

  init(_ worker: Worker, _ realm: Realm? = nil) throws {
    self.worker = worker
    self.realm = try realm ?? Realm(configuration: worker.configuration)
    random = StressRandom(worker.seed)
  }

  init(_ worker: Worker, _ realm: Realm) {
    self.worker = worker
    self.realm = realm
    random = StressRandom(worker.seed)
  }

  func run() throws {
    WorkerLine.say("start \(sequence)")
    var count = 0
    while !isToldToStop() {
      count += 1
      let done = try write { $0.change(count) }
      WorkerLine.say("ack \(done)")
      if worker.sabotage == "lost", count == 20 { WorkerLine.say("ack \(done + 1)") }
    }
    WorkerLine.say("stopped \(sequence)")
  }

  /// Makes small writes; returns their number.
  func transferUntilStopped() throws -> Int {
    var count = 0
    while !isToldToStop() {
      _ = try write { $0.transfer() }
      count += 1
    }
    return count
  }

  private var sequence: Int {
    realm.refresh()
    return realm.object(ofType: StressWriter.self, forPrimaryKey: worker.number)?.sequence ?? 0
  }

  /// The end of standard input means stop.
  private func isToldToStop() -> Bool {
    access(worker.path + ".stop", F_OK) == 0
  }

  /// Makes one commit; returns its number among this writer's commits.
  func write(_ body: (StressWriting) -> Void) throws -> Int {
    try realm.write { change(with: body) }
  }

  /// All changes of one write, inside an open one.
  func change(with body: (StressWriting) -> Void) -> Int {
    total.commits += 1
    let mine =
      realm.object(ofType: StressWriter.self, forPrimaryKey: worker.number)
      ?? realm.create(StressWriter.self, value: ["id": worker.number])
    mine.sequence += 1
    body(self)
    return mine.sequence
  }

  private var total: StressTotal {
    guard let total = realm.object(ofType: StressTotal.self, forPrimaryKey: 0) else {
      WorkerLine.bad("the row of totals is missing")
    }
    return total
  }

  private func anyAccount() -> StressAccount {
    let all = realm.objects(StressAccount.self)
    return all[random.below(all.count)]
  }

  func change(_ count: Int) {
    switch random.below(10) {
    case 0...4: transfer()
    case 5, 6: insert()
    case 7, 8: remove()
    default:
      let account = anyAccount()
      account.note = String(repeating: "n", count: random.below(300))
      account.partner = anyAccount()
    }
    if random.chance(50) { changeShelf() }
    if count % 50 == 0, let problem = problemInWrite() { WorkerLine.bad(problem) }
    if worker.sabotage == "sum", count == 20 { anyAccount().balance += 1 }
  }

  private func changeShelf() {
    let id = random.below(StressShelf.shelves)
    guard let shelf = realm.object(ofType: StressShelf.self, forPrimaryKey: id) else {
      WorkerLine.bad("shelf \(id) is missing")
    }
    shelf.change(&random, anyAccount())
  }

  private func problemInWrite() -> String? {
    let sum = realm.objects(StressAccount.self).reduce(0) { $0 + $1.balance }
    let wanted = StressStore.accounts * StressStore.balance
    return sum == wanted ? nil : "inside a write the sum of the balances is \(sum), not \(wanted)"
  }

  func transfer() {
    let from = anyAccount()
    let to = anyAccount()
    let amount = random.below(20)
    from.balance -= amount
    to.balance += amount
  }

  private func insert() {
    let total = total
    let account = StressAccount()
    account.id = total.nextAccount
    account.note = "of \(worker.number)"
    realm.add(account)
    account.partner = anyAccount()
    total.nextAccount += 1
    total.accounts += 1
  }

  private func remove() {
    guard realm.objects(StressAccount.self).count > 60 else { return insert() }
    let victim = anyAccount()
    let heir = anyAccount()
    guard victim.id != heir.id else { return }
    heir.balance += victim.balance
    realm.delete(victim)
    total.accounts -= 1
  }

  /// Grows the file by some pages.
  func grow() {
    for _ in 0..<40 { insert() }
    for _ in 0..<8 { anyAccount().note = String(repeating: "x", count: 3000) }
  }
}
