import Foundation
import Tarn

/// An account. The sum of all balances never changes.
class StressAccount: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var balance = 0
  @Persisted var note = ""
  @Persisted var partner: StressAccount?
}

/// One writer's counter, incremented by each of its writes.
class StressWriter: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var sequence = 0
}

/// The row that every write changes.
class StressTotal: Object {
  @Persisted(primaryKey: true) var id = 0
  /// The number of writes, which the processes compare as the version.
  @Persisted var commits = 0
  @Persisted var accounts = 0
  @Persisted var nextAccount = 0
}

/// The file that the processes share.
enum StressStore {
  static let accounts = 120
  static let balance = 100
  /// Each object with a greater id represents one commit.
  static let firstDoneID = 1000

  /// Durable if the file was filled so, which a marker file next to it records.
  static func configuration(_ path: String) -> Realm.Configuration {
    let era = StressEra.number(path)
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), schemaVersion: era,
      migrationBlock: { migration, old in StressEra.migrate(migration, from: old, to: era) },
      objectTypes: [
        StressAccount.self, StressWriter.self, StressTotal.self, StressShelf.self,
        StressStock.self, StressItem.self, StressPart.self, StressEra.type(era),
      ])
    configuration.durability = access(path + ".durable", F_OK) == 0 ? .full : .relaxed
    return configuration
  }

  /// Writes the first rows. From then on the sum of all balances is `accounts * balance`.
  static func fill(_ path: String, isDurable: Bool) throws {
    if isDurable { _ = FileManager.default.createFile(atPath: path + ".durable", contents: nil) }
    let realm = try Realm(configuration: configuration(path))
    try realm.write {
      let total = StressTotal()
      total.accounts = accounts
      total.nextAccount = accounts
      realm.add(total)
      StressEra.fill(realm)
      for id in 0..<StressShelf.shelves { realm.create(StressShelf.self, value: ["id": id]) }
      for id in 0..<accounts {
        let account = StressAccount()
        account.id = id
        account.balance = balance
        realm.add(account)
      }
    }
  }

  /// Lets every user write a filled file.
  static func share(_ path: String) {
    for name in [path, path + "-lock", path + "-signal"] { chmod(name, 0o666) }
  }

  /// A mismatch in the data of `realm`, but for the stocks; nil without one.
  static func problem(_ realm: Realm) -> String? {
    guard let total = realm.object(ofType: StressTotal.self, forPrimaryKey: 0) else {
      return "the row of totals is missing"
    }
    var sum = 0
    var count = 0
    for account in realm.objects(StressAccount.self) {
      sum += account.balance
      count += 1
    }
    if sum != accounts * balance {
      return "at \(total.commits) the sum of the balances is \(sum), not \(accounts * balance)"
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
      return "the writers counted \(sequences) writes, but there were \(total.commits)"
    }
    return StressEra.problem(realm)
  }
}

/// Random numbers that are the same in every run with the same seed.
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
