import Foundation
import Testing

@testable import Tarn

struct WriteTests {
  private struct Refusal: Error, Equatable {}

  @Test func theValueOfTheBlockIsThatOfTheWrite() throws {
    let a = try Shelter().open()
    let name = try a.realm.write { () -> String in
      a.realm.add(Cat(1, "Mia"))
      return a.cat(1)!.name
    }
    #expect(name == "Mia")
    #expect(!a.realm.isInWriteTransaction)
  }

  @Test func aBlockThatThrowsLeavesNothingBehind() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 1)
    let cat = a.cats[0]
    #expect(throws: Refusal()) {
      try a.realm.write {
        cat.name = "changed"
        a.realm.add(Cat(2))
        throw Refusal()
      }
    }
    #expect(cat.name == "cat 0")
    #expect(a.cats.count == 1)
    #expect(!a.realm.isInWriteTransaction)
    #expect(try shelter.open().cats.count == 1)
  }

  @Test func accessorsFollowWhereObjectsComeBetweenThoseOfABulkInsert() throws {
    let a = try Shelter().open()
    var wrong: [Int] = []
    try a.write {
      let ids = (0..<2_000).map { 10 * $0 }
      for id in ids { a.realm.add(Cat(id, String(repeating: "\(id) ", count: 30))) }
      // Backwards: at the end of a packed cluster a row comes without moving others.
      for id in ids.reversed() {
        let cat = a.cat(id)!
        #expect(cat.weight == nil)
        a.realm.add(Cat(id + 1))
        a.cat(id)!.weight = Double(id)
        if cat.weight != Double(id) { wrong.append(id) }
      }
    }
    #expect(wrong == [])
  }

  @Test func aBlockMayEndTheWriteItself() throws {
    let a = try Shelter().open(cats: 1)
    try a.write {
      a.realm.add(Cat(5))
      a.realm.cancelWrite()
    }
    #expect(a.cats.count == 1)
    try a.write {
      a.realm.add(Cat(5))
      try a.realm.commitWrite()
      #expect(!a.realm.isInWriteTransaction)
    }
    #expect(a.cats.count == 2)
    // Another write that it begins is committed at the end.
    try a.write {
      a.realm.cancelWrite()
      a.realm.beginWrite()
      a.realm.add(Cat(6))
    }
    #expect(a.cats.count == 3)
    #expect(throws: Refusal()) {
      try a.write {
        a.realm.add(Cat(7))
        try a.realm.commitWrite()
        throw Refusal()
      }
    }
    #expect(a.cats.count == 4)
  }

  @Test func beginningShowsTheNewestVersionAndTellsObserversFirst() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 1)
    let b = try shelter.open()
    let recorder = CatRecorder()
    var states: [Bool] = []
    recorder.onCall = { _ in states.append(b.realm.isInWriteTransaction) }
    recorder.observe(b.cats)
    b.pump()
    try a.add(5)
    b.realm.beginWrite()
    #expect(recorder.calls.last == "-[] +[1] ~[]")
    #expect(states == [false, true])
    #expect(b.cats.count == 2)
    b.realm.cancelWrite()
  }

  @Test func beginningMakesTheFirstCallBeforeTheWrite() throws {
    let a = try Shelter().open(cats: 1)
    let recorder = CatRecorder(a.cats)
    try a.add(5)
    #expect(recorder.calls == ["initial 1"])
    a.pump()
    #expect(recorder.calls == ["initial 1", "-[] +[1] ~[]"])
    #expect(recorder.problems == [])
  }

  @Test func aCallbackOfTheBeginMayCancelOrUseTheWrite() throws {
    let a = try Shelter().open(cats: 1)
    let cancelling = CatRecorder()
    cancelling.onCall = { _ in a.realm.cancelWrite() }
    cancelling.observe(a.cats)
    a.realm.beginWrite()
    #expect(!a.realm.isInWriteTransaction)
    cancelling.token?.invalidate()
    let adding = CatRecorder()
    adding.onCall = { _ in if a.cats.count == 1 { a.realm.add(Cat(9)) } }
    adding.observe(a.cats)
    let late = CatRecorder(a.cats)
    a.realm.beginWrite()
    #expect(a.cats.count == 2)
    a.cat(0)!.age += 1
    try a.realm.commitWrite()
    a.pump()
    #expect(adding.mirror == [0, 9])
    #expect(late.mirror == [0, 9])
    #expect(late.calls == ["initial 2", "-[] +[] ~[0]"])
    #expect(late.problems == [])
  }

  @Test func ownChangesShowAtOnceAndOthersAfterTheCommit() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 3)
    let b = try shelter.open()
    let old = a.cats.where { $0.age >= 20 }.sorted(by: \.name)
    #expect(old.count == 1)
    #expect(b.cats.count == 3)
    a.realm.beginWrite()
    a.cat(0)!.age = 99
    #expect(old.map(\.id) == [0, 2])
    a.cat(0)!.name = "z"
    #expect(old.map(\.id) == [2, 0])
    a.realm.delete(a.cat(2)!)
    #expect(old.map(\.id) == [0])
    b.realm.refresh()
    #expect(b.cats.count == 3)
    try a.realm.commitWrite()
    #expect(old.map(\.id) == [0])
    b.realm.refresh()
    #expect(b.cats.count == 2)
  }

  @Test func cancellingRestoresEverything() throws {
    let a = try Shelter().open(cats: 3)
    let all = a.cats.sorted(by: \.age, ascending: false)
    #expect(all.map(\.id) == [2, 1, 0])
    let deleted = a.cat(1)!
    let sameRow = a.cat(1)!
    let recorder = CatRecorder(all)
    a.pump()
    let added = Cat(7)
    let home = Home("High Street")
    a.realm.beginWrite()
    a.realm.add(added)
    added.home = home
    a.cat(0)!.age = 1_000
    a.realm.delete(deleted)
    #expect(all.map(\.id) == [0, 2, 7])
    a.realm.cancelWrite()
    #expect(all.map(\.id) == [2, 1, 0])
    #expect(a.cat(0)!.age == 0)
    #expect(added.isInvalidated)
    #expect(home.isInvalidated)
    #expect(deleted.isInvalidated)
    #expect(!sameRow.isInvalidated)
    #expect(sameRow.age == 10)
    #expect(a.realm.objects(Home.self).isEmpty)
    a.pump()
    #expect(recorder.calls == ["initial 3"])
    // Keys that the cancelled write gave may be given again; its objects stay dead.
    try a.write { a.realm.add(Home("Low Street")) }
    #expect(home.isInvalidated)
  }

  @Test func anEmptyCommitTellsRealmObserversOnly() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 1)
    let b = try shelter.open()
    var told: [String] = []
    let tokens = [("a", a), ("b", b)].map { name, instance in
      instance.realm.observe { notification, _ in told.append("\(name) \(notification)") }
    }
    let recorder = CatRecorder(a.cats)
    a.pump()
    b.pump()
    told = []
    try a.write {}
    #expect(told == ["a didChange"])
    a.pump()
    b.pump()
    #expect(told == ["a didChange", "b didChange"])
    #expect(recorder.calls == ["initial 1"])
    a.realm.beginWrite()
    a.realm.cancelWrite()
    a.pump()
    b.pump()
    #expect(told.count == 2)
    for token in tokens { token.invalidate() }
  }

  @Test func aWriteOnAnotherThreadWaitsForTheGate() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 1)
    let configuration = shelter.configuration
    a.realm.beginWrite()
    a.cat(0)!.age = 5
    let group = DispatchGroup()
    DispatchQueue.global().async(group: group) {
      do {
        let there = try Realm(configuration: configuration)
        try there.write { there.object(ofType: Cat.self, forPrimaryKey: 0)!.age += 1 }
      } catch {
        Issue.record(error)
      }
    }
    try a.realm.commitWrite()
    group.wait()
    a.realm.refresh()
    #expect(a.cat(0)!.age == 6)
  }

  @Test func aRealmLetGoOfInAWriteCancelsIt() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 1)
    do {
      let b = try shelter.open()
      b.realm.beginWrite()
      b.realm.add(Cat(5))
    }
    try a.add(6)
    #expect(a.cats.count == 2)
  }

  @Test func objectsInsertedAndIteratedInsideAWriteDoNotShiftTheLoop() throws {
    let a = try Shelter().open(cats: 5)
    var seen: [Int] = []
    try a.write {
      for cat in a.cats.where({ $0.age < 1_000 }) {
        guard !cat.isInvalidated else { continue }
        seen.append(cat.id)
        if cat.id == 0 { a.realm.add(Cat(10)) }
        if cat.id == 1 { a.realm.delete(a.cat(3)!) }
        cat.age = 2_000
      }
    }
    #expect(seen == [0, 1, 2, 4])
  }
}
