import Foundation
import Testing

@testable import Tarn

private class Toy: Object, Codable {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
  @Persisted var price: Decimal128
  @Persisted var note: String?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Box: EmbeddedObject, Codable {
  @Persisted var size = 1.5
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Child: Object, Codable {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var favourite: Toy?
  @Persisted var box: Box?
  @Persisted var toys: List<Toy>
  @Persisted var words: MutableSet<String>
  @Persisted var scores: Map<String, Int?>
  @Persisted var anything: AnyRealmValue

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

struct CodableTests {
  private let json = """
    {"_id":"5f7f1c0e2b3a4c5d6e7f8091","anything":{"a":[1,2.5,"x",null,true]},"box":{"size":3},\
    "favourite":{"id":1,"name":"Ball","note":"red","price":"1.50"},"scores":{"a":1,"b":null},\
    "toys":[{"id":1,"name":"Ball","note":"red","price":"1.50"},\
    {"id":2,"name":"Kite","note":null,"price":"12"}],"words":["one","two"]}
    """

  private func open() throws -> Instance {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Child.self, Toy.self, Box.self]
    return try Instance(configuration, shelter)
  }

  private func decode() throws -> Child {
    try JSONDecoder().decode(Child.self, from: Data(json.utf8))
  }

  private func encode(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  @Test func anUnmanagedObjectGoesThroughJSON() throws {
    let child = try decode()
    #expect(child.toys.count == 2)
    #expect(child.favourite?.price == "1.50")
    #expect(child.box?.size == 3)
    #expect(child.anything.dictionaryValue?["a"]?.listValue?[2] == "x")
    #expect(child.scores["a"] == 1)
    #expect(child.scores.keys == ["a", "b"])
    #expect(try encode(child) == json)
  }

  @Test func aKeyThatIsMissingIsNilWhereThatIsPossible() throws {
    let toy = try JSONDecoder().decode(
      Toy.self, from: Data(#"{"id":3,"name":"Top","price":"1"}"#.utf8))
    #expect(toy.note == nil)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Toy.self, from: Data(#"{"id":3,"price":"1"}"#.utf8))
    }
  }

  @Test func aManagedObjectIsEncodedDetached() throws {
    let a = try open()
    let child = try decode()
    child.toys[0] = child.favourite!
    try a.write { a.realm.add(child) }
    #expect(throws: EncodingError.self) { try encode(child) }  // Which is generic.
    let copy = child.detached()
    #expect(copy.realm == nil)
    #expect(copy.toys[0] === copy.favourite)
    #expect(try encode(copy) == json)
  }

  @Test func collectionsOfManagedObjectsAreEncoded() throws {
    let a = try open()
    let child = try decode()
    child.toys[0] = child.favourite!
    try a.write { a.realm.add(child) }
    let toys =
      #"[{"id":1,"name":"Ball","note":"red","price":"1.50"},"#
      + #"{"id":2,"name":"Kite","note":null,"price":"12"}]"#
    #expect(try encode(child.toys) == toys)
    #expect(try encode(a.realm.objects(Toy.self)) == toys)
    #expect(try encode(AnyRealmCollection(child.toys)) == toys)
    #expect(try encode(child.words) == #"["one","two"]"#)
    #expect(try encode(child.scores) == #"{"a":1,"b":null}"#)
    #expect(try encode(a.realm.objects(Child.self)) == "[\(json)]")
  }

  @Test func anyTextIsAKey() throws {
    let json = #"{"":0,"$type":3,"a.b":1,"a.b.c":2}"#
    #expect(try encode(JSONDecoder().decode(Map<String, Int>.self, from: Data(json.utf8))) == json)
    let value = try JSONDecoder().decode(AnyRealmValue.self, from: Data("[\(json)]".utf8))
    #expect(try encode(value) == "[\(json)]")
    let a = try open()
    try a.write {
      let child = Child()
      a.realm.add(child)
      child.setValue(["$x.y": 1], forKey: "scores")
      child.scores[".z"] = 2
      #expect(child.scores.keys == ["$x.y", ".z"])
      #expect(child.scores["$x.y"] == 1)
    }
  }

  @Test func whatCannotBeStoredIsRefused() throws {
    func nested(_ depth: Int) -> Data {
      Data((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
    }
    let deepest = try JSONDecoder().decode(AnyRealmValue.self, from: nested(100))
    let a = try open()
    try a.write {
      let child = Child()
      child.anything = deepest
      a.realm.add(child)
      #expect(child.anything == deepest)
    }
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(AnyRealmValue.self, from: nested(101))
    }
    for json in ["[1e300]", "[-1e19]"] {
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode(List<Date>.self, from: Data(json.utf8))
      }
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode([Persisted<Date?>].self, from: Data(json.utf8))
      }
    }
  }
}
