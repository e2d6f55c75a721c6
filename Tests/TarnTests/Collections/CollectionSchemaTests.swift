import Foundation
import TarnStore
import Testing

@testable import Tarn

struct CollectionSchemaTests {
  @Test func columnsFollowTheElements() throws {
    let model = try ModelSchema([Chest.self, Coin.self])
    let chest = try #require(model.definitions.first { $0.name == "Chest" })
    func text(_ name: String) throws -> String {
      let property = try #require(chest.properties.first { $0.name == name })
      return "\(property.collection) \(property.type)\(property.isOptional ? "?" : "")"
        + (property.isIndexed ? " indexed" : "") + (property.target.map { " \($0)" } ?? "")
    }
    #expect(try text("numbers") == "list int")
    #expect(try text("words") == "list string?")
    #expect(try text("tags") == "set string")
    #expect(try text("sizes") == "set double?")
    #expect(try text("scores") == "map int")
    #expect(try text("notes") == "map string?")
    #expect(try text("coins") == "list link indexed Coin")
    #expect(try text("gems") == "set link indexed Coin")
    #expect(try text("named") == "map link? indexed Coin")
    #expect(try text("moods") == "list string")
    #expect(try text("inner") == "list link indexed Chest")
    #expect(_name(for: \Chest.numbers) == "numbers")
  }

  @Test func contradictionsAreNamed() {
    func problem(_ type: ObjectBase.Type) -> String {
      do {
        _ = try ClassReflection(type)
        return ""
      } catch {
        return error.description
      }
    }
    #expect(problem(ListOfOptionals.self).contains("'ListOfOptionals.coins' cannot hold nil"))
    #expect(problem(MapOfObjects.self).contains("Map<String, Coin?>"))
    #expect(problem(IndexedList.self).contains("'IndexedList.numbers' is a collection"))
  }

  @Test func aFileWithOtherElementsDoesNotFit() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Lists.Drawer.self]
    _ = try Realm(configuration: configuration)
    for (type, text) in [
      (Others.Drawer.self, "a list of int in the file but a list of string"),
      (Sets.Drawer.self, "a list of int in the file but a set of int"),
      (Optionals.Drawer.self, "required in the file but optional"),
    ] as [(ObjectBase.Type, String)] {
      configuration.objectTypes = [type]
      let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
      let message = error?.message ?? ""
      #expect(message.contains(text), "\(message)")
    }
  }

  @Test func aPropertyThatIsNewToTheFileIsEmpty() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Nothing.Drawer.self]
    let old = try Realm(configuration: configuration)
    try old.write { old.add(Nothing.Drawer()) }
    configuration.objectTypes = [Lists.Drawer.self]
    configuration.schemaVersion = 1
    let new = try Instance(configuration, shelter)
    let drawer = try #require(new.realm.objects(Lists.Drawer.self).first)
    #expect(drawer.things.isEmpty)
    try new.write { drawer.things.append(1) }
    #expect(Array(drawer.things) == [1])
  }
}

class Hidden: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
class ListOfOptionals: Hidden {
  @Persisted var coins: List<Coin?>
}
class MapOfObjects: Hidden {
  @Persisted var coins: Map<String, Coin>
}
class IndexedList: Hidden {
  @Persisted var numbers: List<Int>
  override class func indexedProperties() -> [String] { ["numbers"] }
}
enum Nothing {
  class Drawer: Hidden {
    @Persisted var name = ""
  }
}
enum Lists {
  class Drawer: Hidden {
    @Persisted var things: List<Int>
  }
}
enum Others {
  class Drawer: Hidden {
    @Persisted var things: List<String>
  }
}
enum Sets {
  class Drawer: Hidden {
    @Persisted var things: MutableSet<Int>
  }
}
enum Optionals {
  class Drawer: Hidden {
    @Persisted var things: List<Int?>
  }
}
