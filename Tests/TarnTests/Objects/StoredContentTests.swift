import Foundation
import TestSupport
import Testing

@testable import Tarn

private enum Phase: Int, PersistableEnum {
  case new = 1
  case full
}

private struct Label: CustomPersistable, Hashable {
  var text: String
  init(_ text: String) { self.text = text }
  init(persistedValue: String) { text = persistedValue }
  var persistableValue: String { text }
}

private class Moon: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var phase = Phase.new
  @Persisted var former: Phase?
  @Persisted var label = Label("")
  @Persisted var formerLabel: Label?
  @Persisted var data: AnyRealmValue
  @Persisted var phases: List<Phase?>
  @Persisted var labels: MutableSet<Label>
  @Persisted var ranked: Map<String, Phase?>
  @Persisted var datas: Map<String, AnyRealmValue>
  @Persisted var next: Moon?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Values that are read by name have the type that is stored, in whatever way they are reached.
struct StoredContentTests {
  private let folder = TemporaryFolder()

  private func open() throws -> Realm {
    try Realm(
      configuration: Realm.Configuration(
        fileURL: folder.url("moons.realm"), objectTypes: [Moon.self], durability: .relaxed))
  }

  private func filled(_ id: Int) -> Moon {
    let moon = Moon(value: ["id": id])
    (moon.phase, moon.former) = (.full, .new)
    (moon.label, moon.formerLabel) = (Label("a"), Label("b"))
    moon.data = .int(7)
    moon.phases.append(objectsIn: [.full, nil])
    moon.labels.insert(objectsIn: [Label("x")])
    moon.ranked["k"] = .full
    moon.datas["s"] = .string("t")
    moon.datas["none"] = AnyRealmValue.none
    return moon
  }

  private func check(_ moon: Object) {
    for read in [
      { moon[$0] }, { moon.value(forKey: $0) }, { moon.value(forKeyPath: $0) },
      { moon.value(forKeyPath: "next.\($0)") },
    ] as [(String) -> Any?] {
      #expect(read("phase") as? Int == 2)
      #expect(read("former") as? Int == 1)
      #expect(read("label") as? String == "a")
      #expect(read("formerLabel") as? String == "b")
      #expect(read("data") as? Int == 7)
    }
    #expect(moon.value(forKeyPath: "phases.self") as? [Int?] == [2, nil])
    #expect(moon.value(forKeyPath: "labels.self") as? [String] == ["x"])
    #expect(moon.value(forKeyPath: "ranked.k") as? Int == 2)
    #expect(moon.value(forKeyPath: "datas.s") as? String == "t")
    #expect(moon.value(forKeyPath: "datas.none") == nil)
  }

  @Test func objectsOfAllKindsReadAlike() throws {
    let realm = try open()
    let unmanaged = filled(1)
    unmanaged.next = unmanaged
    check(unmanaged)
    unmanaged.next = nil
    try realm.write {
      realm.add(unmanaged)
      unmanaged.next = unmanaged
    }
    check(unmanaged)
    check(unmanaged.freeze())
    check(try #require(realm.dynamicObject(ofType: "Moon", forPrimaryKey: 1)))
    #expect(realm.objects(Moon.self).value(forKey: "phase") as? [Int] == [2])
    #expect(unmanaged.ranked.value(forKey: "k") as? Int == 2)
    #expect(unmanaged.phases.value(forKey: "self") as? [Int?] == [2, nil])
  }

  @Test func nilIsNil() throws {
    let realm = try open()
    let moon = try realm.write { realm.create(Moon.self, value: ["id": 1]) }
    let dynamic = try #require(realm.dynamicObject(ofType: "Moon", forPrimaryKey: 1))
    for object in [moon, dynamic, Moon()] {
      for name in ["former", "formerLabel", "data", "next"] { #expect(object[name] == nil) }
    }
  }
}
