import Foundation
import Tarn

/// An account: all balances together never change.
class StressAccount: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var balance = 0
  @Persisted var note = ""
  @Persisted var partner: StressAccount?
}

/// One writer's own counter, raised by each of its writes.
class StressWriter: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var sequence = 0
}

/// What all writes share: one row that each of them changes.
class StressTotal: Object {
  @Persisted(primaryKey: true) var id = 0
  /// How many writes there were; the version that the processes compare.
  @Persisted var commits = 0
  @Persisted var accounts = 0
  @Persisted var nextAccount = 0
}

/// The file that the processes share.
enum StressStore {
  static let accounts = 120
  static let balance = 100
  /// Objects with greater ids stand for one commit each.
  static let firstDoneID = 1000

  /// Durable if the file was filled so; a marker beside it says that.
  static func configuration(_ path: String) -> Realm.Configuration {
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: path),
      objectTypes: [
        StressAccount.self, StressWriter.self, StressTotal.self, StressShelf.self,
      ])
    configuration.durability = access(path + ".durable", F_OK) == 0 ? .full : .relaxed
    return configuration
  }

  /// Writes the first rows. The sum of all balances is `accounts * balance` from then on.
  static func fill(_ path: String, isDurable: Bool) throws {
    if isDurable { _ = FileManager.default.createFile(atPath: path + ".durable", contents: nil) }
    let realm = try Realm(configuration: configuration(path))
    try realm.write {
      let total = StressTotal()
      total.accounts = accounts
      total.nextAccount = accounts
      realm.add(total)
      for id in 0..<StressShelf.shelves { realm.create(StressShelf.self, value: ["id": id]) }
      for id in 0..<accounts {
        let account = StressAccount()
        account.id = id
        account.balance = balance
        realm.add(account)
      }
    }
  }

  /// What is wrong with the data as `realm` shows it, nil if nothing is.
  static func problem(_ realm: Realm) -> String? {
    guard let total = realm.object(ofType: StressTotal.self, forPrimaryKey: 0) else {
      return "the row of totals is gone"
    }
    var sum = 0
    var count = 0
    for account in realm.objects(StressAccount.self) {
      sum += account.balance
      count += 1
    }
    if sum != accounts * balance {
      return "at \(total.commits) the balances are \(sum) in all, not \(accounts * balance)"
    }
    if count != total.accounts {
      return "at \(total.commits) there are \(count) accounts, not \(total.accounts)"
    }
    for shelf in realm.objects(StressShelf.self) {
      let count = shelf.numbers.count + shelf.tags.count + shelf.marks.count
      if count != shelf.size {
        return "at \(total.commits) shelf \(shelf.id) has \(count) elements, not \(shelf.size)"
      }
    }
    let sequences = realm.objects(StressWriter.self).reduce(0) { $0 + $1.sequence }
    if sequences != total.commits {
      return "the writers' counters are \(sequences) in all, but there were \(total.commits) writes"
    }
    return nil
  }
}

/// Numbers that are the same in every run with one seed.
struct StressRandom: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }
  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}
