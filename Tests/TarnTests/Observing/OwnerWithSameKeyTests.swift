import Foundation
import Testing

@testable import Tarn

private class Toy: Object {
  @Persisted(primaryKey: true) var id: Int
}

private class Box: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var numbers: List<Int>
  @Persisted var labels: MutableSet<String>
  @Persisted var toys: List<Toy>
}

/// A collection whose object is deleted and added again, under its key, in one step.
@Suite struct OwnerWithSameKeyTests {
  private let scheduler = ManualScheduler()

  private func add(_ toys: ClosedRange<Int>, to realm: Realm) {
    let box = Box(value: ["id": 1])
    realm.add(box)
    for id in toys {
      box.numbers.append(id)
      box.labels.insert("\(id)")
      box.toys.append(realm.create(Toy.self, value: ["id": id], update: .all))
    }
  }

  @Test func observersGoOnWithTheObjectThatHasTheKey() throws {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: "\(UUID())", objectTypes: [Box.self, Toy.self]), scheduler: scheduler)
    try realm.write { add(1...2, to: realm) }
    let box = try #require(realm.object(ofType: Box.self, forPrimaryKey: 1))
    var calls: [String: [String]] = [:]
    func follow<C: RealmCollection>(_ name: String, _ collection: C) -> NotificationToken
    where C._Change == RealmCollectionChange<C> {
      collection.observe { change in
        guard case .update(let now, let deletions, let insertions, _) = change else { return }
        calls[name, default: []].append("-\(deletions.count) +\(insertions.count) =\(now.count)")
      }
    }
    let tokens = [
      follow("list", box.numbers), follow("set", box.labels), follow("links", box.toys),
      follow("sorted", box.numbers.sorted(ascending: false)),
      follow("filtered", box.toys.where { $0.id > 0 }),
    ]
    scheduler.pump()
    try realm.write {
      realm.delete(box)
      add(3...5, to: realm)
    }
    scheduler.pump()
    let new = try #require(realm.object(ofType: Box.self, forPrimaryKey: 1))
    try realm.write {
      new.numbers.append(6)
      new.labels.insert("6")
      new.toys.append(realm.create(Toy.self, value: ["id": 6]))
    }
    scheduler.pump()
    let names = ["filtered", "links", "list", "set", "sorted"]
    #expect(calls.keys.sorted() == names)
    for name in names { #expect(calls[name] == ["-2 +3 =3", "-0 +1 =4"], "\(name)") }
    for token in tokens { token.invalidate() }
  }
}
