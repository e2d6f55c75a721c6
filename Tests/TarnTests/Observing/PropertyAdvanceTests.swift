import Foundation
import TestSupport
import Testing

@testable import Tarn

/// What others have committed, told when the instance moves there.
struct PropertyAdvanceTests {
  private func pair() throws -> (Instance, Instance) {
    let shelter = try Shelter()
    return (try shelter.open(cats: 3), try shelter.open())
  }

  /// By a refresh, in a turn, and at the begin of a write; old to new once.
  @Test func manyCommitsAreOneCallAtEachKindOfMove() throws {
    let (a, b) = try pair()
    let age = watch(b.cat(1)!, \.age, [.prior, .old, .new])
    func commit(_ ages: Int...) throws {
      for age in ages { try a.write { a.cat(1)!.age = age } }
      #expect(age.news == [])
    }
    try commit(1, 5, 10)
    b.realm.refresh()
    #expect(age.news == ["before: 10 → -", "10 → 10"])
    try commit(11)
    b.pump()
    #expect(age.news == ["before: 10 → -", "10 → 11"])
    try commit(12, 13)
    b.realm.beginWrite()
    #expect(age.news == ["before: 11 → -", "11 → 13"])
    b.realm.cancelWrite()
    b.realm.autorefresh = false
    try commit(14)
    b.pump()
    #expect(age.news == [])
    #expect(b.cat(1)!.age == 13)
    b.realm.refresh()
    #expect(age.news.last == "13 → 14")
    try a.write { a.cat(2)!.age = 5 }
    b.realm.refresh()
    #expect(age.news == [])
  }

  /// All calls before the move, then all after it; before it nobody sees the new state,
  /// and afterwards nobody sees the old one.
  @Test func allAreToldBeforeTheMoveAndThenAllAfterIt() throws {
    let (a, b) = try pair()
    let cats = (0..<3).map { b.cat($0)! }
    var order: [String] = []
    let watches = cats.map { watch($0, \.age, [.prior, .new]) }
    let results = b.cats.where { $0.age > 100 }
    for (number, watch) in watches.enumerated() {
      watch.onCall = { _, change in
        order.append("\(change.isPrior ? "before" : "after") \(number)")
        let shown = cats.map(\.age)
        #expect(shown == (change.isPrior ? [0, 10, 20] : [101, 102, 103]))
        #expect(results.count == (change.isPrior ? 0 : 3))
        #expect(b.realm.refresh() == false)
        b.realm.invalidate()
        #expect(!cats[0].isInvalidated)
      }
    }
    try a.write { for id in 0..<3 { a.cat(id)!.age = 101 + id } }
    b.pump()
    #expect(order == (0..<3).map { "before \($0)" } + (0..<3).map { "after \($0)" })
    order = []
    a.realm.beginWrite()
    a.cat(1)!.age = 200
    a.realm.cancelWrite()
    #expect(order == [])
  }

  /// The same where a write is cancelled.
  @Test func aCancelTellsAllBeforeAndThenAllAfter() throws {
    let (a, _) = try pair()
    let cats = (0..<3).map { a.cat($0)! }
    let watches = cats.map { watch($0, \.age, [.prior]) }
    a.realm.beginWrite()
    for cat in cats { cat.age += 1 }
    for watch in watches {
      watch.onCall = { _, change in
        #expect(cats.map(\.age) == (change.isPrior ? [1, 11, 21] : [0, 10, 20]))
      }
    }
    let before = watches.map(\.calls.count)
    a.realm.cancelWrite()
    #expect(before == [2, 2, 2])
    #expect(watches.map(\.calls.count) == [4, 4, 4])
  }

  /// A turn that comes while observers run is made up for.
  @Test func aTurnThatComesInACallbackIsMadeUpFor() throws {
    let (a, b) = try pair()
    let age = watch(b.cat(1)!, \.age)
    age.onCall = { _, _ in
      guard age.calls.count == 1 else { return }
      try? a.write { a.cat(1)!.age = 2 }
      b.pump()
      #expect(b.cat(1)!.age == 1)
    }
    try a.write { a.cat(1)!.age = 1 }
    b.pump()
    #expect(age.calls == ["10 → 1", "1 → 2"])
  }

  /// Deletions elsewhere; another object under the same key is another one.
  @Test func deletionsElsewhereAreTold() throws {
    let (a, b) = try pair()
    try a.write { a.cat(1)!.home = Home("High Street") }
    b.pump()
    let cat = b.cat(1)!
    let (end, age, street) = (
      watch(cat, \.isInvalidated), watch(cat, \.age), watch(cat, \.home?.street)
    )
    try a.write { a.realm.delete(a.cat(1)!.home!) }
    b.pump()
    #expect(street.news == ["High Street → nil"])
    try a.write {
      a.realm.delete(a.cat(1)!)
      a.realm.add(Cat(1, "new", age: 50))
    }
    b.pump()
    #expect(end.news == ["false → true"])
    #expect(end.objects.allSatisfy { $0 === cat })
    try a.write { a.cat(1)!.age = 51 }
    b.pump()
    #expect(end.news == [])
    #expect(age.news == [])
    #expect(age.token?.invalidate() == false)
    #expect(b.realm.core.properties == nil)
  }

  /// A plain thread has no turns, but moves.
  @Test func aPlainThreadIsTold() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 2)
    let configuration = shelter.configuration
    nonisolated(unsafe) var told: [String] = []  // because: read when the thread has ended
    nonisolated(unsafe) let writer = a  // because: this thread waits meanwhile
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      let realm = try! Realm(configuration: configuration)
      let age = watch(realm.object(ofType: Cat.self, forPrimaryKey: 1)!, \.age)
      let isWritten = DispatchSemaphore(value: 0)
      DispatchQueue.global().async {
        let other = try! Realm(configuration: configuration)
        try! other.write { other.object(ofType: Cat.self, forPrimaryKey: 1)!.age = 3 }
        isWritten.signal()
      }
      isWritten.wait()
      unsafe told += age.news
      realm.refresh()
      unsafe told += age.news
      try! realm.write { realm.object(ofType: Cat.self, forPrimaryKey: 1)!.age = 4 }
      unsafe told += age.news
      done.signal()
    }
    done.wait()
    withExtendedLifetime(unsafe writer) {}
    #expect(unsafe told == ["10 → 3", "3 → 4"])
  }

  /// A token may end elsewhere: no call comes then.
  @Test func aTokenMayEndOnAnotherThread() throws {
    let (a, b) = try pair()
    let age = watch(b.cat(1)!, \.age)
    let token = age.token!
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      token.invalidate()
      done.signal()
    }
    done.wait()
    try a.write { a.cat(1)!.age = 3 }
    b.pump()
    #expect(age.news == [])
    #expect(b.realm.core.properties == nil)
  }

  /// Across processes: the other one observes until it is told of the last commit.
  @Test func anotherProcessCommits() async throws {
    let shelter = try Shelter()
    _ = try shelter.open(cats: 2)
    let folder = shelter.folder
    let (observerSaid, writerSaid) = (KeptErrors(in: folder), KeptErrors(in: folder))
    async let observer = #expect(processExitsWith: .success) {
      [folder = folder as String, said = observerSaid as KeptErrors] in
      said.keep()
      let instance = try Instance(catsIn: folder)
      let age = watch(instance.cat(1)!, \.age)
      let end = watch(instance.cat(1)!, \.isInvalidated)
      try Data().write(to: URL(fileURLWithPath: folder + "/ready"))
      let last = ContinuousClock.now + .seconds(300)
      while end.calls.isEmpty, ContinuousClock.now < last {
        instance.scheduler.wait(timeout: 1)
        instance.pump()
      }
      // However many commits each step covers, they follow each other without a gap.
      var value = "10"
      for call in age.calls {
        precondition(call.hasPrefix(value + " → "), call)
        value = String(call.dropFirst(value.count + 3))
      }
      precondition(end.calls == ["false → true"])
    }
    async let writer = #expect(processExitsWith: .success) {
      [folder = folder as String, said = writerSaid as KeptErrors] in
      said.keep()
      precondition(waitUntil { FileManager.default.fileExists(atPath: folder + "/ready") })
      let instance = try Instance(catsIn: folder)
      for age in 11...60 { try instance.write { instance.cat(1)!.age = age } }
      try instance.write { instance.realm.delete(instance.cat(1)!) }
    }
    observerSaid.tell(await observer)
    writerSaid.tell(await writer)
  }
}
