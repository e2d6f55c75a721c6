import Foundation
import TestSupport
import Testing

@testable import Tarn

/// What a program is told that asks for names and values which are not there.
struct DynamicTrapTests {
  private let folder = TemporaryFolder()

  enum Mistake: String, CaseIterable, Codable {
    case unknownName, unmanagedUnknownName, wrongType, unmanagedWrongType, nilForRequired
    case pathOverAValue, computed, primaryKey, outsideOfAWrite, dynamicUnknownName
    case dynamicWrongType, dynamicNil, dynamicPrimaryKey, dynamicOutsideOfAWrite, dynamicClass
    case dynamicLinkOfAnotherClass, createWrongType, createExisting
    case createUnknownClass, wrongKeyType, deleted, added

    /// What the message says.
    var message: String {
      switch self {
      case .unknownName, .unmanagedUnknownName, .dynamicUnknownName:
        "Class 'Cat' has no property 'fur'."
      case .wrongType, .unmanagedWrongType, .dynamicWrongType, .createWrongType:
        "Invalid value 'old' of type 'String' for property 'Cat.age'."
      case .nilForRequired, .dynamicNil: "Invalid value nil for property 'Cat.age'."
      case .pathOverAValue: "'Cat.age' in the path 'age.years' is not a link."
      case .computed: "'Home.cats' is computed and cannot be set."
      case .primaryKey, .dynamicPrimaryKey: "Cat.id is the primary key, which cannot change"
      case .outsideOfAWrite, .dynamicOutsideOfAWrite: "outside of a write transaction"
      case .dynamicClass, .createUnknownClass: "The file has no class 'Dog'."
      case .dynamicLinkOfAnotherClass: "for property 'Cat.home'."
      case .createExisting: "an existing primary key value"
      case .wrongKeyType: "'String' is not the type of the primary key of 'Cat'."
      case .deleted: "has been deleted or invalidated"
      case .added: "A DynamicObject cannot be added"
      }
    }

    func make(_ path: String) throws {
      let realm = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: path), objectTypes: [Cat.self, Home.self],
          durability: .relaxed))
      let cat = Cat(1, "Mia")
      if self == .unmanagedUnknownName { cat["fur"] = 1 }
      if self == .unmanagedWrongType { cat["age"] = "old" }
      realm.beginWrite()
      realm.add(cat)
      let dynamic = realm.dynamicObjects("Cat")[0]
      makeTyped(realm, cat)
      try makeDynamic(realm, dynamic)
      exit(0)
    }

    private func makeTyped(_ realm: Realm, _ cat: Cat) {
      switch self {
      case .unknownName: _ = cat["fur"]
      case .wrongType: cat["age"] = "old"
      case .nilForRequired: cat.setValue(nil, forKey: "age")
      case .pathOverAValue: _ = cat.value(forKeyPath: "age.years")
      case .computed: Home("x").setValue([Cat](), forKey: "cats")
      case .primaryKey: cat["id"] = 2
      default: break
      }
    }

    private func makeDynamic(_ realm: Realm, _ cat: DynamicObject) throws {
      switch self {
      case .outsideOfAWrite, .dynamicOutsideOfAWrite:
        try realm.commitWrite()
        if self == .outsideOfAWrite { realm.objects(Cat.self)[0]["age"] = 3 }
        cat.age = 2
      case .dynamicUnknownName: _ = cat.fur
      case .dynamicWrongType: cat.age = "old"
      case .dynamicNil: cat.age = nil
      case .dynamicPrimaryKey: cat.id = 2
      case .dynamicClass: _ = realm.dynamicObjects("Dog")
      case .dynamicLinkOfAnotherClass: cat.home = cat
      case .createWrongType: realm.dynamicCreate("Cat", value: ["age": "old"])
      case .createExisting: realm.dynamicCreate("Cat", value: ["id": 1])
      case .createUnknownClass: realm.dynamicCreate("Dog")
      case .wrongKeyType: _ = realm.dynamicObject(ofType: "Cat", forPrimaryKey: "one")
      case .deleted:
        realm.delete(cat)
        _ = cat.age
      case .added: realm.add(DynamicObject())
      default: break
      }
    }
  }

  @Test(arguments: Mistake.allCases)
  func traps(mistake: Mistake) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = folder.file("cats.realm") as String, mistake = mistake as Mistake] in
      try mistake.make(path)
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains(mistake.message), "\(text)")
  }
}
