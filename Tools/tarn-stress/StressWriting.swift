import Foundation
import StressFaults
import Tarn
import ToolSupport

/// A writer: writes without pause, and acknowledges each commit when `write` has returned.
final class StressWriting {
  /// Without one the file would grow at random.
  private static let accountsMax = 240
  private let worker: Worker
  private let realm: Realm
  private var random: StressRandom
  private var stock: StockModel
  private var pace: StressPace

  init(_ worker: Worker, _ realm: Realm) {
    self.worker = worker
    self.realm = realm
    random = StressRandom(worker.seed)
    stock = StockModel(owner: worker.number)
    pace = StressPace(worker)
  }

  func run() throws {
    WorkerLine.say("start \(sequence)")
    var count = 0
    while !isToldToStop() {
      count += 1
      if random.below(150) == 0 { stress_fail_next(stress_pages, ENOSPC) }
      if worker.manner == WriterManner.forking.rawValue, count % 60 == 0 {
        try StressForking(worker, realm).commitInChild(seed: random.next() >> 1)
      }
      try toleratingFullDisk {
        let done = try write { $0.change(count) }
        WorkerLine.say("ack \(done)")
        if worker.sabotage == "lost", count == 20 { WorkerLine.say("ack \(done + 1)") }
        if count % 29 == 0 { try breakRule() }
      }
      pace.rest()
    }
    WorkerLine.say("stopped \(sequence)")
  }

  /// Reports a full disk, after which the next write is tried.
  private func toleratingFullDisk(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as Realm.Error where error.code == .outOfDiskSpace {
      WorkerLine.say("full")
      usleep(1000)
    }
  }

  /// A write that gives two items of this writer's stock the same code; it must be refused as a
  /// whole.
  private func breakRule() throws {
    let (first, last) = (worker.number * 100, worker.number * 100 + 99)
    let items = realm.objects(StressItem.self).where { $0.id >= first && $0.id <= last }
    guard items.count > 1, let one = items.first, let other = items.last else { return }
    let code = one.code
    do {
      try realm.write { one.code = other.code }
      WorkerLine.bad("two items with one code were accepted")
    } catch let error as Realm.Error where error.code == .notUnique {
      if one.code != code { WorkerLine.bad("a refused write changed a code to \(one.code)") }
    }
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

  var sequence: Int {
    realm.object(ofType: StressWriter.self, forPrimaryKey: worker.number)?.sequence ?? 0
  }

  func isToldToStop() -> Bool {
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
    case 5, 6: if realm.objects(StressAccount.self).count < Self.accountsMax { insert() }
    case 7, 8: remove()
    default:
      let account = anyAccount()
      account.note = String(repeating: "n", count: random.below(300))
      account.partner = anyAccount()
    }
    if random.chance(50) { changeShelf() }
    if random.chance(50) { stock.step(realm) }
    if random.chance(10) { StressEra.change(realm, &random) }
    if count % 50 == 0, let problem = problemInWrite() { WorkerLine.bad(problem) }
    if worker.sabotage == "sum", count == 20 { anyAccount().balance += 1 }
    if worker.sabotage == "stock", count >= 20 { realm.objects(StressItem.self).last?.text += "!" }
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
