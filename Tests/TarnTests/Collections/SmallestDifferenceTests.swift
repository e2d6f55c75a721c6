import Foundation
import Testing

@testable import Tarn

private class Shelf: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var ints: List<Int>
  @Persisted var texts: List<String?>
  @Persisted var neighbours: List<Shelf>
  @Persisted var parts: List<ShelfPart>
  @Persisted var values: List<AnyRealmValue>
  @Persisted var tags: MutableSet<String>
  @Persisted var scores: Map<String, Int>
  @Persisted var extras: Map<String, AnyRealmValue>
  @Persisted var any: AnyRealmValue
}

private class ShelfPart: EmbeddedObject {
  @Persisted var name = ""
}

/// Collections that are given other elements: what both have stays, and observers hear of the rest.
struct SmallestDifferenceTests {
  private let scheduler = ManualScheduler()
  private let realm: Realm
  private let shelf: Shelf

  init() throws {
    realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: "\(Self.self)-\(UUID())",
        objectTypes: [Shelf.self, ShelfPart.self]),
      scheduler: scheduler)
    let shelf = Shelf(value: ["id": 1])
    let realm = realm
    try realm.write {
      realm.add(shelf)
      for id in 2..<8 { realm.add(Shelf(value: ["id": id])) }
    }
    self.shelf = shelf
  }

  private func other(_ id: Int) -> Shelf { realm.object(ofType: Shelf.self, forPrimaryKey: id)! }

  /// What an observer of a collection hears of a write: nil if nothing.
  private func told<C: RealmCollection>(
    _ collection: C, _ write: () throws -> Void
  ) throws -> String? {
    var told: String?
    let token = collection.observe { change in
      if case .update(_, let gone, let new, let modified) = change {
        told = "-\(gone) +\(new) ~\(modified)"
      }
    }
    while scheduler.pump() {}
    try realm.write(write)
    while scheduler.pump() {}
    token.invalidate()
    return told
  }

  private func told<Value>(
    _ map: Map<String, Value>, _ write: () throws -> Void
  ) throws -> String? {
    var told: String?
    let token = map.observe { change in
      if case .update(_, let gone, let new, let modified) = change {
        told = "-\(gone.sorted()) +\(new.sorted()) ~\(modified.sorted())"
      }
    }
    while scheduler.pump() {}
    try realm.write(write)
    while scheduler.pump() {}
    token.invalidate()
    return told
  }

  private func merge(_ values: [String: Any]) {
    realm.create(
      Shelf.self, value: values.merging(["id": 1]) { given, _ in given }, update: .modified)
  }

  @Test func listsOfValues() throws {
    try realm.write { shelf.ints.append(objectsIn: [1, 2, 3, 4, 5]) }
    let new = List<Int>()
    new.append(objectsIn: [1, 2, 9, 3, 5])
    #expect(try told(shelf.ints) { shelf.ints = new } == "-[3] +[2] ~[]")
    #expect(try told(shelf.ints) { shelf.ints = new } == nil)
    #expect(try told(shelf.ints) { merge(["ints": [1, 2, 9, 3, 4, 5]]) } == "-[] +[4] ~[]")
    #expect(try told(shelf.ints) { merge(["ints": [2, 9, 3, 4, 5, 1]]) } == "-[0] +[5] ~[]")
    #expect(Array(shelf.ints) == [2, 9, 3, 4, 5, 1])
    try realm.write { shelf.texts.append(objectsIn: ["a", nil, "b"]) }
    let texts: [Any?] = ["a", nil, "x", "b"]
    #expect(try told(shelf.texts) { merge(["texts": texts]) } == "-[] +[2] ~[]")
    // The same letters in another spelling are other text.
    try realm.write { merge(["texts": ["\u{e9}", "z"]]) }
    #expect(
      try told(shelf.texts) { merge(["texts": ["e\u{301}", "z"]]) } == "-[0] +[0] ~[]")
  }

  @Test func listsOfObjects() throws {
    try realm.write { shelf.neighbours.append(objectsIn: (2..<6).map(other)) }
    #expect(
      try told(shelf.neighbours) { merge(["neighbours": [2, 3, 5, 6].map(other)]) }
        == "-[2] +[3] ~[]")
    let new = List<Shelf>()
    new.append(objectsIn: [other(3), other(5), other(6)])
    new.append(Shelf(value: ["id": 9]))
    #expect(try told(shelf.neighbours) { shelf.neighbours = new } == "-[0] +[3] ~[]")
    #expect(shelf.neighbours.map(\.id) == [3, 5, 6, 9])
  }

  @Test func embeddedObjectsStay() throws {
    try realm.write { merge(["parts": [["a"], ["b"], ["c"]]]) }
    let parts = Array(shelf.parts)
    let fewer = List<ShelfPart>()
    fewer.append(objectsIn: [parts[0], parts[2]])
    #expect(try told(shelf.parts) { shelf.parts = fewer } == "-[1] +[] ~[]")
    #expect(parts[1].isInvalidated)
    #expect(!parts[0].isInvalidated)
    #expect(try told(shelf.parts) { merge(["parts": [["a"], ["c"], ["d"]]]) } == "-[] +[2] ~[]")
  }

  @Test func setsAndMaps() throws {
    try realm.write { merge(["tags": ["a", "b", "c"], "scores": ["a": 1, "b": 2]]) }
    let tags = MutableSet<String>()
    tags.insert(objectsIn: ["a", "c", "d"])
    #expect(try told(shelf.tags) { shelf.tags = tags } == "-[1] +[2] ~[]")
    #expect(try told(shelf.tags) { merge(["tags": ["a", "d"]]) } == "-[1] +[] ~[]")
    let scores = Map<String, Int>()
    scores["b"] = 2
    scores["c"] = 3
    #expect(try told(shelf.scores) { shelf.scores = scores } == #"-["a"] +["c"] ~[]"#)
    #expect(
      try told(shelf.scores) { merge(["scores": ["b": 7, "c": 3]]) } == #"-[] +[] ~["b"]"#)
  }

  @Test func whatIsNestedBecomesWhatComes() throws {
    func value(_ last: Int...) -> AnyRealmValue {
      .fromDictionary([
        "list": .fromArray([.int(1), .fromArray([.int(2)])] + last.map { .int($0) }),
        "name": .string("x"),
      ])
    }
    try realm.write { shelf.any = value(3) }
    let map = try #require(shelf.any.dictionaryValue)
    let list = try #require(map["list"]?.listValue)
    let inner = try #require(list[1].listValue)
    #expect(try told(list) { shelf.any = value(3, 4) } == "-[] +[3] ~[]")
    #expect(try told(map) { merge(["any": value(3, 4)]) } == nil)
    #expect(try told(list) { merge(["any": value(5, 4)]) } == "-[2] +[2] ~[]")
    #expect(!inner.isInvalidated)
    #expect(Array(inner) == [.int(2)])
    #expect(map["name"] == .string("x"))
    // A list of lists: one that is new, one that is other inside.
    try realm.write { shelf.values.append(objectsIn: [value(1), .int(5), value(2)]) }
    let last = try #require(shelf.values[2].dictionaryValue?["list"]?.listValue)
    let new = List<AnyRealmValue>()
    new.append(objectsIn: [value(1), .int(5), .int(6), value(2)])
    #expect(try told(shelf.values) { shelf.values = new } == "-[] +[2] ~[]")
    new[3] = value(2, 3)
    #expect(try told(last) { shelf.values = new } == "-[] +[3] ~[]")
    try realm.write { shelf.extras["k"] = value(1) }
    let extra = try #require(shelf.extras["k"]?.dictionaryValue?["list"]?.listValue)
    #expect(try told(extra) { merge(["extras": ["k": value(1, 2)]]) } == "-[] +[3] ~[]")
  }

  /// A part of a property can become all of it.
  @Test func whatComesMayLieInWhatGoes() throws {
    try realm.write {
      shelf.any = .fromArray([.fromArray([.fromArray([.int(1)]), .int(2)]), .int(3)])
    }
    try realm.write { shelf.any = shelf.any.listValue![0] }
    #expect(shelf.any == .fromArray([.fromArray([.int(1)]), .int(2)]))
    try realm.write { shelf.values.append(shelf.any) }
    try realm.write { shelf.values = shelf.values[0].listValue! }
    #expect(Array(shelf.values) == [.fromArray([.int(1)]), .int(2)])
  }

  /// An assignment counts as one, also of what is there already; `.modified` writes what differs.
  @Test func assignmentsCount() throws {
    try realm.write { merge(["ints": [1, 2], "any": AnyRealmValue.fromArray([.int(1)])]) }
    var told: [String] = []
    let token = shelf.observe { change in
      if case .change(_, let properties) = change { told += properties.map(\.name) }
    }
    while scheduler.pump() {}
    let same = List<Int>()
    same.append(objectsIn: [1, 2])
    try realm.write {
      shelf.ints = same
      shelf.any = .fromArray([.int(1)])
    }
    while scheduler.pump() {}
    #expect(told.sorted() == ["any", "ints"])
    told = []
    try realm.write { merge(["ints": [1, 2], "any": AnyRealmValue.fromArray([.int(1)])]) }
    while scheduler.pump() {}
    #expect(told == [])
    token.invalidate()
  }
}
