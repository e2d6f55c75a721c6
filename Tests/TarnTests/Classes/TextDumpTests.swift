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
      \tcontent = Map<string, mixed> (
      \t\t[a] x
      \t);
      \tother = List<mixed> (
      \t\t[0] List<mixed> (
      \t\t\t[0] (null)
      \t\t)
      \t);
      }
      """
    #expect(safe.description == text)
    try a.write { a.realm.add(safe) }
    #expect(safe.description == text)
    #expect("\(safe.other)".hasPrefix("List<mixed> (\n\t[0] "))
    #expect("\(a.realm.objects(Safe.self))".hasPrefix("Results<Safe> (\n\t[0] Safe {\n\t\tnumber"))
    let dynamic = a.realm.dynamicObjects("Safe")[0].description
    #expect(dynamic.contains("content = Map<string, mixed> (\n\t\t[a] x\n\t);"))
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

  @Test func circlesEndAtTheMaximumDepth() throws {
    let a = try openSafes()
    let safe = Safe()
    safe.content = .object(safe)
    let text = safe.description
    try a.write { a.realm.add(safe) }
    #expect(text == safe.description)
    #expect(a.realm.dynamicObjects("Safe")[0].description == text)
    #expect(text.components(separatedBy: "Safe {").count == 6)
    #expect(text.components(separatedBy: "content = <Maximum depth exceeded>;").count == 2)
    safe.realm!.beginWrite()
    safe.other.append(.fromArray([.object(safe)]))
    #expect(safe.description.contains("[0] <Maximum depth exceeded>"))
    safe.realm!.cancelWrite()
  }

  /// The type of numbers, null, data and enums is that of the file.
  @Test func scalarsAreWrittenAsTheyAreStored() throws {
    let shelter = try Shelter()
    let instance = try shelter.openSteers()
    try instance.write {
      let steer = instance.realm.create(Steer.self, value: ["id": 1, "weight": 2.0])
      steer.mood = .odd
      steer.tag = SteerTag("t")
    }
    let text = try #require(instance.steers.first).description
    for line in ["id = 1;", "weight = 2;", "mood = odd;", "tag = t;", "former = (null);"] {
      #expect(text.contains("\n\t\(line)\n"), "\(text)")
    }
    let gem = List<Data>()
    gem.append(Data((0..<26).map { UInt8($0) }))
    #expect(
      gem.description
        == "List<data> (\n\t[0] <00010203 04050607 08090a0b 0c0d0e0f 10111213 14151617 — "
        + "26 total bytes>\n)")
    let flags: List<Bool?> = [true, false, nil]
    #expect(flags.description == "List<bool> (\n\t[0] 1,\n\t[1] 0,\n\t[2] (null)\n)")
    #expect(List<Int>().description == "List<int> (\n\n)")
    let many = List<Int>()
    many.append(objectsIn: 0..<103)
    #expect(many.description.hasSuffix("\t[99] 99\n\t... 3 objects skipped.\n)"))
  }

  @Test func aGraphOfManyPathsEndsEarly() throws {
    // Each of a hundred holds all others: written out, more than ten thousand million objects.
    let chests = (0..<100).map { Chest($0) }
    for chest in chests { chest.inner.append(objectsIn: chests) }
    let text = chests[0].description
    #expect(text.utf8.count > 65_536)
    #expect(text.utf8.count < 80_000)
    #expect(text.hasSuffix("}"))
    #expect(text.contains(" objects skipped.\n"))
  }
}
