import Foundation
import Tarn
import TestSupport
import Testing

private enum MeadowOld {
  final class Meadow: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var weight: Int
    @Persisted var height: Int
    @Persisted var name: String
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

private enum MeadowNew {
  final class Meadow: Object {
    @Persisted(primaryKey: true) var id: Int
    // The property before it is gone: this one stands there instead.
    @Persisted var height: Int
    @Persisted var name: String?
    @Persisted var colour: String
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

/// `tarn watch` while another process, which is this one, migrates the file.
@Suite struct WatchMigrationTests {
  private let folder = TemporaryFolder()

  private func open(_ type: ObjectBase.Type, _ version: UInt64) throws -> Realm {
    var configuration = Realm.Configuration(
      fileURL: folder.url("a.realm"), schemaVersion: version,
      migrationBlock: { migration, _ in
        migration.enumerateObjects(ofType: "Meadow") { old, new in
          let id = old?["id"] as? Int ?? 0
          new?["colour"] = id == 1 ? "green" : "grey"
          if id == 2, let new { migration.delete(new) }
        }
      })
    configuration.objectTypes = [type]
    return try Realm(configuration: configuration)
  }

  private func fill() throws {
    let realm = try open(MeadowOld.Meadow.self, 0)
    try realm.write {
      for id in 1...3 {
        realm.create(
          MeadowOld.Meadow.self,
          value: ["id": id, "weight": 10 * id, "height": 100 * id, "name": "m\(id)"])
      }
    }
  }

  @Test(arguments: [["Meadow"], []])
  func valuesHaveTheNamesThatTheirVersionGivesThem(_ what: [String]) throws {
    try fill()
    let watch = try ToolProcess(
      folder, ["watch", "a.realm"] + what + ["--json", "--exit-after", "2"])
    #expect(try watch.line()?.contains("\"initial\":[{\"id\":1,\"weight\":10,") == true)
    let realm = try open(MeadowNew.Meadow.self, 1)
    func position(_ index: Int) -> String { what.isEmpty ? "" : "\"index\":\(index)," }
    let line = try watch.line() ?? ""
    #expect(
      line.hasSuffix(
        """
        "class":"Meadow",\
        "deletions":[{\(position(1))"key":2,"old":{"id":2,"weight":20,"height":200,"name":"m2"}}],\
        "insertions":[],"modifications":[\
        {\(position(0))"key":1,"old":{"weight":10},"new":{"colour":"green"}},\
        {\(position(2))"key":3,"old":{"weight":30},"new":{"colour":"grey"}}]}
        """), "\(line)")
    try realm.write { realm.object(ofType: MeadowNew.Meadow.self, forPrimaryKey: 3)?.height = 7 }
    let next = try watch.line() ?? ""
    #expect(
      next.hasSuffix(
        "\"modifications\":[{\(position(1))\"key\":3,\"old\":{\"height\":300},"
          + "\"new\":{\"height\":7}}]}"), "\(next)")
    #expect(try watch.finish().status == 0)
  }

  @Test func aMigrationIsShownAsText() throws {
    try fill()
    let watch = try ToolProcess(
      folder, ["watch", "a.realm", "Meadow", "--rows", "0", "--exit-after", "1"])
    #expect(try watch.line()?.hasSuffix("Meadow  3 objects") == true)
    _ = try open(MeadowNew.Meadow.self, 1)
    #expect(try watch.line()?.hasSuffix("Meadow  -1 ~2  now 2 objects") == true)
    #expect(try watch.line() == "  - [1] 2  weight 20  height 200  name m2")
    #expect(try watch.line() == "  ~ [0] 1  colour – → green  weight 10 → –")
    #expect(try watch.line() == "  ~ [1] 3  colour – → grey  weight 30 → –")
    #expect(try watch.finish().status == 0)
  }

  @Test func aConditionOnWhatAMigrationRemovesEndsTheWatch() throws {
    try fill()
    let watch = try ToolProcess(
      folder, ["watch", "a.realm", "Meadow", "--json", "--where", "weight > 5"])
    #expect(try watch.line() != nil)
    _ = try open(MeadowNew.Meadow.self, 1)
    let done = try watch.finish()
    #expect(done.status == 1)
    #expect(done.errors.contains("the schema changed in version "))
    #expect(done.errors.contains("'weight'"))
  }
}
