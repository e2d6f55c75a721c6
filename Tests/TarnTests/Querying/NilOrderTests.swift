import Foundation
import Testing

@testable import Tarn

private class NilPond: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var a: Int?
  @Persisted var b: Int?
  @Persisted(indexed: true) var text: String?
  @Persisted var other: String?
  @Persisted var day: Date?
  @Persisted var photo: Data?
  @Persisted var mood: StableMood?
  @Persisted var held: AnyRealmValue
  @Persisted var words: List<String?>
  @Persisted var marks: List<Int?>
  @Persisted var next: NilPond?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Nil in comparisons by order, as text and in Swift, of stored objects and of unmanaged ones.
struct NilOrderTests {
  private struct View {
    let text: String
    let typed: ((Query<NilPond>) -> Query<Bool>)?
    let ids: [Int]
    init(_ text: String, _ typed: ((Query<NilPond>) -> Query<Bool>)?, _ ids: [Int]) {
      (self.text, self.typed, self.ids) = (text, typed, ids)
    }
  }

  private static var views: [View] {
    [
      View("a >= b", { $0.a >= $0.b }, [0, 2]),
      View("a <= b", { $0.a <= $0.b }, [0]),
      View("a > b", { $0.a > $0.b }, [2]),
      View("a < b", { $0.a < $0.b }, []),
      View("a <= nil", { $0.a <= nil }, [0]),
      View("a >= nil", { $0.a >= nil }, [0]),
      View("a < nil", { $0.a < nil }, []),
      View("a > nil", { $0.a > nil }, []),
      View("nil <= a", { nil <= $0.a }, [0]),
      View("a < 9", { $0.a < 9 }, [1, 2]),
      View("day >= nil", { $0.day >= nil }, [0]),
      View("day > nil", { $0.day > nil }, []),
      View("photo <= nil", nil, [0]),
      View("photo > nil", nil, []),
      View("text > nil", { $0.text > nil }, [1, 2]),
      View("text < nil", { $0.text < nil }, []),
      View("text >= nil", { $0.text >= nil }, [0, 1, 2]),
      View("text <= nil", { $0.text <= nil }, [0]),
      View("text < 'n'", { $0.text < "n" }, [0, 1]),
      View("'m' >= text", { "m" >= $0.text }, [0, 1]),
      View("text > 'm'", { $0.text > "m" }, [2]),
      View("text > other", { $0.text > $0.other }, [1, 2]),
      View("text >= other", { $0.text >= $0.other }, [0, 1, 2]),
      View("other < text", { $0.other < $0.text }, [1, 2]),
      View("text BETWEEN {'', 'z'}", { $0.text.contains(""..<"z") }, [1, 2]),
      View("mood < 'm'", { $0.mood < .wild }, [0, 1, 2]),
      View("mood > nil", { $0.mood > nil }, [1, 2]),
      View("next.a >= next.b", { $0.next.a >= $0.next.b }, [0, 1]),
      View("next.a <= nil", { $0.next.a <= nil }, [0, 1]),
      View("next.a < 9", { $0.next.a < 9 }, [2]),
      View("next.a <= b", { $0.next.a <= $0.b }, [0, 1, 2]),
      View("next.text > nil", { $0.next.text > nil }, [2]),
      View("next.text <= 'm'", { $0.next.text <= "m" }, [0, 1, 2]),
      View("next.text < text", { $0.next.text < $0.text }, [1, 2]),
      View("held <= nil", nil, [0]),
      View("held > nil", nil, []),
      View("held < 'z'", nil, [1]),
      View("held >= next.held", { $0.held >= $0.next.held }, [0]),
      View("text > held", { $0.text > $0.held }, []),
      View("ANY words < 'b'", { $0.words < "b" }, [1]),
      View("ANY words > nil", { $0.words > nil }, [2]),
      View("ANY marks <= nil", { $0.marks <= nil }, [1]),
      View("ANY marks < 5", { $0.marks < 5 }, [2]),
      View("words[0] <= nil", { $0.words[0] <= nil }, [0, 1]),
      View("words[0] < 'z'", { $0.words[0] < "z" }, [0, 1, 2]),
      View("marks.@max >= nil", { $0.marks.max >= nil }, [0, 1]),
      View("marks.@max < b", { $0.marks.max < $0.b }, [2]),
      View("marks.@min <= b", { $0.marks.min <= $0.b }, [0, 1, 2]),
    ]
  }

  private func open() throws -> Instance {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [NilPond.self]
    let instance = try Instance(configuration, shelter)
    try instance.write {
      let none = instance.realm.create(NilPond.self, value: ["id": 0])
      let some = instance.realm.create(NilPond.self, value: ["id": 1, "a": 1, "next": none])
      (some.text, some.day, some.photo, some.mood) = ("m", Date(), Data([1]), .calm)
      some.held = .string("v")
      some.words.append(nil)
      some.marks.append(nil)
      let all = instance.realm.create(NilPond.self, value: ["id": 2, "a": 4, "b": 2, "next": some])
      (all.text, all.day, all.photo, all.mood) = ("p", Date(), Data(), .calm)
      all.held = .int(4)
      all.words.append("w")
      all.marks.append(1)
    }
    return instance
  }

  private func check(_ instance: Instance, _ moment: String) {
    let all = instance.realm.objects(NilPond.self)
    let unmanaged = List<NilPond>()
    for pond in all { unmanaged.append(NilPond(value: pond)) }
    for view in Self.views {
      #expect(all.filter(view.text).map(\.id) == view.ids, "\(view.text) \(moment)")
      let first = view.ids.first
      #expect(unmanaged.index(matching: view.text) == first, "\(view.text) unmanaged")
      guard let typed = view.typed else { continue }
      #expect(all.where(typed).map(\.id) == view.ids, "\(view.text) in Swift \(moment)")
      #expect(unmanaged.index(matching: typed) == first, "\(view.text) in Swift, unmanaged")
    }
  }

  @Test func `two nils are at least and at most each other, and nil precedes texts only`() throws {
    let instance = try open()
    check(instance, "stored")
    try instance.write {
      check(instance, "in a write")
      for pond in instance.realm.objects(NilPond.self) { pond.next = pond.next }
      check(instance, "under edit")
    }
  }

  @Test func `observed results follow objects whose text becomes nil`() throws {
    let instance = try open()
    let low = instance.realm.objects(NilPond.self).where { $0.text < "n" || $0.next.text < "n" }
    let pairs = instance.realm.objects(NilPond.self).where { $0.a >= $0.b }
    let recorders = [low, pairs].map { SequenceRecorder($0) { "\($0.id)" } }
    instance.pump()
    try instance.write {
      let all = try #require(instance.realm.object(ofType: NilPond.self, forPrimaryKey: 2))
      (all.text, all.a, all.b) = ("z", nil, 1)
      all.next = nil
    }
    instance.pump()
    #expect(recorders.map(\.mirror) == [["0", "1", "2"], ["0"]])
    try instance.write {
      let all = try #require(instance.realm.object(ofType: NilPond.self, forPrimaryKey: 2))
      all.next = all
      all.b = nil
    }
    instance.pump()
    #expect(recorders.map(\.mirror) == [["0", "1"], ["0", "2"]])
    #expect(recorders.flatMap(\.problems) == [])
  }

  @Test func `sorting and the values' own order stay`() throws {
    let instance = try open()
    let sorted = instance.realm.objects(NilPond.self).sorted(by: \.text, ascending: false)
    #expect(sorted.map(\.id) == [2, 1, 0])
    let first = instance.realm.objects(NilPond.self).where { $0.text < "n" }.sorted(by: \.text)
    #expect(first.map(\.id) == [0, 1])
    #expect(first.first?.id == 0)
    #expect(first.last?.id == 1)
  }

  /// Nil comes before every value, and a missing link after all of them.
  @Test func objectsWithoutALinkStandAfterTheOthers() throws {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: "\(Self.self)-links", objectTypes: [NilPond.self]))
    try realm.write {
      let ponds = (0..<5).map { NilPond(value: ["id": $0, "b": 5 - $0]) }
      ponds[2].other = "x"
      ponds[3].other = "a"
      for (index, next) in [(0, 2), (1, 3), (4, 0)] { ponds[index].next = ponds[next] }
      realm.add(ponds)
    }
    let ponds = realm.objects(NilPond.self)
    // 2 and 3 have no next pond, 4 has one without a text.
    func ids(_ orders: Tarn.SortDescriptor...) -> [Int] {
      ponds.sorted(by: orders).map(\.id)
    }
    #expect(ids(.init(keyPath: "next.other"), .init(keyPath: "b")) == [4, 1, 0, 3, 2])
    #expect(
      ids(.init(keyPath: "next.other", ascending: false), .init(keyPath: "id"))
        == [2, 3, 0, 1, 4])
  }
}
