import Foundation
import Testing

@testable import Tarn

struct ResultsTests {
  private func instance() throws -> Instance {
    let a = try Shelter().open(cats: 5)
    try a.write {
      let near = Home("Acorn Street", rooms: 2)
      let far = Home("Birch Street", rooms: 7)
      a.cat(1)!.home = far
      a.cat(2)!.home = near
      a.cat(3)!.weight = 2.5
      a.cat(4)!.weight = 3.5
      a.cat(4)!.home = far
    }
    return a
  }

  @Test func conditionsChain() throws {
    let a = try instance()
    let cats = a.cats.where { $0.age > 0 }.where { $0.home != nil && !($0.name == "cat 4") }
    #expect(cats.map(\.id) == [1, 2])
    #expect(cats.sorted(by: \.age, ascending: false).where { $0.age > 10 }.map(\.id) == [2])
    #expect(a.cats.where { $0.name == "cat 3" }.first?.age == 30)
    #expect(a.cats.where { $0.name == "nobody" }.first == nil)
    #expect(a.cats.where { $0.weight == nil }.count == 3)
  }

  @Test func sortingGoesThroughLinksWithMissingOnesLast() throws {
    let a = try instance()
    #expect(a.cats.sorted(byKeyPath: "home.street").map(\.id) == [2, 1, 4, 0, 3])
    #expect(a.cats.sorted(by: \.home?.street).map(\.id) == [2, 1, 4, 0, 3])
    let sorted = a.cats.sorted(by: ["home.rooms", SortDescriptor(keyPath: "age").reversed()])
    #expect(sorted.map(\.id) == [2, 4, 1, 3, 0])
    #expect(a.cats.sorted(by: \.weight).map(\.id) == [0, 1, 2, 3, 4])
    #expect(a.cats.sorted(by: \.weight, ascending: false).map(\.id) == [4, 3, 0, 1, 2])
  }

  @Test func aggregates() throws {
    let a = try instance()
    #expect(a.cats.min(of: \.age) == 0)
    #expect(a.cats.max(of: \.age) == 40)
    #expect(a.cats.sum(of: \.age) == 100)
    #expect(a.cats.average(of: \.age) == 20)
    #expect(a.cats.min(of: \.weight) == 2.5)
    #expect(a.cats.sum(of: \.weight) == 6)
    #expect(a.cats.average(of: \.weight) == 3)
    let older = a.cats.where { $0.age >= 20 }.sorted(by: \.name)
    #expect(older.sum(ofProperty: "age") == 90)
    #expect(older.average(ofProperty: "age") == 30.0)
    let greatest: Int? = older.max(ofProperty: "age")
    #expect(greatest == 40)
    let nobody = a.cats.where { $0.age > 1_000 }
    #expect(nobody.min(of: \.age) == nil)
    #expect(nobody.sum(of: \.age) == 0)
    #expect(nobody.average(of: \.weight) == nil)
    // An open write takes part.
    a.realm.beginWrite()
    a.cat(0)!.age = 1_000
    a.realm.add(Cat(9, age: 5_000))
    a.realm.delete(a.cat(4)!)
    #expect(a.cats.sum(of: \.age) == 6_060)
    #expect(older.max(of: \.age) == 5_000)
    a.realm.cancelWrite()
    #expect(a.cats.sum(of: \.age) == 100)
  }

  @Test func positions() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 5)
    let b = try shelter.open()
    let cats = a.cats.where { $0.age > 0 }.sorted(by: \.age, ascending: false)
    #expect(cats.index(of: a.cat(4)!) == 0)
    #expect(cats.index(of: a.cat(1)!) == 3)
    #expect(cats.index(of: a.cat(0)!) == nil)
    #expect(cats.index(of: Cat(1)) == nil)
    #expect(cats.index(of: b.cat(1)!) == nil)
    #expect(cats.index(matching: { $0.age < 25 }) == 2)
    #expect(cats.index(matching: { $0.age > 25_000 }) == nil)
    #expect(cats.objects(at: [0, 3]).map(\.id) == [4, 1])
    #expect(cats[1].id == 3)
    #expect(cats.first?.id == 4)
    #expect(cats.last?.id == 1)
  }

  @Test func equalityAndDescription() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 2)
    let b = try shelter.open()
    #expect(a.cats == a.cats)
    #expect(a.cats.where { $0.age > 1 } == a.cats.where { $0.age > 1 })
    #expect(a.cats.where { $0.age > 1 } != a.cats.where { $0.age > 2 })
    #expect(a.cats != b.cats)
    let text = "\(a.cats)"
    #expect(text.hasPrefix("Results<Cat> (\n\t[0] Cat {"))
    #expect(text.contains("name = cat 1;"))
    #expect(a.cats.realm == a.realm)
  }

  @Test func linkingObjectsShowWhatLinksNow() throws {
    let a = try instance()
    let far = try #require(a.cat(1)?.home)
    #expect(far.cats.map(\.id) == [1, 4])
    try a.write {
      a.cat(0)!.home = far
      #expect(far.cats.count == 3)
      a.realm.delete(a.cat(4)!)
    }
    try #require(far.cats.map(\.id) == [0, 1])
    #expect(far.cats[1].name == "cat 1")
    #expect(Home("x").cats.isEmpty)
  }

  @Test func aLoopOutsideOfAWriteGoesOverWhatWasThere() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 4)
    let b = try shelter.open()
    var seen: [Int] = []
    for cat in b.cats {
      if seen.isEmpty {
        try a.write { a.realm.delete(a.cat(1)!) }
        b.realm.refresh()
      }
      seen.append(cat.isInvalidated ? -1 : cat.id)
    }
    #expect(seen == [0, -1, 2, 3])
  }

  @Test func propertiesWhoseColumnsAreCalledDifferentlyAreFoundByTheirNames() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [ModelToy.self, ModelDog.self]
    let a = try Instance(configuration, shelter)
    try a.write {
      for color in ["red", "blue"] {
        let toy = ModelToy()
        toy.color = color
        a.realm.add(toy)
      }
    }
    let toys = a.realm.objects(ModelToy.self)
    #expect(toys.sorted(byKeyPath: "color").map(\.color) == ["blue", "red"])
    #expect(toys.sorted(by: \.color).map(\.color) == ["blue", "red"])
    #expect(toys.where { $0.color == "red" }.count == 1)
  }
}
