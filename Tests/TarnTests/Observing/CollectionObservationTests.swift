import Foundation
import Testing

@testable import Tarn

struct CollectionObservationTests {
  private func told(
    by query: (Results<Cat>) -> Results<Cat> = { $0 }, of change: (Instance) -> Void
  ) throws -> [String] {
    let a = try Shelter().open(cats: 4)
    let home = Home("High Street", rooms: 2)
    try a.write {
      a.realm.add(home)
      a.cat(1)!.home = home
      a.cat(3)!.home = home
    }
    let recorder = CatRecorder(query(a.cats))
    a.pump()
    try a.write { change(a) }
    a.pump()
    #expect(recorder.problems == [])
    return Array(recorder.calls.dropFirst())
  }

  @Test func indicesOfModificationsAreThoseBefore() throws {
    let calls = try told { a in
      a.realm.delete(a.cat(1)!)
      a.cat(2)!.name = "new"
    }
    #expect(calls == ["-[1] +[] ~[2]"])
  }

  @Test func assigningTheSameValueIsAModification() throws {
    #expect(try told { a in a.cat(2)!.age = a.cat(2)!.age } == ["-[] +[] ~[2]"])
  }

  @Test func startingAndCeasingToMatchAreInsertionAndDeletion() throws {
    let query: (Results<Cat>) -> Results<Cat> = { $0.where { $0.age >= 20 } }
    #expect(try told(by: query) { $0.cat(0)!.age = 50 } == ["-[] +[0] ~[]"])
    #expect(try told(by: query) { $0.cat(2)!.age = 1 } == ["-[0] +[] ~[]"])
    #expect(try told(by: query) { $0.cat(0)!.age = 1 } == [])
    #expect(try told(by: query) { $0.realm.delete($0.cat(0)!) } == [])
    #expect(
      try told(by: query) { a in
        a.cat(2)!.age = 1
        a.cat(2)!.age = 30
      } == ["-[] +[] ~[0]"])
  }

  @Test func whatComesAndGoesBetweenCallsIsNotTold() throws {
    let calls = try told { a in
      a.realm.add(Cat(9))
      a.cat(9)!.age = 3
      a.realm.delete(a.cat(9)!)
    }
    #expect(calls == [])
    #expect(
      try told { a in
        a.realm.add(Cat(9))
        a.cat(9)!.age = 3
      } == ["-[] +[4] ~[]"])
  }

  @Test func oneRowThatMovesIsOneDeletionAndOneInsertion() throws {
    let byAge: (Results<Cat>) -> Results<Cat> = { $0.sorted(by: \.age) }
    #expect(try told(by: byAge) { $0.cat(0)!.age = 25 } == ["-[0] +[2] ~[]"])
    #expect(try told(by: byAge) { $0.cat(0)!.age = 5 } == ["-[] +[] ~[0]"])
    #expect(try told(by: byAge) { $0.cat(3)!.age = -1 } == ["-[3] +[0] ~[]"])
  }

  @Test func aChangeBehindALinkModifiesTheRow() throws {
    #expect(try told { $0.cat(1)!.home!.rooms = 9 } == ["-[] +[] ~[1, 3]"])
    #expect(try told { $0.realm.delete($0.cat(1)!.home!) } == ["-[] +[] ~[1, 3]"])
    #expect(try told { $0.realm.add(Home("elsewhere")) } == [])
    let roomy: (Results<Cat>) -> Results<Cat> = { $0.where { $0.home.rooms > 5 } }
    #expect(try told(by: roomy) { $0.cat(1)!.home!.rooms = 9 } == ["-[] +[0, 1] ~[]"])
    let housed: (Results<Cat>) -> Results<Cat> = { $0.where { $0.home != nil } }
    #expect(try told(by: housed) { $0.realm.delete($0.cat(1)!.home!) } == ["-[0, 1] +[] ~[]"])
  }

  @Test func clearingTheClassDeletesEveryRowAndWhatFollowsIsInserted() throws {
    #expect(try told { $0.realm.deleteAll() } == ["-[0, 1, 2, 3] +[] ~[]"])
    let calls = try told { a in
      a.realm.delete(a.cats)
      for id in 2..<4 { a.realm.add(Cat(id)) }
    }
    #expect(calls == ["-[0, 1, 2, 3] +[0, 1] ~[]"])
  }

  @Test func observersOfOneQueryAreToldIndependently() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 2)
    let b = try shelter.open()
    let first = CatRecorder(b.cats.sorted(by: \.age))
    b.pump()
    try a.add(5, age: 5)
    b.pump()
    let second = CatRecorder(b.cats.sorted(by: \.age))
    try a.add(6, age: 100)
    b.pump()
    try a.add(7, age: 101)
    b.pump()
    #expect(first.calls == ["initial 2", "-[] +[1] ~[]", "-[] +[3] ~[]", "-[] +[4] ~[]"])
    #expect(second.calls == ["initial 4", "-[] +[4] ~[]"])
  }

  @Test func aResultThatWasReadLongAgoIsBroughtUpBeforeItIsObserved() throws {
    let a = try Shelter().open(cats: 3)
    let cats = a.cats.where { $0.age >= 0 }
    #expect(cats.count == 3)
    for id in 10..<14 { try a.add(id, age: id) }
    let recorder = CatRecorder(cats)
    try a.write { a.realm.delete(a.cat(11)!) }
    a.pump()
    try a.add(20, age: 1)
    a.pump()
    #expect(recorder.calls == ["initial 7", "-[4] +[] ~[]", "-[] +[6] ~[]"])
    #expect(recorder.problems == [])
    recorder.token?.invalidate()
    for id in 30..<80 { try a.add(id) }
    #expect(cats.count == 57)
    #expect(cats.map(\.id) == a.cats.map(\.id))
  }
}
