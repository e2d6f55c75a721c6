import Foundation
import TestSupport
import Testing

@testable import Tarn

/// What a program is told that asks for names and values which are not there.
struct DynamicTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  /// A cat as its class shows it and by names, in an open write.
  private typealias Shown = (realm: Realm, typed: Cat, cat: DynamicObject)

  private static func row(
    _ name: String, _ message: String, _ use: @escaping @Sendable (Shown) throws -> Void
  ) -> TrapCase {
    TrapCase(name, message) { shelter in
      let realm = try shelter.open().realm
      let cat = Cat(1, "Mia")
      realm.beginWrite()
      realm.add(cat)
      try use((realm, cat, realm.dynamicObjects("Cat")[0]))
    }
  }

  static let traps: [TrapCase] = [
    row("unknown name", "Class 'Cat' has no property 'fur'.") { _ = $0.typed["fur"] },
    row("unmanaged unknown name", "Class 'Cat' has no property 'fur'.") { _ in Cat(2)["fur"] = 1 },
    row("wrong type", "Invalid value 'old' of type 'String' for property 'Cat.age'.") {
      $0.typed["age"] = "old"
    },
    row("unmanaged wrong type", "Invalid value 'old' of type 'String' for property 'Cat.age'.") {
      _ in Cat(2)["age"] = "old"
    },
    row("nil for required", "Invalid value nil for property 'Cat.age'.") {
      $0.typed.setValue(nil, forKey: "age")
    },
    row("path over a value", "'Cat.age' in the path 'age.years' is not a link.") {
      _ = $0.typed.value(forKeyPath: "age.years")
    },
    row("computed", "'Home.cats' is computed and cannot be set.") { _ in
      Home("x").setValue([Cat](), forKey: "cats")
    },
    row("primary key", "Cat.id is the primary key, which cannot change") { $0.typed["id"] = 2 },
    row("outside of a write", "outside of a write transaction") { it in
      try it.realm.commitWrite()
      it.typed["age"] = 3
    },
    row("dynamic unknown name", "Class 'Cat' has no property 'fur'.") { _ = $0.cat.fur },
    row("dynamic wrong type", "Invalid value 'old' of type 'String' for property 'Cat.age'.") {
      $0.cat.age = "old"
    },
    row("dynamic nil", "Invalid value nil for property 'Cat.age'.") { $0.cat.age = nil },
    row("dynamic primary key", "Cat.id is the primary key, which cannot change") { $0.cat.id = 2 },
    row("dynamic outside of a write", "outside of a write transaction") { it in
      try it.realm.commitWrite()
      it.cat.age = 2
    },
    row("dynamic class", "The file has no class 'Dog'.") { _ = $0.realm.dynamicObjects("Dog") },
    row("dynamic link of another class", "for property 'Cat.home'.") { $0.cat.home = $0.cat },
    row("create wrong type", "Invalid value 'old' of type 'String' for property 'Cat.age'.") {
      $0.realm.dynamicCreate("Cat", value: ["age": "old"])
    },
    row("create existing", "an existing primary key value") {
      $0.realm.dynamicCreate("Cat", value: ["id": 1])
    },
    row("create unknown class", "The file has no class 'Dog'.") { $0.realm.dynamicCreate("Dog") },
    row("wrong key type", "'String' is not the type of the primary key of 'Cat'.") {
      _ = $0.realm.dynamicObject(ofType: "Cat", forPrimaryKey: "one")
    },
    row("deleted", "has been deleted or invalidated") { it in
      it.realm.delete(it.cat)
      _ = it.cat.age
    },
    row("added", "A DynamicObject cannot be added") { $0.realm.add(DynamicObject()) },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = try folder as String, name] in
      try await DynamicTrapTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
