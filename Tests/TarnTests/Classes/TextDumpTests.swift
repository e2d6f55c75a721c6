import Foundation
import Testing

@testable import Tarn

/// The texts of objects and collections, for logs.
struct TextDumpTests {
  private func openSafes() throws -> Instance {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Safe.self, Chest.self, Coin.self]
    return try Instance(configuration, shelter)
  }

  @Test func valuesOfAllKindsALineEach() throws {
    let a = try openSafes()
    let safe = Safe()
    safe.number = 3
    safe.content = .fromDictionary(["a": .string("x")])
    safe.other.append(.fromArray([.none]))
    let text = """
      Safe {
      \tnumber = 3;
      \tcontent = Map<String, AnyRealmValue> (
      \t\t[a] string("x")
      \t);
      \tother = List<AnyRealmValue> (
      \t\t[0] List<AnyRealmValue> (
      \t\t\t[0] none
      \t\t)
      \t);
      }
      """
    #expect(safe.description == text)
    try a.write { a.realm.add(safe) }
    #expect(safe.description == text)
    #expect("\(safe.other)".hasPrefix("List<AnyRealmValue> (\n\t[0] "))
    #expect("\(a.realm.objects(Safe.self))".hasPrefix("Results<Safe> (\n\t[0] Safe {\n\t\tnumber"))
    let dynamic = a.realm.dynamicObjects("Safe")[0].description
    #expect(dynamic.contains("content = Map<String, AnyRealmValue> (\n\t\t[a] string(\"x\")\n\t);"))
  }

  @Test func whatAnEnumRefusesIsWrittenAsItIsStored() throws {
    let shelter = try Shelter()
    let instance = try shelter.open()
    try instance.write {
      instance.realm.dynamicCreate("Cat", value: ["id": 1, "mood": "odd"])
    }
    let cat = try #require(instance.realm.objects(Cat.self).first)
    var dumped = ""
    dump(cat, to: &dumped)
    #expect(cat.description.contains("mood = odd;"))
    #expect(dumped.contains("- mood: \"odd\"\n"))
    #expect("\(instance.realm.objects(Cat.self))".contains("mood = odd;"))
  }

  @Test func circlesAreWrittenOnce() throws {
    let a = try openSafes()
    let safe = Safe()
    safe.content = .object(safe)
    safe.other.append(objectsIn: [.object(safe), .fromArray([.object(safe)])])
    let text = safe.description
    try a.write { a.realm.add(safe) }
    #expect(text == safe.description)
    #expect(text.components(separatedBy: "Safe {").count == 5)
    #expect(text.components(separatedBy: "Safe { … }").count == 4)
    let dynamic = a.realm.dynamicObjects("Safe")[0]
    #expect(dynamic.description.components(separatedBy: "Safe { … }").count == 4)
    let home = Home("x")
    home.next = home
    #expect(home.description == "Home {\n\tstreet = x;\n\trooms = 1;\n\tnext = Home { … };\n}")
  }

  @Test func aGraphOfManyPathsEndsEarly() throws {
    // Each of a hundred holds all others: written out, more than ten thousand million objects.
    let chests = (0..<100).map { Chest($0) }
    for chest in chests { chest.inner.append(objectsIn: chests) }
    let text = chests[0].description
    #expect(text.utf8.count > 65_536)
    #expect(text.utf8.count < 80_000)
    #expect(text.hasSuffix("}"))
    #expect(text.contains(" more\n"))
  }
}
