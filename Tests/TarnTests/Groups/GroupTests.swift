import Foundation
import TarnStore
import TestSupport
import Testing

@testable import Tarn

/// Groups and aggregates: what they show, where, and what observers are told.
struct GroupTests {
  private let folder = TemporaryFolder()
  private let instance: Instance

  init() throws { instance = try Instance.withPurses(folder) }

  @discardableResult
  private func add(
    _ id: Int, owner: String? = nil, coins: Int = 0, weight: Double? = nil,
    to other: Instance? = nil
  ) -> Purse {
    let purse = Purse()
    (purse.id, purse.owner, purse.coins, purse.weight) = (id, owner, coins, weight)
    (other ?? instance).realm.add(purse)
    return purse
  }

  @Test func valuesHaveTheTypesOfTheirAggregates() throws {
    try instance.write {
      add(1, owner: "b", coins: 3, weight: 1.5)
      add(2, owner: "a", coins: 4)
      add(3, owner: "b", coins: 5, weight: 2.5)
    }
    let groups = instance.purses.grouped(
      by: \.owner, .sum(of: \.coins), .max(of: \.weight), .average(of: \.coins), .count)
    #expect(groups.map(\.key) == ["a", "b"])
    let (sum, most, average, count): (Int, Double?, Double?, Int) = groups[1].values
    #expect(sum == 8)
    #expect(most == 2.5)
    #expect(average == 4)
    #expect(count == 2)
    #expect(groups[0].values.1 == nil)
    let one = instance.purses.grouped(by: \.owner, .sum(of: \.weight))
    #expect(one.map(\.values) == [0, 4])
    #expect(one.group(for: "b")?.values == 4)
    #expect(one.group(for: "c") == nil)
    #expect(one.group(for: nil) == nil)
    let none = instance.purses.grouped(by: \.owner)
    #expect(none.map(\.count) == [1, 2])
    let named: GroupedResults<String?, (Int, Double?)> = instance.purses.grouped(
      by: "owner", as: String?.self, .sum(ofProperty: "coins"), .min(ofProperty: "weight"))
    #expect(named[1].values == (8, 1.5))
    let all = instance.purses.aggregate(.min(of: \.coins), .sum(of: \.coins))
    #expect(all.value == (3, 12))
    let rich = instance.purses.where { $0.coins > 9 }
    let nothing = rich.aggregate(.sum(of: \.coins))
    #expect(nothing.value == 0)
    #expect(rich.grouped(by: \.owner).isEmpty)
    #expect(instance.purses.grouped(by: \.owner) == none)
    #expect("\(none)".contains("[b] 2"))
    #expect("\(one)".contains("[b] 2: 4.0"))
  }

  /// What no Int holds is printed all the same.
  @Test func sumsBeyondIntHaveADescription() throws {
    try instance.write {
      add(1, owner: "b", coins: .max)
      add(2, owner: "b", coins: .max)
      add(3, owner: "c", coins: 5)
    }
    #expect("\(instance.purses.aggregate(.sum(of: \.coins)))" == "1.8446744073709552e+19")
    let two = instance.purses.aggregate(.count, .sum(of: \.coins))
    #expect("\(two)" == "(3, 1.8446744073709552e+19)")
    let asked = instance.purses.aggregate(Aggregate<Purse, Double>.sum(ofProperty: "coins"))
    #expect(asked.value == 18_446_744_073_709_551_616)
    let groups = "\(instance.purses.grouped(by: \.owner, .sum(of: \.coins)))"
    #expect(groups.contains("[b] 2: 1.8446744073709552e+19"))
    #expect(groups.contains("[c] 1: 5"))
  }

  @Test func keysAreInTheOrderOfSorting() throws {
    let weights: [Double?] = [2, nil, .nan, -0.0, 0, -.infinity, -.nan, 1]
    try instance.write {
      for (id, weight) in weights.enumerated() { add(id, owner: "x", weight: weight) }
    }
    let groups = instance.purses.grouped(by: \.weight)
    #expect(
      groups.map { KeyRank($0.key) } == [
        .nothing, .notANumber, .number(-.infinity), .number(0), .number(1), .number(2),
      ])
    #expect(groups.map(\.count) == [1, 2, 1, 2, 1, 1])
    var ranks: [KeyRank] = []
    for weight in instance.purses.sorted(by: \.weight).map(\.weight)
    where ranks.last != KeyRank(weight) { ranks.append(KeyRank(weight)) }
    #expect(groups.map { KeyRank($0.key) } == ranks)
    #expect(groups.group(for: .nan)?.count == 2)
    #expect(groups.group(for: -0.0)?.count == 2)
  }

  /// Far more rows than a cluster has, in most of which keys occur that were met before.
  @Test func rowsWithoutAKeyAreAGroup() throws {
    let spares: [Int?] = [nil, 3, 5000, -1, nil, 0, 4095, .min]
    try instance.write {
      for id in 0..<1200 { add(id, coins: id % 3).spare = spares[id * 7 % spares.count] }
    }
    let expected = Dictionary(grouping: instance.purses, by: \.spare)
    for purses in [instance.purses, instance.purses.where { $0.coins == 1 }] {
      let groups = purses.grouped(by: \.spare, .sum(of: \.coins))
      #expect(groups.map(\.key) == [nil, .min, -1, 0, 3, 4095, 5000])
      for group in groups {
        let all = expected[group.key] ?? []
        let members = purses.count == all.count ? all : all.filter { purses.index(of: $0) != nil }
        #expect(group.count == members.count, "\(group)")
        #expect(group.values == members.reduce(0) { $0 + $1.coins }, "\(group)")
      }
    }
    try instance.write {
      for id in 0..<600 { instance.purse(id)!.spare = nil }
      #expect(instance.purses.grouped(by: \.spare).group(for: nil)?.count == 750)
    }
  }

  @Test func sumsDoNotDrift() throws {
    try instance.write { add(0, owner: "a", weight: 1) }
    let groups = instance.purses.grouped(by: \.owner, .sum(of: \.weight))
    let total = instance.purses.aggregate(.sum(of: \.weight), .average(of: \.weight))
    let tokens = [groups.observe { _ in }, total.observe { _ in }]
    instance.pump()
    for id in 1...200 {
      try instance.write { add(id, owner: "a", weight: 1e16) }
      try instance.write { add(1000 + id, owner: "a", weight: 0.1) }
      try instance.write {
        instance.realm.delete(instance.purse(id)!)
        instance.realm.delete(instance.purse(1000 + id)!)
      }
      instance.pump()
      #expect(groups[0].values == 1)
      #expect(total.value == (1, 1))
    }
    withExtendedLifetime(tokens) {}
  }

  @Test func extremesLeave() throws {
    try instance.write { for id in 0..<50 { add(id, coins: id) } }
    let ends = instance.purses.aggregate(.min(of: \.coins), .max(of: \.coins))
    var told: [String] = []
    let token = ends.observe { change in
      switch change {
      case .initial(let values): told.append("\(values.0!)-\(values.1!)")
      case .update(_, let values): told.append("\(values.0 ?? -1)-\(values.1 ?? -1)")
      case .error(let error): told.append("\(error)")
      }
    }
    instance.pump()
    try instance.write { instance.realm.delete(instance.purse(49)!) }
    instance.pump()
    try instance.write { instance.purse(0)!.coins = 10 }
    instance.pump()
    try instance.write { instance.purse(7)!.coins = 10 }
    instance.pump()
    try instance.write { add(99, coins: 500) }
    instance.pump()
    try instance.write { instance.realm.deleteAll() }
    instance.pump()
    #expect(told == ["0-49", "0-48", "1-48", "1-500", "-1--1"])
    withExtendedLifetime(token) {}
  }

  @Test func onlyWhatChangedIsTold() throws {
    try instance.write {
      for id in 0..<9 { add(id, owner: "\(id % 3)", coins: id) }
    }
    let groups = instance.purses.grouped(by: \.owner, .sum(of: \.coins))
    var told: [String] = []
    let token = groups.observe { change in
      switch change {
      case .initial(let groups): told.append("initial \(groups.count)")
      case .update(_, let deletions, let insertions, let modifications):
        told.append("-\(deletions) +\(insertions) ~\(modifications)")
      case .error(let error): told.append("\(error)")
      }
    }
    instance.pump()
    // Nothing that is shown changes.
    try instance.write { instance.purse(1)!.weight = 7 }
    try instance.write {
      instance.purse(0)!.coins += 1
      instance.purse(3)!.coins -= 1
    }
    instance.pump()
    try instance.write { instance.purse(1)!.coins = 100 }
    instance.pump()
    try instance.write { for id in [1, 4, 7] { instance.purse(id)!.owner = "00" } }
    instance.pump()
    // What comes back was never gone for those who see both commits at once.
    let other = try Instance.withPurses(folder)
    try other.write { for id in [2, 5, 8] { other.purse(id)!.owner = "9" } }
    try other.write { for id in [2, 5, 8] { other.purse(id)!.owner = "2" } }
    instance.pump()
    #expect(told == ["initial 3", "-[] +[] ~[1]", "-[1] +[1] ~[]"])
    withExtendedLifetime(token) {}
  }

  @Test func aWriteShowsWhatItHasDone() throws {
    try instance.write { add(1, owner: "a", coins: 1) }
    let groups = instance.purses.grouped(by: \.owner, .sum(of: \.coins))
    let frozen = groups.freeze()
    #expect(groups.map(\.values) == [1])
    instance.realm.beginWrite()
    add(2, owner: "b", coins: 2)
    #expect(groups.map(\.values) == [1, 2])
    instance.purse(1)!.coins = 10
    #expect(groups.map(\.values) == [10, 2])
    instance.realm.delete(instance.purse(2)!)
    #expect(groups.map(\.values) == [10])
    instance.realm.cancelWrite()
    #expect(groups.map(\.values) == [1])
    try instance.write { add(3, owner: nil, coins: 5) }
    #expect(groups.map(\.key) == [nil, "a"])
    #expect(frozen.map(\.values) == [1])
    #expect(frozen.isFrozen)
    #expect(frozen.thaw()?.count == 2)
  }

  @Test func anotherThreadReadsWhatIsFrozenAndAnotherRealmWhatIsPassedOn() throws {
    try instance.write { for id in 0..<20 { add(id, owner: "\(id % 4)", coins: id) } }
    let groups = instance.purses.grouped(by: \.owner, .sum(of: \.coins)).freeze()
    let expected = groups.map(\.values)
    nonisolated(unsafe) let frozen = groups  // because: it is frozen
    let read = Lock<[[Int]]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      let values = unsafe frozen.map(\.values)
      read.withLock { $0.append(values) }
    }
    #expect(read.withLock { $0 } == Array(repeating: expected, count: 4))
    let reference = ThreadSafeReference(to: instance.purses.grouped(by: \.owner, .sum(of: \.coins)))
    let total = ThreadSafeReference(to: instance.purses.aggregate(.sum(of: \.coins)))
    let other = try Instance.withPurses(folder)
    #expect(other.realm.resolve(reference)?.map(\.values) == expected)
    #expect(other.realm.resolve(total)?.value == 190)
  }

  @Test func aQueueObserves() throws {
    try instance.write { add(1, owner: "a", coins: 1) }
    let queue = DispatchQueue(label: "groups")
    let told = Lock<[Int]>([])
    let semaphore = DispatchSemaphore(value: 0)
    let groups = instance.purses.grouped(by: \.owner, .sum(of: \.coins))
    let token = groups.observe(on: queue) { change in
      switch change {
      case .initial(let groups), .update(let groups, _, _, _):
        told.withLock { $0.append(groups[0].values) }
      case .error: break
      }
      semaphore.signal()
    }
    #expect(semaphore.wait(timeout: .now() + 300) == .success)
    try instance.write { add(2, owner: "a", coins: 41) }
    #expect(semaphore.wait(timeout: .now() + 300) == .success)
    #expect(told.withLock { $0 } == [1, 42])
    token.invalidate()
  }

  /// A row of its own for each value, as far as texts and dictionaries of clusters go.
  @Test func manyGroups() throws {
    try instance.write {
      for id in 0..<3000 { add(id, owner: id % 7 == 0 ? nil : "owner \(id)", coins: id) }
    }
    let groups = instance.purses.grouped(by: \.owner, .sum(of: \.coins))
    #expect(groups.count == 3000 - 429 + 1)
    #expect(groups[0].count == 429)
    #expect(groups.dropFirst().allSatisfy { "owner \($0.values)" == $0.key })
    let few = instance.purses.grouped(by: \.coins, .max(of: \.id))
    #expect(few.map(\.key) == Array(0..<3000))
    #expect(few.map(\.values) == Array(0..<3000))
  }
}

/// Compiles as a client's code does.
@MainActor struct GroupSequenceTests {
  private let folder = TemporaryFolder()
  private let realm: Realm

  init() throws {
    realm = try Realm(
      configuration: Realm.Configuration(
        fileURL: URL(fileURLWithPath: folder.path + "/purses.realm"),
        objectTypes: [Purse.self, Shop.self, PurseBox.self], durability: .relaxed))
  }

  private func add(_ id: Int, _ owner: String, coins: Int) throws {
    try realm.write {
      let purse = Purse()
      (purse.id, purse.owner, purse.coins) = (id, owner, coins)
      realm.add(purse)
    }
  }

  @Test func loopsFollow() async throws {
    let groups = realm.objects(Purse.self).grouped(by: \.owner, .sum(of: \.coins))
    let total = realm.objects(Purse.self).aggregate(.sum(of: \.coins))
    var changes = groups.changes.makeAsyncIterator()
    var totals = total.changes.makeAsyncIterator()
    var copy: [GroupedResults<String?, Int>.Group] = []
    var told: [String] = []
    for round in 0..<4 {
      await changes.next(isolation: #isolation)?.apply(to: &copy)
      switch await totals.next(isolation: #isolation) {
      case .initial(let sum)?: told.append("\(sum)")
      case .update(let old, let new)?: told.append("\(old) to \(new)")
      default: told.append("-")
      }
      try add(round, round % 2 == 0 ? "b" : "a", coins: round + 1)
    }
    #expect(copy.map(\.key) == ["a", "b"])
    #expect(copy.map(\.values) == [2, 4])
    #expect(told == ["0", "0 to 1", "1 to 3", "3 to 6"])
  }
}
