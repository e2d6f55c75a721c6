import Foundation
import TestSupport
import Testing

@testable import Tarn
@testable import TarnStore

/// Followers of cursors are woken by the commits that concern them, and get what they would get if
/// they looked at each commit.
@Suite struct FeedRouterTests {
  /// In memory, where no watcher calls listeners once more.
  private let configuration: Realm.Configuration
  private let instance: Instance
  private let pinned: Realm

  init() throws {
    configuration = Realm.Configuration(
      inMemoryIdentifier: "\(UUID())",
      objectTypes: [
        Cat.self, Home.self, FedDog.self, FedPerson.self, FedNote.self, FedAddress.self,
        FedRoom.self,
      ])
    instance = try Instance(configuration)
    instance.realm.core.store.keepBefore { _ in .oldValues }
    // Keeps all records.
    pinned = instance.realm.freeze()
  }

  private var realm: Realm { instance.realm }

  private func router() throws -> FeedRouter { try FeedRouter.of(realm.core.store) }

  /// A cursor that somebody follows, and another with the same position that nobody follows.
  private final class Followed: Sendable {
    let cursor: ChangeCursor
    let registration: FeedRegistration
    private let twin: ChangeCursor
    private let keeper: MemoryKeeper
    let limit: BatchLimit
    private let woken: Lock<Int>

    init(
      _ realm: Realm, _ selection: CursorSelection, limit: BatchLimit = .none,
      keeping level: OldValueLevel = .oldValues, number: UInt32 = 1
    ) throws {
      let keeper = try MemoryKeeper(realm.core.store, number: number)
      let told = keeper.kept.acknowledged.version
      func make(_ name: String) -> ChangeCursor {
        ChangeCursor(name, keeper, realm.core, selection, keeping: level, toldThrough: told)
      }
      let count = Counter()
      self.keeper = keeper
      self.limit = limit
      (cursor, twin) = (make("followed"), make("twin"))
      registration = try cursor.followCommits { count.add() }
      woken = Lock(0)
      counter = count
    }

    private let counter: Counter
    /// How often it was woken.
    var wakes: Int { counter.count }

    /// Whether it was woken since the last call.
    func takeWake() -> Bool {
      let now = counter.count
      return woken.withLock { known in
        defer { known = now }
        return known != now
      }
    }

    func next() throws -> ChangeBatch? { try cursor.batch(ChangeCursor.Request(limit: limit)) }

    /// What it would get if nothing had been looked at before.
    func expected() throws -> ChangeBatch? {
      let place = keeper.kept.acknowledged.version
      let mayRepeat = cursor.state.withLock { $0.toldThrough > place }
      let request = ChangeCursor.Request(
        limit: limit, isDelivered: false, mayRepeat: mayRepeat, readsAll: true)
      return try twin.batch(request)
    }

    /// Whether a batch has something that the consumer must get. Without old values, a request that
    /// reads all also lists objects that may have begun or ceased to match. One that looked while
    /// the values were there knows better.
    ///
    /// - Parameter former: the state that the consumer has.
    func isNeeded(_ batch: ChangeBatch, since former: Snapshot) throws -> Bool {
      if batch.fullResync != nil { return true }
      let parts = cursor.state.withLock { $0.bound }?.selection.parts ?? []
      let reader = try SnapshotReader(former)
      for own in batch.changes.difference.classes {
        let part = try #require(parts.first { $0.classID == own.id })
        func matched(_ key: ObjectKey) throws -> Bool {
          if part.query.isUnfiltered { return try reader.row(key, in: own.id) != nil }
          return try part.query.predicate.matches(key, in: Rows(reader)) == true
        }
        if !own.inserted.union(own.replaced).union(own.modified).isEmpty { return true }
        let assigned = (own.assigned.map(\.keys) + own.along.map(\.keys)).reduce(KeySet()) {
          $0.union($1)
        }
        for key in own.entered where try assigned.contains(key) || !matched(key) { return true }
        for key in own.left.union(own.deleted) where try matched(key) { return true }
      }
      return false
    }

    static func text(_ batch: ChangeBatch) -> String {
      let classes = batch.changes.difference.classes.map { own in
        let sets = [
          own.inserted, own.replaced, own.modified, own.entered, own.left, own.deleted, own.gone,
        ]
        let columns = own.assigned.map { "\($0.column): \(Array($0.keys))" }
        return "\(own.id) \(sets.map { Array($0) }) \(own.isCleared) \(columns)"
      }
      return "\(batch.from)-\(batch.to) \(String(describing: batch.fullResync)) \(classes)"
    }
  }

  private final class Counter: Sendable {
    private let value = Lock(0)
    var count: Int { value.withLock { $0 } }
    func add() { value.withLock { $0 += 1 } }
  }

  /// Lets followers look until they have nothing, as those who were woken do.
  private func rest(_ all: [Followed]) throws {
    for one in all {
      while let batch = try one.next() { try batch.acknowledge() }
      _ = one.takeWake()
    }
    try router().settle()
    for one in all where one.takeWake() { #expect(try one.next() == nil) }
  }

  // MARK: - Who is woken

  private func cats(_ count: Int) throws -> [Followed] {
    try realm.write {
      for id in 0..<count { realm.add(Cat(id, "cat \(id)", age: id)) }
    }
    let all = try (0..<count).map { id in
      try Followed(realm, .objects(ofClass: "Cat", filter: "name == 'cat \(id)'"))
    }
    try rest(all)
    return all
  }

  @Test func `of a thousand followers a commit wakes the one that it concerns`() throws {
    let all = try cats(1_000)
    let before = all.map(\.wakes)
    try instance.write { instance.cat(7)?.weight = 4 }
    try router().settle()
    #expect(all.indices.filter { all[$0].wakes != before[$0] } == [7])
    let batch = try #require(try all[7].next())
    #expect(batch[Cat.self].modified.map(\.object.id) == [7])
    #expect(try all[8].next() == nil)
    // What concerns nobody.
    try batch.acknowledge()
    #expect(try all[7].next() == nil)
    let later = all.map(\.wakes)
    try instance.write { realm.create(FedNote.self) }
    try router().settle()
    #expect(all.map(\.wakes) == later)
    #expect(all[3].registration.restsThrough == realm.core.store.newestKnownVersion.rawValue)
    // It begins and it ceases to match.
    try instance.write { instance.cat(7)?.name = "cat 9" }
    try router().settle()
    #expect(all.indices.filter { all[$0].wakes != later[$0] } == [7, 9])
  }

  @Test func `a follower that has not acknowledged a batch is woken by each commit`() throws {
    let all = try cats(20)
    try instance.write { instance.cat(3)?.weight = 4 }
    try router().settle()
    let batch = try #require(try all[3].next())
    let before = all.map(\.wakes)
    try instance.write { realm.create(FedNote.self) }
    try router().settle()
    #expect(all.indices.filter { all[$0].wakes != before[$0] } == [3])
    try batch.acknowledge()
  }

  @Test func `a follower that each commit concerns stays awake`() throws {
    let all = try cats(20)
    func commit(_ body: () throws -> Void) throws {
      try instance.write(body)
      try router().settle()
      try all[3].next()?.acknowledge()
      #expect(try all[3].next() == nil)
      try router().settle()
    }
    for weight in 2...5 { try commit { instance.cat(3)?.weight = Double(weight) } }
    #expect(all[3].registration.restsThrough == nil)
    #expect(all[4].registration.restsThrough != nil)
    // It rests when commits no longer concern it.
    for _ in 1...8 { try commit { realm.create(FedNote.self) } }
    #expect(all[3].registration.restsThrough != nil)
  }

  @Test func `new classes and a migration wake all`() throws {
    let all = try cats(20)
    let first = all.map(\.wakes)
    var configuration = configuration
    configuration.objectTypes! += [RoutedNovelty.self]
    let other = try Realm(configuration: configuration, scheduler: ManualScheduler())
    try other.write { other.create(RoutedNovelty.self) }
    try router().settle()
    #expect(all.indices.allSatisfy { all[$0].wakes > first[$0] })
    for one in all { #expect(try one.next()?.acknowledge() == nil) }
    try router().settle()
    let second = all.map(\.wakes)
    try realm.core.store.write { $0.recorder.changeSchema() }
    try router().settle()
    #expect(all.indices.allSatisfy { all[$0].wakes > second[$0] })
    #expect(try all[0].next()?.fullResync == .schema)
  }

  @Test func `a cursor that was deleted wakes its follower`() throws {
    let cursor = try realm.cursor("gone", of: .objects(of: Cat.self) { $0.age == -1 })
    let count = Counter()
    let registration = try cursor.followCommits { count.add() }
    while let batch = try cursor.next() { try batch.acknowledge() }
    try router().settle()
    let before = count.count
    try instance.write { realm.create(FedNote.self) }
    try router().settle()
    #expect(count.count == before)
    try realm.core.store.changeFeed("test") { edit, _, _ throws(StorageError) in
      for number in edit.table.cursors.keys { edit[number] = nil }
    }
    try instance.write { realm.create(FedNote.self) }
    try router().settle()
    #expect(count.count == before + 1)
    withExtendedLifetime(registration) {}
  }

  @Test func `each unconcerned follower acknowledges once in a thousand commits`() throws {
    let all = try cats(100)
    var empty = Array(repeating: 0, count: all.count)
    for number in 0..<ChangeCursor.emptyCommits + 60 {
      try instance.write { realm.create(FedNote.self) }
      if number < ChangeCursor.emptyCommits - 10 { continue }
      try router().settle()
      for (index, one) in all.enumerated() where one.takeWake() {
        let batch = try #require(try one.next())
        #expect(batch.isEmpty)
        try batch.acknowledge()
        #expect(try one.next() == nil)
        empty[index] += 1
      }
    }
    #expect(empty == Array(repeating: 1, count: all.count))
  }

  @Test func `groups of commits are the same behind versions without news`() throws {
    try realm.write { realm.add(Cat(1, "b", age: 1)) }
    let one = try Followed(
      realm, .objects(ofClass: "Cat", filter: "name == 'a'"), limit: BatchLimit(commits: 2))
    try rest([one])
    try instance.write { realm.create(FedNote.self) }
    // It knows that the first commit has nothing, which is half of a group.
    #expect(try one.next() == nil)
    for name in ["a", "b"] {
      try instance.write { instance.cat(1)?.name = name }
      try router().settle()
    }
    let expected = try #require(try one.expected())
    let batch = try #require(try one.next())
    #expect(Followed.text(batch) == Followed.text(expected))
    #expect(batch.to == batch.from + 2)
    #expect(batch[Cat.self].entered.map(\.object.id) == [1])
    try batch.acknowledge()
    #expect(try one.next()?[Cat.self].left.count == 1)
  }

  @Test func `a cursor's own commits make news of what others did before`() throws {
    let one = try Followed(realm, .objects(ofClass: "Cat", filter: "name == 'a'"), number: 7)
    try rest([one])
    try instance.write { realm.add(Cat(1, "b", age: 1)) }
    try router().settle()
    #expect(!one.takeWake())
    try instance.write {
      instance.cat(1)?.name = "a"
      realm.core.sessionToCommit().cursorsOfCommit.append(7)
    }
    try router().settle()
    #expect(one.takeWake())
    let batch = try #require(try one.next())
    #expect(batch[Cat.self].inserted.map(\.id) == [1])
  }

  // MARK: - What they get

  private static let filters: [(name: String, filters: [String?])] = [
    (
      "Cat",
      [
        "age == 1", "age == 2", "age > 5", "age BETWEEN {2, 4}", "age != 3", "name == 'a'",
        "name == 'b' OR name == 'c'", "name == 'a' AND age == 2", "name BEGINSWITH 'b'",
        "name == 'd' OR age == 7", "home.rooms == 2", "home.street == 'a' AND age < 3",
        "home == nil", "weight == nil", "home.next.rooms == 1", "NOT name == 'a'", nil,
      ]
    ),
    (
      "Home",
      ["rooms == 1", "street == 'b'", "@links.Cat.home.@count > 1", "next.rooms < 2", nil]
    ),
    ("FedDog", ["age == 2", "kennel.city == 'a'", "owner.rank > 2", "name == 'b'", nil]),
    ("FedPerson", ["rank == 1", "name == 'a'", "ANY dogs.age == 4", nil]),
    ("FedNote", ["text == 'a'", "about.age == 3", "about.name == 'b'", "text != 'c'", nil]),
  ]

  private static let keyPaths: [String: [[String]]] = [
    "Cat": [["name"], ["home.rooms"], ["age", "home.street"]], "FedNote": [["about.age"]],
  ]

  private func selection(_ random: inout SeededRandom) -> CursorSelection {
    if random.chance(4) { return .wholeRealm }
    let one = random.pick(Self.filters)
    let paths = random.chance(20) ? Self.keyPaths[one.name].map { random.pick($0) } : nil
    let filter = random.pick(one.filters)
    let first = CursorSelection.objects(ofClass: one.name, filter: filter, keyPaths: paths)
    let other = random.pick(Self.filters)
    if other.name == one.name || random.chance(70) { return first }
    return first.adding(.objects(ofClass: other.name, filter: random.pick(other.filters)))
  }

  private func step(_ random: inout SeededRandom) {
    let names = ["a", "b", "c", "d"]
    let homes = realm.objects(Home.self)
    let home = homes.isEmpty ? nil : homes[random.below(homes.count)]
    let id = random.below(12)
    let cat = instance.cat(id)
    switch random.below(100) {
    case 0..<20 where cat == nil:
      realm.add(Cat(id, random.pick(names), age: random.below(8), home: home))
    case 20..<28: realm.add(Home(random.pick(names), rooms: random.below(4)))
    case 28..<40: if let cat { realm.delete(cat) }
    case 40..<45: if let home { realm.delete(home) }
    case 45..<46: realm.delete(realm.objects(Cat.self))
    case 46..<47: realm.delete(homes)
    case 47..<55:
      home?.rooms = random.below(4)
      home?.next = homes.isEmpty ? nil : homes[random.below(homes.count)]
    case 55..<60:
      // It is there for a moment only.
      let brief = Cat(100, random.pick(names), age: random.below(8))
      realm.add(brief)
      realm.delete(brief)
    case 60..<70: cat?.name = random.pick(names)
    case 70..<80: cat?.age = random.below(8)
    case 80..<88: cat?.home = home
    default: cat?.weight = random.chance(50) ? nil : 1
    }
  }

  @Test(arguments: Seeds.of(1...6), [true, false])
  func `followers get what they would get without a router`(
    seed: Int, keepsOldValues: Bool
  ) throws {
    var random = SeededRandom(seed: UInt64(seed))
    var program = FedProgram(seed: seed)
    let limits: [BatchLimit] = [.none, .none, .none, .everyCommit, BatchLimit(commits: 2)]
    let all = try (0..<100).map { number in
      try Followed(
        realm, selection(&random), limit: random.pick(limits),
        keeping: random.chance(10) ? .keys : .oldValues, number: UInt32(1 + number))
    }
    var formers = [realm.core.store.newestKnownVersion: try realm.core.store.newestSnapshot()]
    func isNeeded(_ batch: ChangeBatch, by one: Followed) throws -> Bool {
      if keepsOldValues { return true }
      let former = try #require(formers[Version(batch.from)])
      return try one.isNeeded(batch, since: former)
    }
    var (woken, asked, batches) = (0, 0, 0)
    for round in 0..<25 {
      if !keepsOldValues {
        realm.core.store.keepBefore { _ in 8..<11 ~= round ? .keys : .oldValues }
      }
      for _ in 0..<1 + random.below(3) {
        try commit(&random, &program, owners: all.count)
        let snapshot = try realm.core.store.newestSnapshot()
        formers[snapshot.version] = snapshot
        // Otherwise several commits are routed together.
        if random.chance(50) { try router().settle() }
      }
      try router().settle()
      for (number, one) in all.enumerated() {
        asked += 1
        guard one.takeWake() else {
          let missed = try one.expected().flatMap { batch in
            try isNeeded(batch, by: one) ? Followed.text(batch) : nil
          }
          #expect(missed == nil, "\(number) is not woken in round \(round), \(one.limit)")
          continue
        }
        woken += 1
        while true {
          let expected = try one.expected()
          guard let batch = try one.next() else {
            let isRight = try expected.map { try isNeeded($0, by: one) } != true
            let text = expected.map(Followed.text) ?? ""
            #expect(isRight, "\(number) in round \(round), \(one.limit): \(text)")
            break
          }
          #expect(Followed.text(batch) == expected.map(Followed.text), "\(number) in \(round)")
          batches += 1
          // Later, it gets more of the same.
          if random.chance(10) { break }
          try batch.acknowledge()
        }
      }
    }
    #expect(batches > 100)
    #expect(woken < asked * 9 / 10)
  }

  private func commit(
    _ random: inout SeededRandom, _ program: inout FedProgram, owners: Int
  ) throws {
    if random.chance(30) { return try program.commit(realm) }
    let count = 1 + random.below(3)
    try instance.write {
      for _ in 0..<count { step(&random) }
      if random.chance(10) {
        realm.core.sessionToCommit().cursorsOfCommit.append(UInt32(1 + random.below(owners)))
      }
    }
  }
}

class RoutedNovelty: Object {
  @Persisted var text = ""
}
