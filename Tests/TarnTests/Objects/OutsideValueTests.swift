import Foundation
import Testing

@testable import Tarn
@testable import TarnStore

/// What JSON and others give is a value everywhere.
struct OutsideValueTests {
  @Test(arguments: StableEntry.allCases)
  func jsonIsAValueEverywhere(entry: StableEntry) throws {
    let instance = try Shelter().openStable()
    let values = try #require(
      try json(
        """
        {"int8": 5.0, "age": 3.0, "height": 3, "weight": 1.1, "price": 1.1, "isTame": 1,
         "name": "x", "note": null, "born": null, "mood": "wild", "otherMood": null, "grade": 2.0,
         "share": 50, "spot": {"x": 4}, "mother": {"id": 8, "name": "M"}, "front": {"n": 1},
         "legs": [{"n": 1}, [2]], "foals": [{"id": 9}], "scores": [1, 2.0],
         "optionalScores": [1, null], "tags": ["b", "a"], "sizes": {"a": 1, "b": 2.5},
         "friends": {"x": {"id": 10}, "y": null}, "moods": ["wild"],
         "any": {"t": true, "n": null, "l": [1, 2.5, "x", {"k": false}]},
         "anys": [true, 1, 1.5, null, 18446744073709551615], "anyMap": {"a": null, "b": 1},
         "unknown": [1], "children": []}
        """) as? [String: Any])
    let horse = try entry.make(values, in: instance)
    #expect(horse.int8 == 5)
    #expect(horse.age == 3)
    #expect(horse.height == 3)
    #expect(horse.weight == 1.1)
    #expect(horse.price == "1.1")
    #expect(horse.isTame)
    #expect(horse.name == "x")
    #expect(horse.note == nil)
    #expect(horse.mood == .wild)
    #expect(horse.otherMood == nil)
    #expect(horse.grade == .high)
    #expect(horse.share?.value == 50)
    #expect(horse.spot == StableSpot(x: 4))
    #expect(horse.mother?.name == "M")
    #expect(horse.front?.n == 1)
    #expect(horse.legs.map(\.n) == [1, 2])
    #expect(horse.foals.map(\.id) == [9])
    #expect(Array(horse.scores) == [1, 2])
    #expect(Array(horse.optionalScores) == [1, nil])
    #expect(Array(horse.tags) == ["a", "b"])
    #expect(horse.sizes["a"] == 1)
    #expect(horse.sizes["b"] == 2.5)
    #expect(horse.friends["x"]??.id == 10)
    #expect(horse.friends["y"] == .some(nil))
    #expect(Array(horse.moods) == [.wild])
    let any = horse.any.dictionaryValue
    #expect(any?["t"] == .bool(true))
    #expect(any?["n"] == AnyRealmValue.none)
    let list = any?["l"]?.listValue
    #expect(list?[0] == 1)
    #expect(list?[1] == 2.5)
    #expect(list?[2] == "x")
    #expect(list?[3].dictionaryValue?["k"] == .bool(false))
    #expect(Array(horse.anys) == [true, 1, 1.5, nil, .decimal128("18446744073709551615")])
    #expect(horse.anyMap["a"] == AnyRealmValue.none)
    #expect(horse.anyMap["b"] == 1)
    #expect(instance.realm.objects(StableHorse.self).where { $0.name == "x" }.count == 1)
  }

  /// As where `NSNumber` stands for both. A value of any type keeps the difference.
  @Test(arguments: StableEntry.allCases)
  func booleansAreNumbersForPropertiesOfNumbers(entry: StableEntry) throws {
    let instance = try Shelter().openStable()
    let values = try #require(
      try json(
        """
        {"int8": true, "age": false, "height": true, "weight": true, "price": true, "grade": true,
         "share": true, "scores": [true, 2, false], "optionalScores": [null, true],
         "sizes": {"a": true}, "any": true, "anys": [true, 1], "anyMap": {"a": false}}
        """) as? [String: Any])
    let horse = try entry.make(values, in: instance)
    #expect(horse.int8 == 1)
    #expect(horse.age == 0)
    #expect(horse.height == 1)
    #expect(horse.weight == 1)
    #expect(horse.price == 1)
    #expect(horse.grade == .low)
    #expect(horse.share?.value == 1)
    #expect(Array(horse.scores) == [1, 2, 0])
    #expect(Array(horse.optionalScores) == [nil, 1])
    #expect(horse.sizes["a"] == 1)
    #expect(horse.any == .bool(true))
    #expect(Array(horse.anys) == [.bool(true), .int(1)])
    #expect(horse.anyMap["a"] == .bool(false))
    #expect(instance.realm.object(ofType: StableHorse.self, forPrimaryKey: true)?.age == 0)
    let swift = try entry.make(
      ["age": true, "scores": [false, true], "isTame": true], in: Shelter().openStable())
    #expect(swift.age == 1)
    #expect(Array(swift.scores) == [0, 1])
    #expect(swift.isTame)
  }

  @Test(arguments: StableEntry.allCases)
  func nilEmptiesCollections(entry: StableEntry) throws {
    let instance = try Shelter().openStable()
    var full: [String: Any] = ["scores": [1], "tags": ["a"], "sizes": ["a": 1], "anys": [1]]
    let horse = try entry.make(full, in: instance)
    #expect(horse.scores.count == 1)
    #expect(horse.tags.count == 1)
    #expect(horse.sizes.count == 1)
    for name in full.keys { full[name] = NSNull() }
    try instance.write {
      switch entry {
      case .create, .checked, .unmanaged:
        full["id"] = 1
        instance.realm.create(StableHorse.self, value: full, update: .modified)
      case .dynamicCreate:
        full["id"] = 1
        instance.realm.dynamicCreate("StableHorse", value: full, update: .modified)
      case .dynamicSet:
        let dynamic = try #require(
          instance.realm.dynamicObject(ofType: "StableHorse", forPrimaryKey: 1))
        for name in full.keys { dynamic[name] = nil }
      default:
        for name in full.keys { horse.setValue(nil, forKey: name) }
      }
    }
    #expect(horse.scores.isEmpty)
    #expect(horse.tags.isEmpty)
    #expect(horse.sizes.isEmpty)
    #expect(horse.anys.isEmpty)
  }

  @Test(arguments: StableEntry.allCases)
  func typedCollectionsAreValuesOfAnyType(entry: StableEntry) throws {
    let instance = try Shelter().openStable()
    let numbers = List<Int>()
    numbers.append(objectsIn: [1, 2])
    let names = MutableSet<String>()
    names.insert("a")
    let sizes = Map<String, Double>()
    sizes["a"] = 1.5
    let horse = try entry.make(["any": numbers, "anys": [names, sizes]], in: instance)
    #expect(horse.any.listValue.map { Array($0) } == [1, 2])
    #expect(horse.anys[0].listValue.map { Array($0) } == ["a"])
    #expect(horse.anys[1].dictionaryValue?["a"] == 1.5)
    let other = List<AnyRealmValue>()
    other.append(.string("x"))
    try instance.write { horse["any"] = horse.scores }
    #expect(horse.any.listValue?.isEmpty == true)
    try instance.write { horse["any"] = other }
    #expect(horse.any.listValue.map { Array($0) } == ["x"])
    try instance.write { horse["any"] = instance.realm.objects(StableHorse.self) }
    #expect(horse.any.listValue?[0].object(StableHorse.self)?.id == 1)
  }

  @Test func numbersGoWhereTheyFit() throws {
    let large = try json("9007199254740993")
    func to(_ type: ColumnType, _ value: Any) -> Value? {
      Value(single: value)?.converted(to: type)
    }
    #expect(to(.int, 3.0) == .int(3))
    #expect(to(.int, 3.5) == nil)
    #expect(to(.int, 1e19) == nil)
    #expect(to(.int, Decimal(string: "3.0")!) == .int(3))
    #expect(to(.int, Decimal(string: "3.01")!) == nil)
    #expect(to(.int, Double.nan) == nil)
    #expect(to(.int, UInt64.max) == nil)
    #expect(to(.int, UInt8(200)) == .int(200))
    #expect(to(.int, NSDecimalNumber(string: "-7")) == .int(-7))
    #expect(to(.int, true) == .int(1))
    #expect(to(.double, false) == .double(0))
    #expect(to(.float, true) == .float(1))
    #expect(to(.decimal, true) == to(.decimal, 1))
    #expect(to(.string, true) == nil)
    #expect(to(.date, true) == nil)
    #expect(to(.data, false) == nil)
    #expect(to(.int, Decimal128.max) == nil)
    #expect(to(.int, Int64.min) == .int(.min))
    #expect(to(.double, large) == .double(9_007_199_254_740_992))
    #expect(to(.double, UInt64.max) == .double(0x1p64))
    #expect(to(.double, Decimal128("1E+400")) == nil)
    #expect(to(.double, "1") == nil)
    #expect(to(.double, Decimal128("0.1")) == .double(0.1))
    #expect(to(.double, Float(1.5)) == .double(1.5))
    #expect(to(.double, Float16(0.5)) == .double(0.5))
    #expect(to(.float, 1.1) == .float(1.1))
    #expect(to(.float, 1e39) == nil)
    #expect(to(.float, Double.infinity) == .float(.infinity))
    #expect(to(.float, 16_777_217) == .float(16_777_216))
    #expect(to(.float, Decimal128("1E+39")) == nil)
    #expect(to(.decimal, 0.1) == Decimal128("0.1")._box().value)
    #expect(to(.decimal, UInt64.max) == Decimal128("18446744073709551615")._box().value)
    #expect(to(.bool, 1) == .bool(true))
    #expect(to(.bool, 0.0) == .bool(false))
    #expect(to(.bool, 2) == nil)
    let (yes, one, half) = (try json("true"), try json("1"), try json("1.0"))
    #expect(to(.bool, yes) == .bool(true))
    #expect(to(.any, yes) == .bool(true))
    #expect(to(.any, one) == .int(1))
    #expect(to(.any, half) == .double(1))
    #expect(to(.any, NSNumber(value: 1 as Int8)) == .int(1))
    #expect(to(.string, NSString(string: "x")) == .string("x"))
    #expect(to(.date, Date(timeIntervalSince1970: .infinity)) == nil)
    #expect(to(.data, NSData(data: Data([1]))) == .data([1]))
  }

  @Test func primaryKeysComeFromJSON() throws {
    let instance = try Shelter().openStable()
    let parsed = try #require(try json(#"{"id": 12.0, "key": 12, "other": 1.5}"#) as? [String: Any])
    try instance.write { instance.realm.create(StableHorse.self, value: parsed) }
    func find(_ key: Any) -> StableHorse? {
      instance.realm.object(ofType: StableHorse.self, forPrimaryKey: key)
    }
    #expect(find(parsed["id"]!)?.id == 12)
    #expect(find(parsed["key"]!)?.id == 12)
    #expect(find(parsed["other"]!) == nil)
    #expect(find(UInt64.max) == nil)
    #expect(find(12 as Int8)?.id == 12)
    let dynamic = instance.realm.dynamicObject(ofType: "StableHorse", forPrimaryKey: parsed["id"]!)
    #expect(dynamic?.id as? Int == 12)
  }

  @Test(arguments: StableEntry.allCases)
  func whatATypeRefusesIsStoredAsItIs(entry: StableEntry) throws {
    // The checked way throws, and an unmanaged object cannot hold it.
    guard ![.checked, .unmanaged, .setUnmanaged].contains(entry) else { return }
    let instance = try Shelter().openStable()
    let horse = try entry.make(
      ["otherMood": "frantic", "grade": 7, "share": 400, "moods": ["calm"]], in: instance)
    #expect(horse.otherMood == nil)
    #expect(horse.grade == nil)
    #expect(horse.share == nil)
    let raw = try #require(instance.realm.dynamicObject(ofType: "StableHorse", forPrimaryKey: 1))
    #expect(raw.otherMood as? String == "frantic")
    #expect(raw.grade as? Int == 7)
    #expect(raw.share as? Int == 400)
    try instance.write { horse.otherMood = .wild }
    #expect(raw.otherMood as? String == "wild")
  }

  @Test func aRefusedValueThatIsThereAlreadyIsNoChange() throws {
    let instance = try Shelter().openStable()
    let horse = try StableEntry.create.make(["otherMood": "frantic"], in: instance)
    var calls: [[String]] = []
    let token = horse.observe { change in
      if case .change(_, let properties) = change { calls.append(properties.map(\.name)) }
    }
    for mood in ["frantic", "odd"] {
      try instance.write {
        instance.realm.create(
          StableHorse.self, value: ["id": 1, "otherMood": mood], update: .modified)
      }
      instance.pump()
    }
    #expect(calls == [["otherMood"]])
    token.invalidate()
  }

  @Test func dynamicObjectsTakeObjectsOfTheProgramAndEveryNumber() throws {
    let instance = try Shelter().openStable()
    try instance.write {
      let dynamic = instance.realm.dynamicCreate("StableHorse", value: ["id": 1])
      let mother = StableHorse(value: ["id": 2, "foals": [["id": 3]]])
      dynamic.mother = mother
      dynamic.weight = 1.5
      dynamic.foals = [instance.realm.create(StableHorse.self, value: [4]), ["id": 5]] as [Any]
      #expect(mother.realm != nil)
      #expect((dynamic.mother as? StableHorse)?.id == 2)
    }
    let horse = try #require(instance.realm.object(ofType: StableHorse.self, forPrimaryKey: 1))
    #expect(horse.mother?.foals.map(\.id) == [3])
    #expect(horse.foals.map(\.id) == [4, 5])
    #expect(horse.weight == 1.5)
    try instance.write {
      // A typed property takes the dynamic object of its row.
      let dynamic = try #require(
        instance.realm.dynamicObject(ofType: "StableHorse", forPrimaryKey: 5))
      horse["mother"] = dynamic
    }
    #expect(horse.mother?.id == 5)
  }
}
