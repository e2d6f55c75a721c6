import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Conditions on enums, custom types, data, floats and embedded objects.
struct StoredConditionTests {
  private let instance: Instance

  init() throws {
    instance = try Shelter().openSteers()
    let brands: [SteerBrand?] = [
      SteerBrand("a", 1, marks: [1, 2], spots: ["x", "y"], depth: 0.5),
      SteerBrand("a", 1, marks: [2, 1], spots: ["y", "x"], depth: 0.5),
      SteerBrand("a", nil), SteerBrand("", nil), nil,
      SteerBrand("a", 1, marks: [1, 2], spots: ["x"], depth: 0.5),
    ]
    try instance.write {
      for (id, brand) in brands.enumerated() {
        let steer = instance.realm.create(Steer.self, value: ["id": id])
        steer.brand = brand
        steer.mood = SteerMood.allCases[id % 3]
        steer.former = id < 3 ? SteerMood.allCases[2 - id] : nil
        steer.tag = SteerTag("tag \(id)")
        steer.weight = [1.1, 2.2, 16_777_216, 0, .infinity, 3.3][id]
      }
    }
  }

  private func ids(_ condition: (Query<Steer>) -> Query<Bool>) -> [Int] {
    instance.steers.where(condition).map(\.id)
  }

  private func ids(_ text: String, _ arguments: Any?...) throws -> [Int] {
    let base = instance.steers._derivation
    return Results<Steer>(base.core, try base.filtered(FilterText(text, arguments))).map(\.id)
  }

  @Test func enumsByTheirRawValues() throws {
    #expect(ids { $0.mood.rawValue == "odd" } == [1, 4])
    #expect(ids { $0.former.rawValue == nil } == [3, 4, 5])
    #expect(ids { $0.mood > .calm } == [1, 2, 4, 5])
    #expect(ids { .odd <= $0.mood } == [1, 2, 4, 5])
    #expect(ids { $0.former < .wild } == [1, 2, 3, 4, 5])
    #expect(ids { $0.mood.contains(.calm ... .odd) } == [0, 1, 3, 4])
    #expect(ids { $0.mood.contains("l") } == [0, 2, 3, 5])
    #expect(ids { $0.mood.starts(with: "C", options: .caseInsensitive) } == [0, 3])
    #expect(ids { $0.former.like("*l?") } == [0, 2])
    #expect(ids { $0.mood.equals("ODD", options: .caseInsensitive) } == [1, 4])
    #expect(ids { $0.mood.notEquals("odd") } == [0, 2, 3, 5])
    #expect(ids { $0.mood > $0.mood } == [])
    #expect(ids { $0.mood <= $0.mood }.count == 6)
    // Nil precedes every text.
    #expect(try ids("mood > former") == [2, 3, 4, 5])
    #expect(try ids("mood < former") == [0])
    #expect(try ids("mood > %@", SteerMood.odd) == [2, 5])
  }

  @Test func customTypesByWhatIsStored() throws {
    #expect(ids { $0.tag.persistableValue == "tag 1" } == [1])
    #expect(ids { $0.tag.persistableValue.ends(with: "3") } == [3])
    #expect(ids { $0.tag.contains("g 2") } == [2])
    #expect(ids { $0.tag > SteerTag("tag 3") } == [4, 5])
    #expect(ids { $0.tag.in([SteerTag("tag 0"), SteerTag("x")]) } == [0])
    #expect(try ids("tag == %@", SteerTag("tag 5")) == [5])
  }

  /// The other side is what the property is, and not what is stored for it.
  @Test func textOfWrappers() throws {
    #expect(ids { $0.tag.contains(SteerTag("g 2")) } == [2])
    #expect(ids { $0.tag.starts(with: SteerTag("tag")) }.count == 6)
    #expect(ids { $0.tag.starts(with: SteerTag("TAG"), options: .caseInsensitive) }.count == 6)
    #expect(ids { $0.tag.ends(with: SteerTag("3")) } == [3])
    #expect(ids { $0.tag.equals(SteerTag("TAG 1"), options: .caseInsensitive) } == [1])
    #expect(ids { $0.tag.notEquals(SteerTag("tag 1")) } == [0, 2, 3, 4, 5])
    #expect(ids { $0.tag.like(SteerTag("*4")) } == [4])
    #expect(ids { $0.mood.like(.odd) } == [1, 4])
    #expect(ids { $0.mood.equals(.odd) } == [1, 4])
    #expect(ids { $0.former.like(.wild) } == [0])
    #expect(ids { $0.mood.contains($0.former) } == [1])
    #expect(ids { $0.tag.contains($0.tag) }.count == 6)
    try instance.write {
      instance.steer(1)!.moods.append(objectsIn: [.calm, .wild])
      instance.steer(2)!.moods.append(.odd)
    }
    #expect(ids { $0.moods.like(.wild) } == [1])
    #expect(ids { $0.moods.starts(with: .odd) } == [2])
    #expect(ids { $0.moods.equals(.calm) } == [1])
    #expect(ids { $0.moods.notEquals(.calm) } == [1, 2])
  }

  @Test func floatsAreFoundByText() throws {
    #expect(ids { $0.weight == 1.1 } == [0])
    #expect(try ids("weight == 1.1") == [0])
    #expect(try ids("weight != 1.1") == [1, 2, 3, 4, 5])
    #expect(try ids("weight == %@", 1.1) == [0])
    #expect(try ids("weight == %f", 2.2) == [1])
    #expect(try ids("weight == %@", Float(1.1)) == [0])
    #expect(try ids("weight == %@", Decimal128("1.1")) == [0])
    #expect(try ids("weight == 1.10000000000000000000000000001") == [0])
    #expect(try ids("weight IN {1.1, 3.3}") == [0, 5])
    #expect(try ids("weight IN %@", [2.2, 7]) == [1])
    #expect(try ids("weight BETWEEN {1.1, 2.2}") == [0, 1])
    #expect(try ids("weight BETWEEN %@", [2.2, 3.3]) == [1, 5])
    #expect(try ids("weight > 1.1") == ids { $0.weight > 1.1 })
    #expect(try ids("weight <= 2.2") == ids { $0.weight <= 2.2 })
    #expect(try ids("weight == 16777217") == [2])
    // What no float is near keeps its own value.
    #expect(try ids("weight == 1e300") == [])
    #expect(try ids("weight < 1e300") == [0, 1, 2, 3, 5])
    #expect(try ids("weight == 1e-300") == [])
    #expect(try ids("weight > 1e-300") == [0, 1, 2, 4, 5])
  }

  @Test func embeddedObjectsByTheirMembers() throws {
    let brand = SteerBrand("a", 1, marks: [1, 2], spots: ["y", "x"], depth: 0.5)
    #expect(ids { $0.brand == brand } == [0])
    #expect(ids { $0.brand != brand } == [1, 2, 3, 4, 5])
    #expect(try ids("brand == %@", brand) == [0])
    #expect(try ids("%@ == brand", brand) == [0])
    #expect(try ids("NOT brand == %@ AND brand != nil", brand) == [1, 2, 3, 5])
    #expect(ids { $0.brand == SteerBrand("") } == [3])
    #expect(ids { $0.brand == nil } == [4])
    #expect(ids { $0.brand.in([brand, SteerBrand("a"), nil]) } == [0, 2, 4])
    #expect(try ids("brand IN %@", [brand, SteerBrand("a"), nil]) == [0, 2, 4])
    #expect(try ids("NOT brand IN %@", [brand]) == [1, 2, 3, 4, 5])
    #expect(try ids("brand IN %@ AND id > 0", [SteerBrand("a"), brand]) == [2])
    // One of the Realm is compared in the same way.
    let managed = instance.steer(1)!.brand
    #expect(ids { $0.brand == managed } == [1])
    #expect(ids { $0.brand != managed }.count == 5)
    #expect(try ids("brand == %@", managed) == [1])
    try instance.write { instance.steer(5)!.brand!.spots.insert("y") }
    #expect(ids { $0.brand == brand } == [0, 5])
  }

  @Test func embeddedObjectsDoNotCompareOtherwise() throws {
    let seal = SteerSeal()
    for (text, argument, message) in [
      ("brand == %@", seal as Any, "of class 'SteerBrand' cannot be compared with one of"),
      ("brand > %@", SteerBrand("a"), "compare embedded objects only with == and !="),
      ("weight == %@", SteerBrand("a"), "which cannot be compared with an object of class"),
      ("brand IN %@", [seal], "an object of class 'SteerBrand' cannot be compared with one of"),
      ("brand IN %@", [[SteerBrand("a")]], "is a list with a list of lists"),
      ("brand BETWEEN %@", [SteerBrand("a"), nil], "BETWEEN needs a list of values"),
      ("brand == %@", [SteerBrand("a")], "a list, allowed only after IN"),
      ("weight IN %@", [SteerBrand("a")], "which cannot be compared with an object of class"),
    ] {
      let error = #expect(throws: Realm.Error.self) { _ = try ids(text, argument) }
      #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
  }

  @Test func dataEquals() throws {
    let archive = try Archive(Shelter(), seed: 3)
    let bytes = Data([1])
    let expected: [Int] = archive.records.filter { $0.bytes == bytes }.map(\.id)
    #expect(!expected.isEmpty)
    #expect(archive.records.where { $0.bytes.equals(bytes) }.map(\.id) == expected)
    let others = archive.records.where { $0.bytes.notEquals(bytes) }
    #expect(others.count == archive.records.count - expected.count)
    #expect(archive.records.where { $0.bytes.equals($0.bytes) }.count == archive.records.count)
  }

  @Test func decimalsAreFoundByFloats() throws {
    let archive = try Archive(Shelter(), seed: 4)
    let expected: [Int] = archive.records.where { $0.price == 0.1 }.map(\.id)
    #expect(!expected.isEmpty)
    for argument in [0.1 as Any, Float(0.1), Decimal128("0.1"), "0.1"] {
      #expect(archive.records.filter("price == %@", argument).map(\.id) == expected)
      #expect(archive.records.filter("price IN %@", [argument]).map(\.id) == expected)
      let within = archive.records.filter("price BETWEEN %@", [argument, argument])
      #expect(within.map(\.id) == expected)
    }
  }
}
