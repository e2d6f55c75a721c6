import TestSupport
import Testing

@testable import Tarn

private class `raw class`: Object {
  @Persisted(primaryKey: true) var _id: Int
  @Persisted var `a.b`: String
  @Persisted var `say "hi"`: Int
  @Persisted var `class`: Int
  @Persisted var _private: Int

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class RawProjection: Projection<`raw class`> {
  @Projected(\`raw class`.`a.b`) var `a b`
}

/// Declarations whose names are no words of Swift.
@Suite struct RawIdentifierTests {
  @Test func `names have neither backticks nor the underscore of the wrapper`() throws {
    let reflection = ClassReflection.of(`raw class`.self)
    #expect(reflection.name == "raw class")
    #expect(
      reflection.properties.map(\.columnName) == ["_id", "a.b", "say \"hi\"", "class", "_private"])
    let object = `raw class`()
    object[#"say "hi""#] = 3
    #expect(object.`say "hi"` == 3)
  }

  @Test func `a file has them, and a program finds them by these names`() throws {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: #function, objectTypes: [`raw class`.self]), queue: nil)
    try realm.write { realm.create(`raw class`.self, value: ["_id": 1, "a.b": "x", "class": 2]) }
    #expect(realm.dynamicObjects("raw class").first?["a.b"] as? String == "x")
    #expect(realm.objects(`raw class`.self).where { $0.`a.b` == "x" }.count == 1)
    let projected = realm.objects(RawProjection.self)
    #expect(projected.first?.`a b` == "x")
  }
}
