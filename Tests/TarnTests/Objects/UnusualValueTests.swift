import Foundation
import Testing

@testable import Tarn

private class Unusual: Object {
  @Persisted(primaryKey: true) var primary: String
  @Persisted var number: Int = 0
  @Persisted var data: Data
  @Persisted var text: String
  @Persisted var texts: List<String>
  @Persisted var datas: Map<String, Data>
  @Persisted var any: AnyRealmValue
  @Persisted var members: List<Unusual>
  @Persisted var memberMap: Map<String, Unusual?>
  @Persisted var memberSet: MutableSet<Unusual>

  override class func className() -> String { "Größe漢字" }
  override class func propertiesMapping() -> [String: String] {
    ["number": String(repeating: "a very long name ", count: 500), "primary": "schlüssel 🔑"]
  }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

struct UnusualValueTests {
  private func open() throws -> (Instance, Shelter) {
    let shelter = try Shelter()
    return (try open(shelter), shelter)
  }

  private func open(_ shelter: Shelter) throws -> Instance {
    var configuration = shelter.configuration
    configuration.objectTypes = [Unusual.self]
    return try Instance(configuration, shelter)
  }

  @Test func valuesOfUpTo64MiBComeBack() throws {
    let (a, shelter) = try open()
    let size = 64 << 20
    var data = Data(count: size)
    for index in stride(from: 0, to: size, by: 4_001) { data[index] = UInt8(index & 0xff) }
    let text = String(repeating: "Größe 漢字 ", count: (8 << 20) / 15)
    let part = data.prefix(4 << 20)
    try a.write {
      let object = Unusual(value: ["primary": "big"])
      a.realm.add(object)
      object.data = data
      object.text = text
      object.texts.append(text)
      object.datas["k"] = part
      object.any = .data(part)
    }
    let b = try open(shelter)
    let object = try #require(b.realm.objects(Unusual.self).first)
    #expect(object.data == data)
    #expect(object.text == text)
    #expect(object.texts[0] == text)
    #expect(object.datas["k"] == part)
    #expect(object.any == .data(part))
  }

  @Test func namesAndValuesMayBeInAnyScriptAndOfAnyLength() throws {
    let (a, shelter) = try open()
    for key in ["", "漢字", "e\u{301}", "é", "🐟\0🐟", String(repeating: "k", count: 10_000)] {
      try a.write { a.realm.add(Unusual(value: ["primary": key, "number": key.utf8.count])) }
    }
    let b = try open(shelter)
    for key in ["", "漢字", "e\u{301}", "é", "🐟\0🐟", String(repeating: "k", count: 10_000)] {
      let found = b.realm.object(ofType: Unusual.self, forPrimaryKey: key)
      #expect(found?.number == key.utf8.count)
    }
    #expect(b.realm.objects(Unusual.self).where { $0.number == 3 }.count == 1)
  }

  @Test func collectionsOfDynamicObjectsAreLive() throws {
    let (a, _) = try open()
    let object = Unusual(value: ["primary": "owner"])
    try a.write {
      a.realm.add(object)
      for key in ["x", "y"] { object.members.append(Unusual(value: ["primary": key])) }
      object.memberMap["k"] = object.members[0]
      object.memberSet.insert(object.members[1])
    }
    let dynamic = try #require(
      a.realm.dynamicObject(ofType: "Größe漢字", forPrimaryKey: "owner"))
    for list in [dynamic.dynamicList("members"), object.dynamicList("members")] {
      #expect(list.map { $0["schlüssel 🔑"] as? String } == ["x", "y"])
    }
    let map: Map<String, DynamicObject?> = dynamic.dynamicMap("memberMap")
    #expect(map["k"]??["schlüssel 🔑"] as? String == "x")
    #expect(dynamic.dynamicMutableSet("memberSet").count == 1)
    try a.write { dynamic.dynamicList("members").remove(at: 0) }
    #expect(object.members.map(\.primary) == ["y"])
  }
}
