import Foundation
import TestSupport
import Testing

@testable import Tarn

class Dog: Object {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name = ""
  @Persisted var age = 0
  @Persisted var mother: Dog?
}

struct FirstStepsTests {
  @Test func aWriteIsSeenByAnObserverInTheNextTurn() throws {
    let folder = TemporaryFolder()
    let scheduler = ManualScheduler()
    var configuration = Realm.Configuration(
      fileURL: folder.url("dogs.realm"), objectTypes: [Dog.self])
    configuration.durability = .relaxed
    let realm = try Realm(configuration: configuration, scheduler: scheduler)
    var told: [String] = []
    let dogs = realm.objects(Dog.self).where { $0.age > 5 }.sorted(by: \.name)
    let token = dogs.observe { change in
      switch change {
      case .initial(let dogs): told.append("initial \(dogs.count)")
      case .update(let dogs, let deletions, let insertions, let modifications):
        told.append("\(dogs.count) \(deletions) \(insertions) \(modifications)")
      case .error(let error): told.append("\(error)")
      }
    }
    scheduler.pump()
    #expect(told == ["initial 0"])
    let rex = Dog()
    rex.name = "Rex"
    rex.age = 7
    try realm.write {
      realm.add(rex)
      let anna = Dog()
      anna.name = "Anna"
      anna.age = 9
      anna.mother = rex
      realm.add(anna)
    }
    #expect(rex.age == 7)
    scheduler.pump()
    #expect(told.last == "2 [] [0, 1] []")
    try realm.write { rex.age += 1 }
    #expect(rex.age == 8)
    scheduler.pump()
    #expect(told.last == "2 [] [] [0, 1]")
    try realm.write { rex.name = "Aaa" }
    scheduler.pump()
    #expect(told.last == "2 [1] [0] [0]")
    #expect(dogs[0].name == "Aaa")
    #expect(dogs[1].mother?.name == "Aaa")
    try realm.write { realm.delete(rex) }
    scheduler.pump()
    #expect(told.last == "1 [0] [] [1]")
    #expect(rex.isInvalidated)
    #expect(dogs[0].mother == nil)
    token.invalidate()
  }
}
