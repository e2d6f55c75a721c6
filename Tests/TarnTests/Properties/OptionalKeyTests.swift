import Foundation
import Testing

@testable import Tarn

private enum Step: Int, PersistableEnum {
  case first = 1
  case second, third
}

private struct Label: CustomPersistable, Hashable {
  var text: String
  init(_ text: String) { self.text = text }
  init(persistedValue: String) { text = persistedValue }
  var persistableValue: String { text }
}

private class Stair: Object {
  @Persisted(primaryKey: true) var step: Step?
  @Persisted var name = ""
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Tin: Object {
  @Persisted(primaryKey: true) var label: Label? = Label("new")
  @Persisted var grams = 0
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Primary keys that are an enum, a custom type, or nil.
struct OptionalKeyTests {
  private let instance: Instance
  private var realm: Realm { instance.realm }

  init() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Stair.self, Tin.self]
    instance = try Instance(configuration, shelter)
  }

  private func stair(_ step: Step?) -> String? {
    realm.object(ofType: Stair.self, forPrimaryKey: step)?.name
  }

  private func tin(_ label: Label?) -> Int? {
    realm.object(ofType: Tin.self, forPrimaryKey: label)?.grams
  }

  @Test func enumsOrNilNameObjects() throws {
    try instance.write {
      realm.create(Stair.self, value: ["step": Step.second, "name": "two"])
      realm.create(Stair.self, value: ["name": "none"])
      realm.create(Stair.self, value: ["step": 3, "name": "three"])
    }
    #expect(stair(.second) == "two")
    #expect(stair(.third) == "three")
    #expect(stair(nil) == "none")
    #expect(stair(.first) == nil)
    #expect(realm.object(ofType: Stair.self, forPrimaryKey: 2)?.step == .second)
    try instance.write {
      realm.create(Stair.self, value: ["step": Step.second, "name": "2"], update: .modified)
      realm.create(Stair.self, value: ["step": NSNull(), "name": "-"], update: .modified)
    }
    #expect(realm.objects(Stair.self).map(\.name).sorted() == ["-", "2", "three"])
    #expect(realm.objects(Stair.self).where { $0.step == nil }.map(\.name) == ["-"])
  }

  @Test func customTypesOrNilNameObjects() throws {
    try instance.write {
      realm.create(Tin.self, value: ["grams": 1])
      realm.create(Tin.self, value: ["label": Label("peas"), "grams": 2])
      realm.create(Tin.self, value: ["label": NSNull(), "grams": 3])
    }
    #expect(tin(Label("new")) == 1)
    #expect(tin(Label("peas")) == 2)
    #expect(tin(nil) == 3)
    #expect(tin(Label("beans")) == nil)
    try instance.write {
      realm.create(Tin.self, value: ["label": "peas", "grams": 4], update: .all)
    }
    #expect(tin(Label("peas")) == 4)
    #expect(realm.objects(Tin.self).count == 3)
    let schema = try #require(realm.schema["Tin"]?.primaryKeyProperty)
    #expect(schema.name == "label")
    #expect(schema.isOptional)
  }
}
