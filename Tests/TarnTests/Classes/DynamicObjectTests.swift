import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Objects by names: of typed classes, and of classes that only the file has.
struct DynamicObjectTests {
  private let folder = TemporaryFolder()

  private func configuration(_ types: [ObjectBase.Type]) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: folder.url("dynamic.realm"), objectTypes: types, durability: .relaxed)
  }

  private static var values: [String: Any] {
    [
      "int": 7, "int8": Int8(8), "int16": Int16(16), "int32": Int32(32), "int64": Int64(64),
      "bool": true, "float": Float(1.5), "double": 2.25, "string": "text",
      "data": Data([1, 2, 3]), "date": Date(timeIntervalSince1970: 1_000.5),
      "uuid": UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8")!, "mood": ModelMood.wild,
      "optionalInt": 70, "optionalBool": false, "optionalString": "more",
      "optionalDate": Date(timeIntervalSince1970: 5), "optionalData": Data([9]),
      "optionalUUID": UUID(uuidString: "6BA7B811-9DAD-11D1-80B4-00C04FD430C8")!,
      "optionalDouble": 9.5, "optionalFloat": Float(8.5),
      "optionalId": ObjectId("0123456789abcdef01234567"),
    ]
  }

  @Test func typedObjectsByName() throws {
    let object = ModelEverything()
    for managed in [false, true] {
      let realm = try Realm(configuration: configuration([ModelEverything.self]))
      realm.beginWrite()
      if managed { realm.add(object) }
      for (name, value) in Self.values {
        object[name] = value
        #expect("\(object[name] ?? "nil")" == "\(value)", "\(name), managed: \(managed)")
      }
      for name in Self.values.keys where name.hasPrefix("optional") {
        object.setValue(nil, forKey: name)
        #expect(object.value(forKey: name) == nil)
      }
      object["link"] = object
      #expect((object["link"] as? ModelEverything)?.isSameObject(as: object) == true)
      #expect(object.value(forKeyPath: "link.link.int") as? Int == 7)
      object["link"] = nil
      #expect(object.value(forKeyPath: "link.link.int") == nil)
      realm.cancelWrite()
    }
  }

  @Test func dynamicObjectsOfAClassThatTheProgramDoesNotHave() throws {
    do {
      let realm = try Realm(configuration: configuration([ModelEverything.self]))
      try realm.write { realm.create(ModelEverything.self, value: ["int": 3]) }
    }
    let realm = try Realm(configuration: configuration([]))
    let objects = realm.dynamicObjects("ModelEverything")
    let object = try #require(objects.first)
    #expect(objects.count == 1)
    #expect(object.int as? Int == 3)
    #expect(object["optionalInt"] == nil)
    let id = try #require(object._id as? ObjectId)
    var values = Self.values
    values["mood"] = "wild"
    try realm.write {
      for (name, value) in values { object[name] = value }
      object.link = object
    }
    for (name, value) in values { #expect("\(object[name] ?? "nil")" == "\(value)") }
    #expect((object.link as? DynamicObject) == object)
    #expect(object.value(forKeyPath: "link.link.string") as? String == "text")
    let found = realm.dynamicObject(ofType: "ModelEverything", forPrimaryKey: id)
    #expect(found == object)
    #expect(found?.isSameObject(as: object) == true)
    #expect(realm.dynamicObject(ofType: "ModelEverything", forPrimaryKey: ObjectId()) == nil)
    try realm.write {
      for name in values.keys where name.hasPrefix("optional") { object[name] = nil }
    }
    #expect(object.optionalString == nil)
    #expect(object.string as? String == "text")
    #expect(object.description.contains("string = text"))
  }

  @Test func creatingAndDeleting() throws {
    let realm = try Realm(configuration: configuration([Cat.self, Home.self]))
    try realm.write {
      let cat = realm.dynamicCreate(
        "Cat", value: ["id": 4, "name": "Mia", "home": ["street": "Main", "rooms": 2]])
      #expect(cat.value(forKeyPath: "home.street") as? String == "Main")
      realm.dynamicCreate("Cat", value: ["id": 4, "age": 9], update: .modified)
      #expect(cat.age as? Int == 9)
      #expect(cat.name as? String == "Mia")
      let home = realm.dynamicCreate("Home", value: ["Second", 5])
      cat.home = home
      let typed = try #require(realm.object(ofType: Cat.self, forPrimaryKey: 4))
      #expect(typed.home?.rooms == 5)
      #expect(typed.age == 9)
      cat.home = typed.home
      typed.setValue(nil, forKey: "home")
      #expect(cat.home == nil)
      let copy = realm.dynamicCreate("Home", value: home)
      #expect(copy.street as? String == "Second")
    }
    #expect(realm.objects(Cat.self).where { $0.age == 9 }.count == 1)
    let cats = realm.dynamicObjects("Cat").sorted(byKeyPath: "age", ascending: false)
    #expect(cats.max(ofProperty: "age") == 9)
    let cat = try #require(cats.first)
    #expect(cats.index(of: cat) == 0)
    try realm.write { realm.delete(cat) }
    #expect(cat.isInvalidated)
    #expect(cats.isEmpty)
    try realm.write { realm.delete(realm.dynamicObjects("Home")) }
    #expect(realm.objects(Home.self).isEmpty)
  }

  @Test func observingResultsAndObjects() throws {
    let writer = try Realm(configuration: configuration([Cat.self, Home.self]))
    let scheduler = ManualScheduler()
    let realm = try Realm(configuration: configuration([]), scheduler: scheduler)
    let cats = realm.dynamicObjects("Cat")
    var told: [String] = []
    let token = cats.observe { change in
      switch change {
      case .initial(let cats): told.append("initial \(cats.count)")
      case .update(let cats, let deletions, let insertions, let modifications):
        told.append("\(cats.count) -\(deletions) +\(insertions) ~\(modifications)")
      case .error(let error): told.append("\(error)")
      }
    }
    while scheduler.pump() {}
    try writer.write { writer.add([Cat(1, "a", home: Home("x")), Cat(2, "b")]) }
    while scheduler.pump() {}
    let cat = try #require(cats.first)
    let objectToken = cat.observe { change in
      switch change {
      case .change(let cat, let properties):
        let texts = properties.map { "\($0.name) \($0.oldValue as Any) \($0.newValue as Any)" }
        told.append("\(cat.id ?? 0): \(texts.sorted())")
      case .deleted: told.append("deleted")
      case .error(let error): told.append("\(error)")
      }
    }
    while scheduler.pump() {}
    try writer.write { writer.object(ofType: Cat.self, forPrimaryKey: 1)!.age = 5 }
    while scheduler.pump() {}
    try writer.write { writer.object(ofType: Cat.self, forPrimaryKey: 1)!.home = nil }
    while scheduler.pump() {}
    try writer.write { writer.delete(writer.objects(Cat.self)) }
    while scheduler.pump() {}
    #expect(told.prefix(2) == ["initial 0", "2 -[] +[0, 1] ~[]"])
    #expect(told[2...3] == ["2 -[] +[] ~[0]", "1: [\"age Optional(0) Optional(5)\"]"])
    #expect(told[5].hasPrefix("1: [\"home Optional(Home {"))
    #expect(told[5].hasSuffix(" nil\"]"))
    #expect(told.suffix(2) == ["0 -[0, 1] +[] ~[]", "deleted"])
    token.invalidate()
    objectToken.invalidate()
  }

  // MARK: - Schemas

  @Test func schemas() throws {
    let realm = try Realm(
      configuration: configuration([ModelEverything.self, Cat.self, Home.self]))
    let schema = realm.schema
    #expect(schema.objectSchema.map(\.className) == ["Cat", "Home", "ModelEverything"])
    let cat = try #require(schema["Cat"])
    #expect(cat == Cat.sharedSchema())
    #expect(Object.sharedSchema() == nil)
    #expect(EmbeddedObject.sharedSchema() == nil)
    #expect(cat.objectClass == Cat.self)
    #expect(cat.properties.map(\.name) == ["id", "name", "age", "weight", "mood", "home"])
    #expect(cat.primaryKeyProperty?.name == "id")
    #expect(!cat.isEmbedded)
    #expect(!cat.isAsymmetric)
    #expect(cat["age"]?.isIndexed == true)
    #expect(cat["name"]?.isIndexed == false)
    #expect(cat["weight"]?.isOptional == true)
    #expect(cat["weight"]?.type == .double)
    #expect(cat["home"]?.type == .object)
    #expect(cat["home"]?.objectClassName == "Home")
    #expect(cat["mood"]?.type == .string)
    #expect(cat["nothing"] == nil)
    #expect(schema["Nothing"] == nil)
    let cats = try #require(schema["Home"]?["cats"])
    #expect(cats.type == .linkingObjects)
    #expect(cats.isArray)
    #expect(cats.objectClassName == "Cat")
    let everything = try #require(schema["ModelEverything"])
    let types: [String: PropertyType] = [
      "int": .int, "int8": .int, "bool": .bool, "string": .string, "data": .data, "date": .date,
      "float": .float, "double": .double, "link": .object, "_id": .objectId, "uuid": .UUID,
    ]
    for (name, type) in types { #expect(everything[name]?.type == type, "\(name)") }
    #expect(PropertyType.allCases.map(\.rawValue) == Array(0...12))
    let object = Cat(1)
    #expect(object.objectSchema == cat)
    try realm.write { realm.add(object) }
    #expect(object.objectSchema == cat)
    let dynamic = realm.dynamicObjects("Cat")[0].objectSchema
    #expect(dynamic.objectClass == DynamicObject.self)
    #expect(dynamic["age"] == cat["age"])
    #expect(cat.description.contains("age: int, indexed"))
  }

  @Test func aSchemaHasTheClassesThatAreListed() throws {
    do { _ = try Realm(configuration: configuration([Cat.self, Home.self, MappedThing.self])) }
    func names(_ types: [ObjectBase.Type]) throws -> [String] {
      let realm = try Realm(configuration: configuration(types))
      let names = realm.schema.objectSchema.map(\.className)
      #expect(realm.freeze().schema.objectSchema.map(\.className) == names)
      return names
    }
    #expect(try names([Cat.self, Home.self]) == ["Cat", "Home"])
    #expect(try names([MappedThing.self]) == ["MappedThing"])
    #expect(try names([]) == ["Cat", "Home", "MappedThing"])
  }

  @Test func theFilesSchemaSaysOfLinksWhatTheClassSays() throws {
    do { _ = try Realm(configuration: configuration([Cat.self, Home.self])) }
    let file = try Realm(configuration: configuration([])).schema
    let cat = try #require(file["Cat"])
    #expect(cat["home"]?.isIndexed == false)
    #expect(cat["age"]?.isIndexed == true)
    #expect(cat.properties == Cat.sharedSchema()?.properties)
  }

  @Test func columnNamesOfTheProgramAndTheFile() throws {
    let realm = try Realm(configuration: configuration([MappedThing.self]))
    try realm.write { realm.create(MappedThing.self, value: ["inside": 5]) }
    let property = try #require(realm.schema["MappedThing"]?["inside"])
    #expect(property.columnName == "outside")
    #expect(realm.dynamicObjects("MappedThing")[0].outside as? Int == 5)
    #expect(realm.objects(MappedThing.self)[0]["inside"] as? Int == 5)
  }

  @Test func listsAndMapsWithinValues() throws {
    let realm = try Realm(configuration: configuration([Safe.self]))
    let nested: [String: Any] = ["a": 1, "b": [2, "three", ["c": true]]]
    realm.beginWrite()
    let created = realm.dynamicCreate("Safe", value: ["content": nested, "other": [nested, 5]])
    let typed = realm.objects(Safe.self)[0]
    for state in ["in the write", "after it"] {
      #expect(plain(created.content) == "[a: 1, b: [2, three, [c: true]]]", "\(state)")
      #expect(plain(typed["content"]) == "[a: 1, b: [2, three, [c: true]]]", "\(state)")
      #expect(plain(created.other) == "[[a: 1, b: [2, three, [c: true]]], 5]", "\(state)")
      #expect(plain(typed.other) == "[[a: 1, b: [2, three, [c: true]]], 5]", "\(state)")
      if realm.isInWriteTransaction { try realm.commitWrite() }
    }
    try realm.write {
      created.content = [[1], created]
      created.other = [["x": [1, 2]], created]
    }
    #expect(plain(created.content) == "[[1], Safe]")
    #expect(plain(typed["content"]) == "[[1], Safe]")
    #expect(plain(created.other) == "[[x: [1, 2]], Safe]")
    #expect(typed.other[1].object(Safe.self)?.isSameObject(as: typed) == true)
    try realm.write { created.content = 4 }
    #expect(typed.content == .int(4))
    #expect(created.content as? Int == 4)
  }

  /// Values without their optionals and their types.
  private func plain(_ value: Any?) -> String {
    switch value.flatMap({ flattened($0) }) {
    case nil: "nil"
    case let object as Object: object.objectSchema.className
    case let value as AnyRealmValue:
      switch value {
      case .list(let list): plain(list)
      case .dictionary(let map):
        plain(Dictionary(uniqueKeysWithValues: map.map { ($0.key, $0.value) }))
      case .object(let object): plain(object)
      default: plain(DynamicValue.unboxed(value._box()))
      }
    case let pairs as [String: Any]:
      "["
        + pairs.sorted { $0.key < $1.key }.map { "\($0.key): \(plain($0.value))" }
        .joined(separator: ", ") + "]"
    case let list as List<AnyRealmValue>: plain(Array(list))
    case let map as Map<String, AnyRealmValue>: plain(AnyRealmValue.dictionary(map))
    case let values as [Any]: "[" + values.map(plain).joined(separator: ", ") + "]"
    case let value?: "\(value)"
    }
  }
}

class MappedThing: Object {
  @Persisted var inside: Int
  override class func propertiesMapping() -> [String: String] { ["inside": "outside"] }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
