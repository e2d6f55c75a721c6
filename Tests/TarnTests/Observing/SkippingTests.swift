import Foundation
import TestSupport
import Testing

@testable import Tarn

struct SkippingTests {
  @Test func aSkippedCommitIsToldToEverybodyElse() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 10)
    let b = try shelter.open()
    let skipped = CatRecorder(a.cats)
    let other = CatRecorder(a.cats)
    let there = CatRecorder(b.cats)
    a.pump()
    b.pump()
    let token = try #require(skipped.token)
    try a.realm.write(withoutNotifying: [token]) { a.realm.add(Cat(100)) }
    try a.add(101)
    a.pump()
    b.pump()
    #expect(skipped.calls == ["initial 10", "-[] +[11] ~[]"])
    #expect(other.calls == ["initial 10", "-[] +[10] ~[]", "-[] +[11] ~[]"])
    #expect(there.calls == ["initial 10", "-[] +[10, 11] ~[]"])
  }

  @Test func realmAndObjectObserversAreSkippedForOneCommit() throws {
    let a = try Shelter().open(cats: 2)
    var told: [String] = []
    let tokens = [
      a.realm.observe { _, _ in told.append("realm") },
      a.cat(1)!.observe { (change: ObjectChange<Cat>) in
        guard case .change(_, let properties) = change else { return }
        told.append("\(properties[0].oldValue!) \(properties[0].newValue!)")
      },
    ]
    try a.realm.write(withoutNotifying: tokens) { a.cat(1)!.age = 11 }
    a.pump()
    #expect(told == [])
    try a.write { a.cat(1)!.age = 12 }
    a.pump()
    #expect(told == ["realm", "11 12"])
    try a.realm.write(withoutNotifying: tokens + tokens) {}
    try a.write { a.cat(1)!.age = 13 }
    a.pump()
    #expect(told == ["realm", "11 12", "realm", "12 13"])
    for each in tokens { each.invalidate() }
  }

  @Test func aWriteInItsOwnCallbackCanLeaveTheObserverOut() throws {
    let a = try Shelter().open(cats: 2)
    let recorder = CatRecorder()
    recorder.checksContents = false
    recorder.onCall = { cats in
      do {
        try a.realm.write(withoutNotifying: [recorder.token!]) { cats.first?.age += 1 }
      } catch {
        Issue.record(error)
      }
    }
    let other = CatRecorder()
    other.checksContents = false
    recorder.observe(a.cats)
    other.observe(a.cats)
    a.pump()
    try a.add(7)
    a.pump()
    #expect(recorder.calls == ["initial 2", "-[] +[2] ~[]"])
    #expect(other.calls == ["initial 2", "-[] +[] ~[0]", "-[] +[2] ~[]", "-[] +[] ~[0]"])
    #expect(a.cat(0)!.age == 2)
    recorder.onCall = { _ in }
  }

  /// What was committed before is told by the begin.
  @Test func whatCameBeforeASkippedCommitIsTold() throws {
    let shelter = try Shelter()
    let (a, b) = (try shelter.open(cats: 1), try shelter.open())
    let recorder = CatRecorder(a.cats)
    a.pump()
    try a.add(5)
    try b.add(6)
    try a.realm.write(withoutNotifying: [recorder.token!]) { a.realm.add(Cat(7)) }
    #expect(recorder.calls == ["initial 1", "-[] +[1, 2] ~[]"])
    try b.add(8)
    a.pump()
    #expect(recorder.calls.dropFirst(2) == ["-[] +[4] ~[]"])
  }

  /// The begin makes the first call.
  @Test func anObserverThatWasNotCalledYetIsCalledByTheBegin() throws {
    let a = try Shelter().open(cats: 1)
    let recorder = CatRecorder(a.cats)
    try a.realm.write(withoutNotifying: [recorder.token!]) {
      #expect(recorder.calls == ["initial 1"])
      a.realm.add(Cat(5))
    }
    a.pump()
    #expect(recorder.calls == ["initial 1"])
    try a.add(6)
    a.pump()
    #expect(recorder.calls == ["initial 1", "-[] +[2] ~[]"])
  }

  /// Who was called before in the round and who is called later.
  @Test func aWriteInACallbackCanLeaveOthersOut() throws {
    let a = try Shelter().open(cats: 1)
    let recorders = (0..<3).map { _ in CatRecorder() }
    for each in recorders { each.checksContents = false }
    recorders[1].onCall = { cats in
      guard cats.count == 2, cats[0].id == 0 else { return }
      let others = [recorders[0].token!, recorders[2].token!]
      try! a.realm.write(withoutNotifying: others) { a.realm.delete(cats[0]) }
    }
    for each in recorders { each.observe(a.cats) }
    a.pump()
    try a.add(5)
    a.pump()
    let calls = ["initial 1", "-[] +[1] ~[]"]
    #expect(recorders.map(\.calls) == [calls, calls + ["-[0] +[] ~[]"], calls])
    try a.add(6)
    a.pump()
    for each in recorders { #expect(each.calls.last == "-[] +[1] ~[]") }
  }

  @Test func aWriteThatThrowsSkipsNothingLater() throws {
    struct Refusal: Error {}
    let a = try Shelter().open(cats: 2)
    let recorder = CatRecorder(a.cats)
    a.pump()
    #expect(throws: Refusal.self) {
      try a.realm.write(withoutNotifying: [recorder.token!]) {
        a.realm.add(Cat(5))
        throw Refusal()
      }
    }
    try a.add(6)
    a.pump()
    #expect(recorder.calls == ["initial 2", "-[] +[2] ~[]"])
  }

  @Test(arguments: 1...8)
  func aMirrorThatIsEditedBesideSkippedWritesStaysRight(seed: Int) throws {
    var numbers = SeededRandom(seed: UInt64(seed))
    let shelter = try Shelter()
    let a = try shelter.open(cats: 12)
    let b = try shelter.open()
    var mirror: [Int] = []
    let sorted = a.cats.sorted(by: \.age)
    let token = sorted.observe { change in
      switch change {
      case .initial(let cats): mirror = cats.map(\.id)
      case .update(let cats, let deletions, let insertions, _):
        for index in deletions.reversed() { mirror.remove(at: index) }
        for index in insertions { mirror.insert(cats[index].id, at: index) }
      case .error(let error): Issue.record(error)
      }
    }
    a.pump()
    for id in 100..<160 {
      switch numbers.below(5) {
      case 0 where !sorted.isEmpty:
        a.pump()
        let index = numbers.below(sorted.count)
        try a.realm.write(withoutNotifying: [token]) {
          mirror = sorted.map(\.id)
          mirror.remove(at: index)
          a.realm.delete(sorted[index])
        }
      case 1, 2: try a.add(id, age: numbers.below(100))
      case 3: try b.add(id, age: numbers.below(100))
      default: try b.write { b.cats.first?.age = numbers.below(100) }
      }
      if numbers.chance(30) { a.pump() }
    }
    a.realm.refresh()
    #expect(mirror == sorted.map(\.id))
    token.invalidate()
  }
}
