import Foundation
import TarnStore
import TestSupport
import Testing

@testable import Tarn

/// S71: commits that share one transaction.
struct AsyncWriteGroupTests {
  private func version(_ place: Place) -> UInt64 { place.realm.core.shownVersion!.rawValue }

  @Test("S71") func groupedCommitsShareATransactionAndEndInOrder() throws {
    let shelter = try Shelter(.full)
    let a = try shelter.open()
    try a.add(1_000)
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
    #expect(recorder.mirror.count == 101 && recorder.problems == [])
    #expect(try shelter.open().cats.count == 101)
  }

  @Test("S71") func aBlockOfAGroupIsTakenBackAlone() throws {
    let shelter = try Shelter(.full)
    let a = try shelter.open()
    try a.write { for id in 0..<30 { a.realm.add(Cat(id, age: id)) } }
    var random = SeededRandom(seed: 71)
    var model = Dictionary(uniqueKeysWithValues: (0..<30).map { ($0, $0) })
    var (wrong, ends, taken) = (0, 0, 0)
    func matches(_ place: Place) -> Bool {
      let found = Dictionary(uniqueKeysWithValues: place.cats.map { ($0.id, $0.age) })
      let byAge = model.values.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
      return found == model
        && byAge.allSatisfy { age, count in place.cats.where { $0.age == age }.count == count }
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
    #expect(wrong == 0 && ends > 100 && taken > 50)
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
  @Test("S71 S79", arguments: Array(1...8) as [UInt64])
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
    #expect(states.count > 40 && version(a) - first < states.count / 2)
    for follower in followers {
      #expect(follower.problems == [] && follower.calls > 5)
      let rest = Set(follower.seen + 1..<states.count)
      #expect(rest.isSubset(of: follower.skipped))
    }
  }

  @Test("S71 S79") func anObjectsObserverIsLeftOutOfOneOfAGroup() throws {
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
    #expect(told == ["age: 12 13", "age"] && version(a) - first == 2)
    token.invalidate()
    other.invalidate()
  }
}
