import Foundation
import Tarn
import TestSupport
import Testing

@testable import TarnStore

private enum Kennel {
  final class Dog: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

/// `tarn alter`.
@Suite struct AlterToolTests {
  private let folder = TemporaryFolder()

  private func tarn(_ arguments: String..., input: String = "") throws -> ToolProcess.Result {
    try ToolProcess(folder, arguments, input: input).finish()
  }

  private func makeFile(_ lines: String, _ more: String...) throws {
    let arguments = ["import", "a.tarn", "-", "-c", "Dog", "-f", "jsonl", "-k", "id"] + more
    let result = try ToolProcess(folder, arguments, input: lines).finish()
    #expect(result.status == 0, "\(result.errors)")
  }

  private static let dogs = """
    {"id":1,"name":"Rex","age":3,"sizes":[1,2],"fast":true}
    {"id":2,"name":"Ann","age":4,"sizes":[],"fast":false}

    """

  private func expectSound() throws {
    let check = try tarn("inspect", "a.tarn", "--check")
    #expect(check.status == 0, "\(check.output)")
  }

  @Test func `one command makes all changes in one commit`() throws {
    try makeFile(Self.dogs)
    let altered = try tarn(
      "alter", "a.tarn", "Dog", "--add", "weight:double?,`x,y`:int,friend:Dog", "--rename",
      "name=title", "--drop", "fast", "--type", "age:double,sizes:list<decimal>", "--nullable",
      "name", "--index", "name")
    #expect(
      altered
        == .init(
          status: 0,
          output: """
            ~ name → title
            ~ title: String → String?
            ~ title: indexed
            ~ age: Int → Double
            ~ sizes: List<Int> → List<Decimal128>
            + weight: Double?
            + x,y: Int
            + friend: Dog?
            - fast: Bool
            changed Dog, version 2

            """, errors: ""))
    #expect(
      try tarn("export", "a.tarn", "Dog").output == """
        {"id":1,"age":3.0,"sizes":["1","2"],"title":"Rex","weight":null,"x,y":0,"friend":null}
        {"id":2,"age":4.0,"sizes":[],"title":"Ann","weight":null,"x,y":0,"friend":null}

        """)
    #expect(try tarn("count", "a.tarn", "Dog", "title == 'Ann'").output == "1\n")
    try expectSound()
    // As its help does.
    let renamed = try tarn(
      "alter", "a.tarn", "Dog", "--rename", "title=name", "--index", "name", "--nullable", "title")
    #expect(renamed.output == "~ title → name\nchanged Dog, version 3\n")
    let chained = try tarn("alter", "a.tarn", "Dog", "--rename", "name=title,title=call")
    #expect(chained.errors.contains("class Dog has no property 'title'"))
    _ = try tarn("alter", "a.tarn", "Dog", "--rename", "name=title")
    let same = try tarn("alter", "a.tarn", "Dog", "--nullable", "title", "--no-index", "age")
    #expect(same.output == "nothing to change in Dog, version 4\n")
  }

  @Test(arguments: [
    ("name:int", "Dog 1: 'name' has Rex, which int does not hold; nothing was changed"),
    ("big:double", "Dog 1: 'big' has 9007199254740993, which double does not hold"),
    ("half:int", "Dog 1: 'half' has 0.5, which int does not hold"),
    ("mixed:int", "Dog 1: 'mixed' has a list, which int does not hold"),
  ])
  func `a value that the new type does not hold stops the change`(
    _ edit: String, _ error: String
  ) throws {
    let line = "{\"id\":1,\"name\":\"Rex\",\"big\":9007199254740993,\"half\":0.5,\"mixed\":[1]}\n"
    try makeFile(line, "-t", "mixed:any")
    let before = try tarn("dump", "a.tarn")
    let result = try tarn("alter", "a.tarn", "Dog", "--add", "more:int", "--type", edit)
    #expect(result.status == 1)
    #expect(result.errors.contains(error), "\(result.errors)")
    #expect(try tarn("dump", "a.tarn") == before)
  }

  @Test(arguments: [
    (["--add", "name:int"], 1, "class Dog has a property 'name' already"),
    (["--add", "size:huge!"], 2, "--add: there is no type 'huge!'"),
    (["--drop", "nam"], 1, "class Dog has no property 'nam'"),
    (["--drop", "id,name,age,sizes,fast"], 1, "class Dog would have no property left"),
    (["--rename", "name=age"], 1, "class Dog has a property 'age' already"),
    (["--rename", "name"], 2, "--rename takes OLD=NEW, not 'name'"),
    (["--rename", "name=a,age=a"], 2, "--add: a column is given twice"),
    (["--drop", "name", "--index", "name"], 2, "'name' is to be dropped and changed"),
    (["--nullable", "id"], 1, "'id' is the primary key, which cannot be null"),
    (["--nullable", "sizes"], 1, "'sizes' is a list, which cannot be null"),
    (["--index", "sizes"], 1, "'sizes' cannot have an index"),
    (["--type", "sizes:int"], 1, "'sizes' is a list, and stays one"),
    (["--type", "name:Dog"], 1, "links cannot be made of values"),
    (["--index", "name", "--type", "name:double"], 1, "'name' cannot have an index"),
    (["--add", "toy:Toy"], 1, "neither in the file"),
    ([], 2, "'alter' needs one of --add, --type"),
  ])
  func `what cannot be changed is said`(
    _ options: [String], _ status: Int32, _ error: String
  ) throws {
    try makeFile(Self.dogs)
    let before = try tarn("schema", "a.tarn")
    let result = try ToolProcess(folder, ["alter", "a.tarn", "Dog"] + options).finish()
    #expect(result.status == status)
    #expect(result.errors.contains(error), "\(result.errors)")
    #expect(try tarn("schema", "a.tarn") == before)
  }

  @Test func `a unique rule goes with its property`() throws {
    let schema = """
      [{"class":"Dog","columns":[{"name":"a","type":"int"},{"name":"b","type":"int"}],\
      "unique":[["a","b"],["b"]]}]
      """
    #expect(try tarn("create", "a.tarn", "--schema", "-", input: schema).status == 0)
    let result = try tarn("alter", "a.tarn", "Dog", "--drop", "a", "--rename", "b=c")
    #expect(result.output == "~ b → c\n- a: Int\n- unique: a, b\nchanged Dog, version 1\n")
    #expect(try tarn("schema", "a.tarn").output == "Dog\n  c: Int\n  unique: c\n")
  }

  /// All columns get other names, then theirs again.
  @Test(arguments: Seeds.of([1, 2, 3, 4]))
  func `renaming there and back changes nothing`(_ seed: UInt64) throws {
    var options = Store.Options()
    options.isDurable = false
    options.classes = EveryType.randomClasses(seed: seed)
    let store = try StoreRegistry.open(folder.file("a.tarn"), options)
    try store.write { session in
      var every = try EveryType(seed: seed, session)
      for described in session.schema.schema.classes.dropFirst(3) {
        for id in 0..<6 { try every.addRandom(to: described, id: id) }
      }
    }
    let before = try tarn("dump", "a.tarn")
    let schema = try store.newestSnapshot().schema.schema
    for described in schema.classes where !described.columns.isEmpty {
      let names = described.columns.map { "`\($0.name.replacing("`", with: "``"))`" }
      for (from, to) in [("", "2"), ("2", "")] {
        let words = names.map { name in
          [from, to].map { "\(name.dropLast())\($0)`" }.joined(separator: "=")
        }
        let result = try tarn(
          "alter", "a.tarn", described.name, "--rename", words.joined(separator: ","))
        #expect(result.status == 0, "\(result.errors)")
      }
    }
    #expect(try tarn("dump", "a.tarn").output == before.output)
    try expectSound()
  }

  /// What the article says of programs that have the file open.
  @Test func `a program goes on if its classes still fit`() throws {
    try makeFile("{\"id\":1,\"name\":\"Rex\"}\n")
    let configuration = Realm.Configuration(
      fileURL: folder.url("a.tarn"), objectTypes: [Kennel.Dog.self])
    let realm = try Realm(configuration: configuration)
    let dog = try #require(realm.object(ofType: Kennel.Dog.self, forPrimaryKey: 1))
    #expect(try tarn("alter", "a.tarn", "Dog", "--add", "age:int").status == 0)
    try realm.write { dog.name = "Max" }
    #expect(try tarn("alter", "a.tarn", "Dog", "--type", "name:any").status == 0)
    #expect(throws: Realm.Error.self) { try realm.write { dog.name = "Moe" } }
    #expect(dog.name == "Max")
    let raised = try tarn("alter", "a.tarn", "Dog", "--schema-version", "4")
    #expect(raised.output == "~ schema version: 0 → 4\nchanged Dog, version 5\n")
    let lowered = try tarn("alter", "a.tarn", "Dog", "--schema-version", "3")
    #expect(lowered.errors == "tarn: a.tarn has the schema version 4, which is not lowered\n")
    #expect(try tarn("dump", "a.tarn").output.hasPrefix("{\"dump\":1,\"schemaVersion\":4,"))
  }
}
