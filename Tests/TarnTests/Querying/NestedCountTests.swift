import Foundation
import Testing

@testable import Tarn

private class Clan: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var age = 0
  @Persisted var kids: List<Clan>
}

/// How many elements have so many elements of their own that meet a condition: in Swift, as text,
/// and as a closure over objects.
struct NestedCountTests {
  private struct View {
    let text: String
    let query: (Query<Clan>) -> Query<Bool>
    let closure: (Clan) -> Bool
  }

  private static var views: [View] {
    [
      View(
        text: "SUBQUERY(kids, $x, SUBQUERY($x.kids, $y, $y.age > 3).@count > 1).@count > 0",
        query: { (($0.kids.kids.age > 3).count > 1).count > 0 },
        closure: { $0.kids.contains { kid in kid.kids.count { $0.age > 3 } > 1 } }),
      View(
        text: "SUBQUERY(kids, $x, $x.age > 1 AND SUBQUERY($x.kids, $y, $y.age > 3).@count == 1)"
          + ".@count IN {1, 2}",
        query: { root in
          (root.kids.age > 1 && (root.kids.kids.age > 3).count == 1).count.in([1, 2])
        },
        closure: { clan in
          [1, 2].contains(
            clan.kids.count { kid in kid.age > 1 && kid.kids.count { $0.age > 3 } == 1 })
        }),
      View(
        text: "SUBQUERY(kids, $x, NOT SUBQUERY($x.kids, $y, $y.age > 2).@count IN {1, 3})"
          + ".@count == 1",
        query: { root in (!(root.kids.kids.age > 2).count.in([1, 3])).count == 1 },
        closure: { $0.kids.count { kid in ![1, 3].contains(kid.kids.count { $0.age > 2 }) } == 1 }),
      View(
        text: "SUBQUERY(kids, $x, SUBQUERY($x.kids, $y, SUBQUERY($y.kids, $z, $z.age > 2).@count "
          + "> 0).@count > 1).@count > 0",
        query: { ((($0.kids.kids.kids.age > 2).count > 0).count > 1).count > 0 },
        closure: { clan in
          clan.kids.contains { kid in
            kid.kids.count { $0.kids.contains { $0.age > 2 } } > 1
          }
        }),
      View(
        text: "SUBQUERY(kids, $x, $x.kids.@count == 2).@count == 1",
        query: { ($0.kids.kids.count == 2).count == 1 },
        closure: { $0.kids.count { $0.kids.count == 2 } == 1 }),
    ]
  }

  @Test func everySpellingFindsTheSame() throws {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: "\(Self.self)", objectTypes: [Clan.self]))
    var numbers = SystemRandomNumberGenerator()
    try realm.write {
      for id in 0..<60 { realm.add(Clan(value: ["id": id, "age": id % 6])) }
      let all = Array(realm.objects(Clan.self))
      for clan in all {
        for _ in 0..<Int.random(in: 0...3, using: &numbers) {
          clan.kids.append(all.randomElement(using: &numbers)!)
        }
      }
    }
    let all = realm.objects(Clan.self)
    var found = 0
    for view in Self.views {
      let expected = Array(all).filter(view.closure).map(\.id)
      #expect(Array(all.where(view.query)).map(\.id) == expected, "\(view.text)")
      #expect(Array(all.filter(view.text)).map(\.id) == expected, "\(view.text)")
      found += expected.count
    }
    #expect(found > 0)
  }

  /// A change two links away makes an object match.
  @Test func observersHearOfInnerCounts() throws {
    let scheduler = ManualScheduler()
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: "\(Self.self)-observed", objectTypes: [Clan.self]),
      scheduler: scheduler)
    let clans = (0..<4).map { Clan(value: ["id": $0]) }
    clans[0].kids.append(clans[1])
    clans[1].kids.append(objectsIn: [clans[2], clans[3]])
    try realm.write { realm.add(clans) }
    let found = realm.objects(Clan.self).where { (($0.kids.kids.age > 3).count > 1).count > 0 }
    var told: [String] = []
    let token = found.observe { change in
      if case .update(let results, let gone, let new, _) = change {
        told.append("\(Array(results.map(\.id))) \(gone) \(new)")
      }
    }
    while scheduler.pump() {}
    try realm.write { clans[2].age = 5 }
    while scheduler.pump() {}
    #expect(told == [])
    try realm.write { clans[3].age = 4 }
    while scheduler.pump() {}
    #expect(told == ["[0] [] [0]"])
    try realm.write { clans[2].age = 0 }
    while scheduler.pump() {}
    #expect(told == ["[0] [] [0]", "[] [0] []"])
    token.invalidate()
  }
}
