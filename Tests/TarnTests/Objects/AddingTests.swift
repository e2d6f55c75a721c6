import Foundation
import Testing

@testable import Tarn

struct AddingTests {
  @Test func addingMakesTheObjectAndWhatItLinksToManaged() throws {
    let a = try Shelter().open()
    let home = Home("High Street", rooms: 3)
    let cat = Cat(1, "Mia", age: 4, home: home)
    #expect(cat.realm == nil)
    #expect(!cat.isInvalidated)
    try a.write {
      a.realm.add(cat)
      a.realm.add(cat)
    }
    #expect(cat.realm == a.realm)
    #expect(home.realm == a.realm)
    #expect(a.realm.objects(Home.self).count == 1)
    #expect(a.cat(1)?.home?.rooms == 3)
    #expect(home.cats.map(\.id) == [1])
    #expect(cat == a.cat(1))
    #expect(cat.isSameObject(as: a.cat(1)))
    #expect(home != a.realm.objects(Home.self)[0])
    #expect(home.isSameObject(as: a.realm.objects(Home.self)[0]))
  }

  @Test func linksThatMakeACircleAreAddedOnce() throws {
    let a = try Shelter().open()
    let first = Home("first")
    let second = Home("second")
    first.next = second
    second.next = first
    try a.write { a.realm.add([first, second]) }
    #expect(a.realm.objects(Home.self).count == 2)
    #expect(first.next?.next?.street == "first")
  }

  @Test func creatingTakesDefaultsForWhatIsMissing() throws {
    let a = try Shelter().open()
    try a.write {
      let cat = a.realm.create(Cat.self, value: ["id": 3, "name": "Mia"] as [String: Any])
      #expect(cat.age == 0)
      #expect(cat.name == "Mia")
      #expect(cat.weight == nil)
      #expect(cat.mood == .sleepy)
      let stray = a.realm.create(Stray.self)
      let other = a.realm.create(Stray.self, value: ["tag": "x"])
      #expect(stray._id != other._id)
      #expect(other.tag == "x")
      #expect(stray.tag == nil)
    }
    #expect(a.realm.objects(Stray.self).count == 2)
  }

  @Test func creatingTakesArraysObjectsAndNestedValues() throws {
    let a = try Shelter().open()
    try a.write {
      let nested = a.realm.create(
        Cat.self,
        value: ["id": 1, "home": ["street": "High Street", "rooms": 2]] as [String: Any])
      #expect(nested.home?.rooms == 2)
      let ordered = a.realm.create(Cat.self, value: [2, "Leo", 5] as [Any])
      #expect(ordered.name == "Leo")
      #expect(ordered.age == 5)
      let copied = a.realm.create(Cat.self, value: Cat(3, "Kim", age: 6))
      #expect(copied.id == 3)
      #expect(copied.name == "Kim")
      #expect(copied.realm == a.realm)
    }
    #expect(a.cats.count == 3)
  }

  @Test func updatingWithModifiedWritesAndTellsWhatDiffers() throws {
    let a = try Shelter().open(cats: 2)
    let recorder = CatRecorder(a.cats)
    var told: [[String]] = []
    let token = a.cat(1)!.observe { (change: ObjectChange<Cat>) in
      if case .change(_, let properties) = change { told.append(properties.map(\.name)) }
    }
    a.pump()
    let same: [String: Any] = ["id": 1, "name": "cat 1"]
    try a.write { a.realm.create(Cat.self, value: same, update: .modified) }
    a.pump()
    #expect(recorder.calls == ["initial 2"])
    let different: [String: Any] = ["id": 1, "name": "new", "age": 10]
    try a.write { a.realm.create(Cat.self, value: different, update: .modified) }
    a.pump()
    #expect(recorder.calls.last == "-[] +[] ~[1]")
    #expect(told == [["name"]])
    #expect(a.cat(1)!.age == 10)
    try a.write { a.realm.create(Cat.self, value: same, update: .all) }
    a.pump()
    #expect(told.last == ["name"])
    #expect(a.cat(1)!.age == 10)
    #expect(a.cats.count == 2)
    try a.write { a.realm.create(Cat.self, value: same, update: .all) }
    a.pump()
    #expect(told == [["name"], ["name"], ["name"]])
    token.invalidate()
  }

  @Test func addingWithAPolicyTurnsTheObjectIntoTheRow() throws {
    let a = try Shelter().open(cats: 2)
    let cat = Cat(1, "new", age: 77)
    try a.write { a.realm.add(cat, update: .modified) }
    #expect(a.cats.count == 2)
    #expect(cat == a.cat(1))
    #expect(a.cat(1)?.age == 77)
    try a.write { cat.age = 78 }
    #expect(a.cat(1)?.age == 78)
  }

  @Test func deletingClearsLinksAndKeepsWhatWasLinked() throws {
    let shelter = try Shelter()
    let a = try shelter.open()
    let b = try shelter.open()
    let home = Home("High Street")
    try a.write { for id in 0..<3 { a.realm.add(Cat(id, home: home)) } }
    b.realm.refresh()
    let there = try #require(b.cat(0)?.home)
    try a.write { a.realm.delete(a.cat(2)!) }
    #expect(!home.isInvalidated)
    #expect(home.cats.count == 2)
    try a.write { a.realm.delete(home) }
    #expect(home.isInvalidated)
    #expect(a.cats.allSatisfy { $0.home == nil })
    #expect(!there.isInvalidated)
    b.realm.refresh()
    #expect(there.isInvalidated)
    #expect(b.cat(0)!.home == nil)
  }

  @Test func deletingTakesResultsSequencesAndEverything() throws {
    let a = try Shelter().open(cats: 10)
    let old = a.cats.where { $0.age >= 80 }
    try a.write { a.realm.delete(old) }
    #expect(old.isEmpty)
    #expect(a.cats.count == 8)
    try a.write { a.realm.delete([a.cat(0)!, a.cat(1)!]) }
    #expect(a.cats.map(\.id) == [2, 3, 4, 5, 6, 7])
    try a.write { a.realm.delete(a.cats.filter { $0.id < 4 }) }
    #expect(a.cats.map(\.id) == [4, 5, 6, 7])
    let cat = a.cat(4)!
    try a.write { a.realm.delete(a.cats) }
    #expect(a.cats.isEmpty)
    #expect(cat.isInvalidated)
    try a.write {
      a.realm.add(Cat(1, home: Home("x")))
      a.realm.deleteAll()
      #expect(a.realm.isEmpty)
    }
    #expect(a.realm.isEmpty)
  }

  @Test func aKeyMayComeBackAfterItsObjectWasDeleted() throws {
    let a = try Shelter().open(cats: 2)
    let old = a.cat(1)!
    let recorder = CatRecorder(a.cats)
    a.pump()
    try a.write {
      a.realm.delete(old)
      a.realm.add(Cat(1, "again"))
    }
    #expect(a.cat(1)?.name == "again")
    a.pump()
    #expect(recorder.calls.last == "-[1] +[1] ~[]")
    #expect(recorder.problems == [])
  }
}
