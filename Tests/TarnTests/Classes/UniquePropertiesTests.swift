import Foundation
import TarnStore
import TestSupport
import Testing

@testable import Tarn

/// Combinations of properties that no two objects may have in common.
struct UniquePropertiesTests {
  private let folder = TemporaryFolder()
  private var url: URL { folder.url("houses.realm") }

  private func open(
    _ types: [ObjectBase.Type] = Houses.types, version: UInt64 = 0, _ block: MigrationBlock? = nil
  ) throws -> Realm {
    try Realm(configuration: PetFile.configuration(url, types, version: version, block))
  }

  /// Houses with the ids and numbers 1..<count, all in one street.
  private func filled(_ count: Int) throws -> Realm {
    let realm = try open()
    try realm.write {
      for number in 1..<count { realm.add(Houses.House(number, "Bern", "Main Street", number)) }
    }
    return realm
  }

  private func expectRefusal(
    _ parts: [String], _ body: () throws -> Void,
    _ location: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: Realm.Error.self, sourceLocation: location) { try body() }
    #expect(error?.code == .notUnique, sourceLocation: location)
    for part in parts {
      #expect(
        error?.message.contains(part) == true, "\(error?.message ?? "")", sourceLocation: location)
    }
  }

  /// What the file says, without any class.
  private func contents() throws -> String {
    let version = try schemaVersionAtURL(url)
    return "version \(version)\n" + (try open([], version: version)).text
  }

  private func checkRules(_ realm: Realm) throws {
    let reader = realm.core.shown()
    for described in reader.schema.schema.classes {
      let check = try IndexCheck(described, reader)
      #expect(check.problems + check.broken == [])
    }
  }

  // MARK: - Writes

  @Test func aBrokenRuleRollsTheWriteBack() throws {
    let realm = try filled(4)
    let houses = realm.objects(Houses.House.self)
    let before = realm.text
    expectRefusal([
      "class 'House' have the same 'town', 'street', 'number': \"Bern\", \"Main Street\", 2.",
      "primary keys 2 and 9", "Nothing was written",
    ]) {
      try realm.write {
        realm.create(Houses.Note.self, value: ["text": "gone with the rest"])
        realm.add(Houses.House(9, "Bern", "Main Street", 2))
      }
    }
    #expect(!realm.isInWriteTransaction)
    #expect(realm.text == before)
    expectRefusal(["primary keys 1 and 3"]) {
      try realm.write { houses[2].number = 1 }
    }
    #expect(houses.map(\.number) == [1, 2, 3])
    // The next write goes on from the last committed state.
    try realm.write { houses[2].number = 7 }
    try realm.write { realm.add(Houses.House(9, "Bern", "Main Street", 3)) }
    #expect(houses.map(\.number) == [1, 2, 7, 3])
    try checkRules(realm)
  }

  @Test func withinAWriteTheRuleDoesNotCount() throws {
    let realm = try filled(4)
    let houses = realm.objects(Houses.House.self)
    try realm.write {
      let first = houses[0].number
      houses[0].number = houses[1].number
      houses[1].number = first
      realm.add(Houses.House(9, "Bern", "Main Street", 3))
      realm.delete(houses[2])
    }
    #expect(houses.map(\.number) == [2, 1, 3])
    try realm.write {
      realm.deleteAll()
      realm.add(Houses.House(4, "Bern", "Main Street", 3))
    }
    try checkRules(realm)
  }

  @Test func nilIsUnderNoRule() throws {
    let realm = try filled(2)
    try realm.write {
      for id in 10..<14 { realm.add(Houses.House(id, nil, "Main Street", 1)) }
    }
    expectRefusal([]) { try realm.write { realm.objects(Houses.House.self).last!.city = "Bern" } }
    try checkRules(realm)
  }

  @Test func linksTakePart() throws {
    let realm = try filled(4)
    let houses = realm.objects(Houses.House.self)
    try realm.write {
      for (house, name) in [(1, "a"), (1, "b"), (2, "a")] {
        realm.create(
          Houses.Flat.self,
          value: ["house": houses[house], "name": name, "kind": Houses.Kind.large.rawValue])
      }
    }
    let flats = realm.objects(Houses.Flat.self)
    expectRefusal(["class 'Flat' have the same 'house', 'name'", "object keys 0 and 1"]) {
      try realm.write { flats[1].name = "a" }
    }
    // Without the house both are under no rule.
    try realm.write {
      realm.delete(houses[1])
      flats[1].name = "a"
    }
    #expect(flats.map(\.name) == ["a", "a", "a"])
    expectRefusal([]) { try realm.write { for flat in flats { flat.house = houses[0] } } }
    try checkRules(realm)
  }

  @Test func everyTypeOfValueCanTakePart() throws {
    let realm = try open()
    let values = { (changed: Int) -> [String: Any] in
      [
        "small": Int8(changed == 0 ? 1 : 2), "flag": changed == 1,
        "date": Date(timeIntervalSince1970: changed == 2 ? 5 : 6),
        "id": try! ObjectId(string: "00000000000000000000000" + (changed == 3 ? "1" : "2")),
        "uuid": UUID(uuidString: "0000000\(changed == 4 ? 1 : 0)-0000-0000-0000-000000000000")!,
        "price": Decimal128(value: changed == 5 ? 1 : 2), "size": changed == 6 ? 1.5 : 2.5,
        "weight": Float(changed == 7 ? 1 : 2), "kind": changed == 8 ? "small" : "large",
        "bytes": Data([changed == 9 ? 1 : 2]),
      ]
    }
    try realm.write {
      for number in 0...10 { realm.create(Houses.Thing.self, value: values(number)) }
    }
    for number in 0...10 {
      expectRefusal(["class 'Thing'"]) {
        try realm.write { _ = realm.create(Houses.Thing.self, value: values(number)) }
      }
    }
    #expect(realm.objects(Houses.Thing.self).count == 11)
    try checkRules(realm)
  }

  @Test func observersHearOnlyOfWhatIsCommitted() throws {
    let realm = try filled(4)
    let scheduler = ManualScheduler()
    let other = try Realm(
      configuration: PetFile.configuration(url, Houses.types), scheduler: scheduler)
    var calls: [String] = []
    let token = other.objects(Houses.House.self).observe { change in
      switch change {
      case .initial(let houses): calls.append("initial \(houses.count)")
      case .update(_, let deletions, let insertions, let modifications):
        calls.append("-\(deletions) +\(insertions) ~\(modifications)")
      case .error(let error): calls.append("error \(error)")
      }
    }
    func pump() { while scheduler.pump() {} }
    pump()
    expectRefusal([]) { try realm.write { realm.objects(Houses.House.self)[0].number = 3 } }
    pump()
    try realm.write { realm.objects(Houses.House.self)[0].number = 8 }
    pump()
    #expect(calls == ["initial 3", "-[] +[] ~[0]"])
    token.invalidate()
  }

  // MARK: - Schemas

  @Test func theSchemaTellsOfRules() throws {
    try {
      let schema = try #require(try open().schema["House"])
      #expect(schema.uniqueProperties == [["city", "street", "number"]])
      #expect(schema.description.contains("unique: city, street, number"))
    }()
    let dynamic = try open([])
    #expect(dynamic.schema["House"]?.uniqueProperties == [["town", "street", "number"]])
    #expect(dynamic.schema["Note"]?.uniqueProperties == [])
  }

  @Test func aRuleIsAddedWhenTheFileIsOpened() throws {
    do {
      let realm = try open(HousesBefore.types)
      try realm.write {
        for id in 1...3 {
          realm.create(
            HousesBefore.House.self,
            value: ["id": id, "town": "Bern", "street": "Main Street", "number": 5 - id / 2])
        }
      }
    }
    let bytes = try Data(contentsOf: url)
    expectRefusal([
      "a unique rule of the program cannot be added", "'town', 'street', 'number'",
      "primary keys 2 and 3", "The file is unchanged",
    ]) { _ = try open() }
    #expect(try Data(contentsOf: url) == bytes)
    do {
      let realm = try open(HousesBefore.types)
      try realm.write { realm.objects(HousesBefore.House.self)[1].number = 12 }
    }
    _ = try open()
    // Now it is the file's, for who does not know it, too.
    let realm = try open(HousesBefore.types)
    expectRefusal([]) {
      try realm.write { realm.objects(HousesBefore.House.self)[1].number = 4 }
    }
    let dynamic = try open([])
    expectRefusal([]) {
      try dynamic.write { dynamic.dynamicObjects("House")[1]["number"] = 4 }
    }
    try checkRules(realm)
  }

  @Test func aMigrationIsHeldToTheRulesOfItsEnd() throws {
    _ = try filled(30)
    let before = try contents()
    expectRefusal(["'city', 'number'", "1 and"]) {
      _ = try open(HousesAfter.types, version: 1) { migration, _ in
        migration.renameProperty(onType: "House", from: "town", to: "city")
        migration.enumerateObjects(ofType: "House") { old, new in
          new!["rank"] = old!["id"]
          new!["number"] = 1
        }
      }
    }
    #expect(try contents() == before)
    // The rule that goes need not be kept, the keys of the rows may change.
    let realm = try open(HousesAfter.types, version: 1) { migration, _ in
      migration.renameProperty(onType: "House", from: "town", to: "city")
      migration.enumerateObjects(ofType: "House") { old, new in
        new!["rank"] = 100 - (old!["id"] as! Int)
        new!["street"] = "same"
      }
    }
    #expect(realm.schema["House"]?.uniqueProperties == [["city", "number"]])
    try checkRules(realm)
    expectRefusal(["primary keys 71 and 72"]) {
      try realm.write {
        realm.object(ofType: HousesAfter.House.self, forPrimaryKey: 71)!.number = 28
      }
    }
    let rules = realm.core.shown().schema.schema.classes.map(\.uniqueRules.count)
    // The other one is of a class that the program does not have.
    #expect(rules.reduce(0, +) == 2)
  }

  @Test func aRuleFollowsAPropertyThatIsRenamed() throws {
    try {
      let realm = try filled(3)
      try realm.write {
        for name in ["a", "b"] {
          realm.create(
            Houses.Flat.self,
            value: ["house": realm.objects(Houses.House.self)[0], "name": name, "kind": "large"])
        }
      }
    }()
    // Without the values both are the same.
    let before = try contents()
    expectRefusal(["class 'Flat'", "'house', 'title'"]) {
      _ = try open(HousesRenamed.types, version: 1)
    }
    #expect(try contents() == before)
    let realm = try open(HousesRenamed.types, version: 1) { migration, _ in
      migration.renameProperty(onType: "Flat", from: "name", to: "title")
    }
    try checkRules(realm)
    let flats = realm.objects(HousesRenamed.Flat.self)
    #expect(flats.map(\.title) == ["a", "b"])
    expectRefusal(["'house', 'title'"]) { try realm.write { flats[1].title = "a" } }
    try realm.write { flats[1].title = "c" }
    try realm.write { flats[0].title = "b" }
    try checkRules(realm)
  }

  @Test func whatIsDeletedMayComeAgain() throws {
    let realm = try filled(4)
    try realm.write {
      realm.delete(realm.objects(Houses.House.self)[1])
      realm.add(Houses.House(2, "Bern", "Main Street", 2))
      realm.delete(realm.objects(Houses.House.self)[0])
      realm.add(Houses.House(9, "Bern", "Main Street", 1))
    }
    #expect(realm.objects(Houses.House.self).map(\.id) == [2, 3, 9])
    try checkRules(realm)
    expectRefusal(["primary keys 2 and 9"]) {
      try realm.write { realm.objects(Houses.House.self).last!.number = 2 }
    }
  }

  // MARK: - Processes

  @Test func everyProcessKeepsIt() async throws {
    _ = try filled(4)
    let said = KeptErrors(in: url.deletingLastPathComponent().path)
    let result = await #expect(processExitsWith: .success) {
      [path = url.path as String, said = said as KeptErrors] in
      said.keep()
      let realm = try Realm(
        configuration: PetFile.configuration(URL(fileURLWithPath: path), HousesBefore.types))
      let houses = realm.objects(HousesBefore.House.self)
      do {
        try realm.write { houses[0].number = 2 }
        fatalError("committed")
      } catch Realm.Error.notUnique {}
      guard houses.map(\.number) == [1, 2, 3] else { fatalError("\(houses)") }
      try realm.write { houses[0].number = 4 }
    }
    said.tell(result)
    let realm = try open()
    expectRefusal([]) { try realm.write { realm.add(Houses.House(9, "Bern", "Main Street", 4)) } }
    try realm.write { realm.add(Houses.House(9, "Bern", "Main Street", 1)) }
    try checkRules(realm)
  }
}

/// What a program that declares unique properties wrongly is told before it stops.
struct UniqueDeclarationTests: TrapSuite {
  private let folder = TemporaryFolder()

  static let traps: [TrapCase] = [
    TrapCase("an unknown property", "names a property 'nothing' in uniqueProperties()") { _ in
      _ = Houses.Nameless.sharedSchema()
    },
    TrapCase("a list", "'Listed.numbers' cannot be in uniqueProperties()") { _ in
      _ = Houses.Listed.sharedSchema()
    },
    TrapCase("no property, or one twice", "is empty, or names a property twice") { _ in
      _ = Houses.Twice.sharedSchema()
    },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = folder.path as String, name] in
      try await UniqueDeclarationTests.traps.named(name).run(Shelter(within: path))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
