import Foundation
import TarnStore
import Testing

@testable import Tarn

private class ModelPrivate: Object {
  @Persisted var value: Int
}
enum ModelNamespace {
  class ModelNested: Object {
    @Persisted var value: Int
  }
  class ModelHidden: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}
class ModelGeneric<T: PersistableEnum>: Object {
  @Persisted var value: T
}
class ModelConcrete: ModelGeneric<ModelMood> {}

private class ModelTwoKeys: Object {
  @Persisted(primaryKey: true) var a: Int
  @Persisted(primaryKey: true) var b: Int
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class ModelNamedKey: Object {
  @Persisted var code: String
  @Persisted var skipped: Int
  override class func primaryKey() -> String? { "code" }
  override class func ignoredProperties() -> [String] { ["skipped"] }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class ModelWrongKey: Object {
  @Persisted var code: Double
  override class func primaryKey() -> String? { "code" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class ModelWrongName: Object {
  override class func indexedProperties() -> [String] { ["nothing"] }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class ModelWrongOrigin: Object {
  @Persisted(originProperty: "mother") var dogs: LinkingObjects<ModelDog>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private enum ModelTwin {
  class ModelDog: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

@Suite struct ModelSchemaTests {
  private func column(_ name: String, of type: ObjectBase.Type = ModelEverything.self) throws
    -> ClassDefinition.Property
  {
    let model = try definition(of: type)
    return try #require(model.properties.first { $0.name == name })
  }

  @Test(arguments: [
    ("_id", ColumnType.objectID, false), ("int", .int, false), ("int8", .int, false),
    ("int64", .int, false), ("bool", .bool, false), ("float", .float, false),
    ("double", .double, false), ("string", .string, false), ("data", .data, false),
    ("date", .date, false), ("uuid", .uuid, false), ("decimal", .decimal, false),
    ("mood", .string, false),
    ("size", .int, false), ("grade", .double, false), ("optionalInt8", .int, true),
    ("optionalString", .string, true), ("optionalDecimal", .decimal, true),
    ("optionalMood", .string, true), ("link", .link, true),
  ])
  func columnsFollowThePropertiesTypes(_ name: String, _ type: ColumnType, _ optional: Bool)
    throws
  {
    let column = try column(name)
    #expect(column.type == type)
    #expect(column.isOptional == optional)
    #expect(column.target == (type == .link ? "ModelEverything" : nil))
  }

  @Test func columnsAreInTheOrderOfDeclarationWithoutOrdinaryOnes() throws {
    let model = try definition(of: ModelEverything.self)
    #expect(model.properties.count == 30)
    #expect(model.properties.filter(\.isPrimaryKey).map(\.name) == ["_id"])
    #expect(model.properties.prefix(3).map(\.name) == ["_id", "int", "int8"])
    #expect(!model.properties.contains { $0.name == "linking" || $0.name == "ordinary" })
    let puppy = ClassReflection.of(ModelPuppy.self).properties.map(\.name)
    #expect(puppy.first == "_id")
    #expect(puppy.last == "weeks")
  }

  @Test func indexesAreOverMarkedPropertiesKeysAndLinks() throws {
    #expect(try column("int64").isIndexed)
    #expect(try column("string").isIndexed)
    #expect(try column("_id").isIndexed)
    #expect(try column("link").isIndexed)
    #expect(try !column("int").isIndexed)
    // An integer key is the object key and needs none.
    #expect(try !column("_id", of: ModelDog.self).isIndexed)
  }

  @Test func classesSayTheirOwnKeysColumnsAndOmissions() throws {
    let named = try definition(of: ModelNamedKey.self)
    #expect(named.properties.map(\.name) == ["code"])
    #expect(named.properties.map(\.isPrimaryKey) == [true])
    #expect(ModelNamedKey.primaryKey() == "code")
    #expect(ModelDog.primaryKey() == "_id")
    #expect(ModelToy.primaryKey() == nil)
    let toys = try definition(of: ModelToy.self)
    #expect(toys.properties.map(\.name) == ["colour", "price"])
  }

  @Test func contradictionsAreNamed() {
    func problem(_ types: ObjectBase.Type...) -> String {
      do {
        for type in types { _ = try ClassReflection(type) }
        _ = try ModelSchema(types)
        return ""
      } catch { return "\(error)" }
    }
    #expect(problem(ModelTwoKeys.self).contains("'ModelTwoKeys' has more than one primary key"))
    #expect(problem(ModelTwoKeys.self).contains("'a', 'b'"))
    #expect(problem(ModelWrongKey.self).contains("'ModelWrongKey.code' cannot be a primary key"))
    #expect(problem(ModelWrongName.self).contains("'nothing'"))
    #expect(problem(ModelDog.self).contains("class 'ModelToy', which is not in the schema"))
    #expect(problem(ModelWrongOrigin.self, ModelDog.self, ModelToy.self).contains("no link to"))
    let twins = problem(ModelDog.self, ModelToy.self, ModelTwin.ModelDog.self)
    #expect(twins.contains("Two model classes are called 'ModelDog'"))
  }

  @Test func allContradictionsAreNamedAtOnce() {
    let error = #expect(throws: ModelError.self) {
      try ModelSchema([ModelTwoKeys.self, ModelWrongKey.self, ModelDog.self, ModelWrongName.self])
    }
    let text = error?.description ?? ""
    #expect(text.hasPrefix("4 problems in the model classes:\n- "))
    for part in ["'ModelTwoKeys'", "'ModelWrongKey.code'", "'nothing'", "class 'ModelToy'"] {
      #expect(text.contains(part), "\(text)")
    }
  }

  @Test func aModelIsDescribedOnce() {
    let types: [ObjectBase.Type] = [ModelDog.self, ModelToy.self]
    #expect(ModelSchema.of(types) === ModelSchema.of(types))
    #expect(ModelSchema.of(types) !== ModelSchema.of([ModelToy.self, ModelDog.self]))
    #expect(ModelSchema.of(types)["ModelToy"]?.name == "ModelToy")
  }

  @Test func discoveryFindsEveryConcreteClass() {
    class ModelLocal: Object {
      @Persisted var value: Int
    }
    let found = Set(ModelSchema.discoverClasses().map { ObjectIdentifier($0) })
    let expected: [ObjectBase.Type] = [
      ModelDog.self, ModelPuppy.self, ModelToy.self, ModelPrivate.self, ModelLocal.self,
      ModelNamespace.ModelNested.self, ModelConcrete.self,
    ]
    for type in expected { #expect(found.contains(ObjectIdentifier(type)), "\(type)") }
    #expect(!found.contains(ObjectIdentifier(Object.self)))
    #expect(!found.contains(ObjectIdentifier(ModelNamespace.ModelHidden.self)))
    #expect(ModelLocal.className() == "ModelLocal")
    #expect(ModelPrivate.className() == "ModelPrivate")
  }
}
