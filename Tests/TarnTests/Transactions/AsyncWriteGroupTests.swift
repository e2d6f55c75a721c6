import Foundation
import TarnStore
import TestSupport
import Testing

@testable import Tarn

/// Commits that share one transaction.
struct AsyncWriteGroupTests {
  private func version(_ instance: Instance) -> UInt64 {
    instance.realm.core.shownVersion!.rawValue
  }

  @Test("commits of a group share one transaction and complete in order")
  func groupedCommitsShareATransactionAndEndInOrder() throws {
    let shelter = try Shelter(.full)
    let a = try shelter.open()
    try a.add(1_000)
    a.groupWhatIsQueued()
    let (first, recorder) = (version(a), CatRecorder(a.cats))
    a.pump()
    var ends: [Int] = []
    for id in 0..<100 {
      a.realm.beginAsyncWrite {
        #expect(a.cats.count == id + 1)
        a.realm.add(Cat(id))
        a.realm.commitAsyncWrite(allowGrouping: true) { error in
          if error == nil { ends.append(id) }
        }
        #expect(a.cat(id) != nil)
      }
    }
    a.finish()
    #expect(ends == Array(0..<100))
    #expect(version(a) - first < 40)
    #expect(recorder.mirror.count == 101)
    #expect(recorder.problems == [])
    #expect(try shelter.open().cats.count == 101)
  }

  @Test("a failing block of a group is rolled back without the others")
  func aBlockOfAGroupIsTakenBackAlone() throws {
    let shelter = try Shelter(.full)
    let a = try shelter.open()
    try a.write { for id in 0..<30 { a.realm.add(Cat(id, age: id)) } }
    var random = SeededRandom(seed: 71)
    var model = Dictionary(uniqueKeysWithValues: (0..<30).map { ($0, $0) })
    var (wrong, ends, taken) = (0, 0, 0)
    func matches(_ instance: Instance) -> Bool {
      let found = Dictionary(uniqueKeysWithValues: instance.cats.map { ($0.id, $0.age) })
      let byAge = model.values.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
      return found == model
        && byAge.allSatisfy { age, count in instance.cats.where { $0.age == age }.count == count }
    }
    func change() -> [Int: Int] {
      var next = model
      for _ in 0...random.below(3) {
        let id = random.below(60)
        let age = random.below(10)
        if let cat = a.cat(id) {
          if random.chance(30) {
            a.realm.delete(cat)
            next[id] = nil
          } else {
            cat.age = age
            cat.name = String(repeating: "x", count: random.below(3_000))
            next[id] = age
          }
        } else {
          let home = random.chance(50) ? Home("street \(id)") : nil
          a.realm.add(Cat(id, age: age, home: home))
          next[id] = age
        }
      }
      return next
    }
    for _ in 0..<40 {
      for _ in 0..<random.below(30) {
        a.realm.beginAsyncWrite {
          if !matches(a) { wrong += 1 }
          let next = change()
          switch random.below(10) {
          case 0: a.realm.cancelWrite()
          case 1: break
          case 2:
            model = next
            try! a.realm.commitWrite()
            return
          default:
            model = next
            a.realm.commitAsyncWrite(allowGrouping: random.chance(90)) { _ in ends += 1 }
            if !matches(a) { wrong += 1 }
            return
          }
          if a.realm.isInWriteTransaction { a.realm.cancelWrite() }
          taken += 1
          if !matches(a) { wrong += 1 }
        }
      }
      a.finish()
      if !matches(a) { wrong += 1 }
      #expect(matches(try shelter.open()))
    }
    #expect(wrong == 0)
    #expect(ends > 100)
    #expect(taken > 50)
  }

  /// A follower of results that is left out of some commits.
  private final class Follower {
    private(set) var problems: [String] = []
    private(set) var token: NotificationToken?
    /// The commits that it is left out of, by their numbers from 1 on.
    var skipped: Set<Int> = []
    /// The last state that it was told of.
    private(set) var seen = 0
    private(set) var calls = 0

    /// - Parameter states: the ids that there were at first and after each commit.
    init(_ cats: Results<Cat>, _ find: @escaping (Int) -> Cat, _ states: @escaping () -> [[Int]]) {
      token = cats.observeChanges { [unowned self] change in
        guard case .update = change else { return }
        calls += 1
        let states = states()
        while skipped.contains(seen + 1) { seen += 1 }
        var end = seen
        while end + 1 < states.count, !skipped.contains(end + 1) { end += 1 }
        var copy = states[seen].map(find)
        change.apply(to: &copy)
        if copy.map(\.id) != states[end] { problems.append("\(seen) to \(end)") }
        seen = end
      }
    }
  }

  /// Whoever is left out of one commit of a group is told of those before it and of those after it.
  @Test(
    "a token excluded from one commit of a group gets the others",
    arguments: Array(1...8) as [UInt64])
  func whoIsLeftOutOfACommitIsToldOfTheOthers(seed: UInt64) throws {
    let a = try Shelter(.full).open()
    var ages = Dictionary(uniqueKeysWithValues: (0..<20).map { ($0, 5 * $0) })
    try a.write { for (id, age) in ages { a.realm.add(Cat(id, age: age)) } }
    var random = SeededRandom(seed: seed)
    func young() -> [Int] { ages.filter { $1 < 50 }.sorted { $0.value < $1.value }.map(\.key) }
    var states = [young()]
    let cats = a.cats.where { $0.age < 50 }.sorted(by: \.age)
    let followers = (0..<3).map { _ in Follower(cats, { a.cat($0)! }, { states }) }
    a.pump()
    a.groupWhatIsQueued()
    let first = version(a)
    for _ in 0..<10 {
      for _ in 0..<random.below(25) {
        a.realm.beginAsyncWrite {
          // Everybody sees something of each commit.
          a.cat(0)!.name = "n\(states.count)"
          var next = ages
          for _ in 0..<random.below(4) {
            let id = 1 + random.below(19)
            let free = (1..<120).filter { !next.values.contains($0) }
            next[id] = random.pick(free)
            a.cat(id)!.age = next[id]!
          }
          if random.chance(10) { return a.realm.cancelWrite() }
          ages = next
          states.append(young())
          let out = followers.filter { _ in random.chance(25) }
          for follower in out { follower.skipped.insert(states.count - 1) }
          a.realm.commitAsyncWrite(
            allowGrouping: random.chance(90), withoutNotifying: out.map { $0.token! })
        }
      }
      a.finish()
    }
    #expect(states.count > 40)
    #expect(version(a) - first < states.count / 2)
    for follower in followers {
      #expect(follower.problems == [])
      #expect(follower.calls > 5)
      let rest = Set(follower.seen + 1..<states.count)
      #expect(rest.isSubset(of: follower.skipped))
    }
  }

  @Test("an object's observer can be excluded from one commit of a group")
  func anObjectsObserverIsLeftOutOfOneOfAGroup() throws {
    let a = try Shelter(.full).open(cats: 1)
    var told: [String] = []
    let token = a.cat(0)!.observe { (change: ObjectChange<Cat>) in
      guard case .change(_, let properties) = change else { return }
      told += properties.map { "\($0.name): \($0.oldValue!) \($0.newValue!)" }
    }
    let other = a.cat(0)!.observe(keyPaths: [\.age]) { _ in told.append("age") }
    a.pump()
    a.groupWhatIsQueued()
    let first = version(a)
    func commit(leavingOut tokens: [NotificationToken] = [], _ change: @escaping (Cat) -> Void) {
      a.realm.beginAsyncWrite {
        change(a.cat(0)!)
        a.realm.commitAsyncWrite(allowGrouping: true, withoutNotifying: tokens)
      }
    }
    commit { $0.name = "Rex" }
    commit(leavingOut: [token]) { $0.age = 11 }
    commit { $0.name = "Fido" }
    a.finish()
    #expect(told == ["name: cat 0 Fido", "age"])
    #expect(version(a) - first == 1)
    told = []
    commit(leavingOut: [token, other]) { $0.age = 12 }
    commit { $0.age = 13 }
    a.finish()
    #expect(told == ["age: 12 13", "age"])
    #expect(version(a) - first == 2)
    token.invalidate()
    other.invalidate()
  }

  @Test("property observers are called for each block of a group")
  func observersOfPropertiesAreToldOfEachBlock() throws {
    let a = try Shelter(.full).open(cats: 2)
    let (cat, other) = (a.cat(0)!, a.cat(1)!)
    let (age, end) = (watch(cat, \.age), watch(other, \.isInvalidated))
    a.groupWhatIsQueued()
    let first = version(a)
    for number in 1...5 {
      a.realm.beginAsyncWrite {
        cat.age = number
        if number == 3 {
          a.realm.delete(a.cat(1)!)
          a.realm.cancelWrite()
          #expect(cat.age == 2)
          #expect(a.cat(1) != nil)
        } else {
          a.realm.commitAsyncWrite(allowGrouping: true)
        }
      }
    }
    a.finish()
    #expect(age.news == ["0 → 1", "1 → 2", "2 → 3", "3 → 2", "2 → 4", "4 → 5"])
    #expect(end.news == ["false → true", "true → false"])
    #expect(version(a) - first == 1)
    a.realm.beginAsyncWrite {
      a.realm.delete(a.cat(1)!)
      a.realm.commitAsyncWrite(allowGrouping: true)
    }
    a.realm.beginAsyncWrite { cat.age = 6 }
    a.finish()
    #expect(end.news == ["false → true"])
    #expect(a.cat(1) == nil)
    #expect(age.news == ["5 → 6", "6 → 5"])
  }

  /// What is left out lies before, between or behind what is told.
  @Test(
    "nested changes of a group come only from commits that do not exclude the token",
    arguments: 0..<16)
  func nestedChangesAreThoseOfThePartsThatAreTold(leftOut: Int) throws {
    let shelter = try Shelter(.full)
    let a = try shelter.open()
    try a.write {
      for id in 0..<4 { a.realm.add(Cat(id, home: Home("street \(id)"))) }
    }
    let recorder = NestedRecorder(a.cats.sorted(by: \.id))
    let everything = NestedRecorder(a.cats.sorted(by: \.id))
    a.pump()
    a.groupWhatIsQueued()
    let first = version(a)
    for id in 0..<4 {
      a.realm.beginAsyncWrite {
        a.cat(id)!.home!.rooms += 1
        if id % 2 == 0 { a.cat(id)!.age += 1 }
        let isLeftOut = leftOut & (1 << id) != 0
        a.realm.commitAsyncWrite(
          allowGrouping: true, withoutNotifying: isLeftOut ? [recorder.token!] : [])
      }
    }
    a.finish()
    #expect(version(a) - first == 1)
    var expected: [[Int: [String]]] = [[:]]
    for id in 0..<4 {
      if leftOut & (1 << id) != 0 {
        expected.append([:])
      } else {
        expected[expected.count - 1][id] = (id % 2 == 0 ? ["age"] : []) + ["home.rooms"]
      }
    }
    #expect(recorder.calls == expected.filter { !$0.isEmpty })
    let all = Dictionary(
      uniqueKeysWithValues: (0..<4).map { id in
        (id, (id % 2 == 0 ? ["age"] : []) + ["home.rooms"])
      })
    #expect(everything.calls == [all])
    // The last part of one group alone.
    a.realm.beginAsyncWrite {
      a.cat(0)!.name = "Rex"
      a.realm.commitAsyncWrite(allowGrouping: true, withoutNotifying: [recorder.token!])
    }
    a.realm.beginAsyncWrite {
      a.cat(1)!.name = "Fido"
      a.realm.commitAsyncWrite(allowGrouping: true)
    }
    a.finish()
    #expect(recorder.calls.last == [1: ["name"]])
  }

  /// Keys of sections are asked of what there was after each commit.
  @Test(
    "sections report a group as they report its single commits",
    arguments: Array(1...6) as [UInt64])
  func sectionsByABlockAreToldOfAGroupAsOfItsCommits(seed: UInt64) throws {
    func run(isGrouped: Bool) throws -> (calls: [String], versions: UInt64) {
      let a = try Shelter(.full).open(cats: 8)
      let sections = a.cats.sectioned(
        by: { $0.age / 20 }, sortDescriptors: [SortDescriptor(keyPath: \Cat.age)])
      var calls: [String] = []
      let token = sections.observe { change in
        guard case .update(_, let went, let came, let changed, let more, let fewer) = change else {
          return
        }
        let paths = [went, came, changed].map(SectionRecorder<Int, Cat>.text)
        calls.append("\(paths) \(Array(more)) \(Array(fewer))")
      }
      a.pump()
      a.groupWhatIsQueued()
      let first = version(a)
      var random = SeededRandom(seed: seed)
      for number in 0..<60 {
        a.realm.beginAsyncWrite {
          for _ in 0...random.below(3) { a.cat(random.below(8))!.age = random.below(100) }
          a.realm.commitAsyncWrite(
            allowGrouping: isGrouped, withoutNotifying: number % 2 == 0 ? [] : [token])
        }
      }
      a.finish()
      token.invalidate()
      return (calls, version(a) - first)
    }
    let (single, grouped) = (try run(isGrouped: false), try run(isGrouped: true))
    #expect(single.calls == grouped.calls)
    #expect(single.calls.count > 10)
    #expect(single.versions == 60)
    #expect(grouped.versions == 3)
  }

  @Test("objects added by a block that is rolled back are unmanaged again")
  func objectsOfABlockThatIsTakenBackAreGivenBack() throws {
    let shelter = try Shelter(.full)
    var configuration = shelter.configuration
    configuration.returnsObjectsOfCancelledWrites = true
    let a = try Instance(configuration, shelter)
    try a.add(0)
    a.groupWhatIsQueued()
    let first = version(a)
    let (kept, back) = (Cat(1, "kept"), Cat(2, "back"))
    a.realm.beginAsyncWrite {
      a.realm.add(kept)
      a.realm.commitAsyncWrite(allowGrouping: true)
    }
    a.realm.beginAsyncWrite {
      a.realm.add(back)
      a.realm.cancelWrite()
      #expect(back.realm == nil)
      #expect(back.name == "back")
      #expect(kept.realm != nil)
    }
    a.realm.beginAsyncWrite {
      a.realm.add(back)
      a.realm.commitAsyncWrite(allowGrouping: true)
    }
    a.finish()
    #expect(version(a) - first == 1)
    #expect(back.realm != nil)
    #expect(kept.name == "kept")
    #expect(a.cats.count == 3)
  }
}
