import Foundation
import TestSupport
import Testing

/// Imports into a class whose properties the input lacks: nothing is invented unless `--defaults`
/// asks for it, and `--nullable` lets a property be null.
@Suite struct ImportMissingTests {
  private let folder = TemporaryFolder()

  private static let dogs = """
    {"id":1,"name":"Rex","age":7,"weight":1.5,"born":"2020-01-02T00:00:00Z","isGood":true,\
    "tags":["a"],"home":{"city":"Oslo","zip":1}}
    {"id":2,"name":"Bo","age":3,"weight":2.5,"born":"2021-01-02T00:00:00Z","isGood":false,\
    "tags":[],"home":{"city":"Bergen","zip":2}}

    """

  private func importLines(
    _ lines: String, _ more: [String] = [], format: String = "jsonl"
  ) throws -> ToolProcess.Result {
    let arguments = ["import", "a.realm", "-", "-f", format, "-c", "Dog"] + more
    return try ToolProcess(folder, arguments, input: lines).finish()
  }

  private func exported(_ filter: String) throws -> String {
    try ToolProcess.run(folder, "export", "a.realm", "Dog", filter).output
  }

  private func fill() throws {
    try #require(try importLines(Self.dogs, ["-k", "id"]).status == 0)
  }

  @Test(arguments: ["name", "age", "weight", "born", "isGood"])
  func aMissingColumnIsABadLine(_ column: String) throws {
    try fill()
    var object: [String: Any] = [
      "id": 3, "name": "Ada", "age": 1, "weight": 0.5, "born": "2022-01-01T00:00:00Z",
      "isGood": true,
    ]
    object[column] = nil
    let line = String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
    let done = try importLines("\n\(line)\n")
    #expect(done.status == 1)
    #expect(done.output == "")
    #expect(
      done.errors.hasPrefix(
        "tarn: line 2: column '\(column)' is missing, and class Dog does not allow null there "),
      "\(done.errors)")
    #expect(try exported("id == 3") == "")
  }

  @Test func aHeaderWithoutTheColumnMakesEachLineBad() throws {
    try fill()
    let done = try importLines("id,name\n3,Ada\n4,Tim\n", ["--on-error", "skip"], format: "csv")
    #expect(done.status == 1)
    #expect(done.output == "Dog: 0 added, 2 bad lines skipped, version 1\n")
    for line in [2, 3] {
      #expect(done.errors.contains("line \(line): column 'age' is missing"), "\(done.errors)")
    }
  }

  @Test func whatIsMissingInsideAnEmbeddedObjectIsABadLine() throws {
    try fill()
    let line = Self.dogs.split(separator: "\n")[0].replacing("\"id\":1", with: "\"id\":3")
      .replacing(",\"zip\":1", with: "")
    let done = try importLines(line + "\n")
    #expect(done.status == 1)
    #expect(done.errors.hasPrefix("tarn: line 1: column 'home.zip' is missing"), "\(done.errors)")
    let set = try ToolProcess.run(
      folder, "set", "a.realm", "Dog", "--where", "id == 1", "home={\"city\":\"Rome\"}")
    #expect(set.status == 1)
    #expect(set.errors.hasPrefix("tarn: column 'home.zip' is missing"), "\(set.errors)")
    #expect(try exported("home.city == 'Rome'") == "")
  }

  @Test func defaultsAreUsedWhereTheyAreAskedFor() throws {
    try fill()
    let done = try importLines("{\"id\":3,\"home\":{\"city\":\"Rome\"}}\n", ["--defaults"])
    #expect(done == .init(status: 0, output: "Dog: 1 added, version 2\n", errors: ""))
    #expect(
      try exported("id == 3") == """
        {"id":3,"name":"","age":0,"weight":0.0,"born":"1970-01-01T00:00:00Z","isGood":false,\
        "tags":[],"home":{"city":"Rome","zip":0}}

        """)
  }

  @Test func nullIsRefusedWithDefaultsToo() throws {
    try fill()
    let done = try importLines("{\"id\":3,\"age\":null}\n", ["--defaults"])
    #expect(done.status == 1)
    #expect(done.errors.hasPrefix("tarn: line 1: column 'age' cannot be null"), "\(done.errors)")
  }

  @Test func objectsThatAreThereKeepWhatALineLacks() throws {
    try fill()
    let done = try importLines("{\"id\":1,\"age\":8}\n{\"id\":3,\"age\":8}\n", ["--update"])
    #expect(done.status == 1)
    #expect(done.errors.hasPrefix("tarn: line 2: column 'name' is missing"), "\(done.errors)")
    let update = try importLines("{\"id\":1,\"age\":8}\n", ["--update"])
    #expect(update.output == "Dog: 0 added, 1 changed, 0 already the same, version 2\n")
  }

  @Test(arguments: [[], ["--on-error", "skip", "--batch", "1"]])
  func typesThatAreGivenDemandAValue(_ more: [String]) throws {
    let done = try importLines(
      "{\"id\":1}\n{\"id\":2,\"age\":1}\n", ["-k", "id", "-t", "age:int"] + more)
    #expect(done.status == 1)
    #expect(done.errors.hasPrefix("tarn: line 1: column 'age' is missing"), "\(done.errors)")
    if !more.isEmpty { #expect(try exported("TRUEPREDICATE") == "{\"id\":2,\"age\":1}\n") }
  }

  // MARK: - Widening

  @Test(arguments: [[], ["--on-error", "skip", "--batch", "1"]])
  func aColumnThatIsMadeNullableTakesNull(_ more: [String]) throws {
    try fill()
    let done = try importLines(
      "{\"id\":3,\"name\":\"Ada\",\"weight\":1,\"isGood\":true}\n"
        + "{\"id\":4,\"name\":\"Tim\",\"weight\":1,\"isGood\":true,\"age\":null}\n",
      ["--nullable", "age,born"] + more)
    #expect(done.status == 0, "\(done.errors)")
    #expect(
      try exported("id == 3") == """
        {"id":3,"name":"Ada","age":null,"weight":1.0,"born":null,"isGood":true,"tags":[],\
        "home":null}

        """)
    #expect(try exported("age == NULL").split(separator: "\n").count == 2)
    // What was there keeps its values, and the class its key.
    #expect(try exported("age == 7 AND born != NULL").hasPrefix("{\"id\":1,"))
    let check = try ToolProcess.run(folder, "inspect", "a.realm", "--check")
    #expect(check.status == 0)
    let again = try importLines("{\"id\":3,\"name\":\"x\",\"weight\":1,\"isGood\":true}\n")
    #expect(again.errors.contains("there is a Dog '3' already"))
  }

  @Test func wideningGoesBackWithAFailedImport() throws {
    try fill()
    let before = try exported("TRUEPREDICATE")
    let done = try importLines(
      "{\"id\":3,\"name\":\"Ada\",\"weight\":1,\"isGood\":true}\n", ["--nullable", "age"])
    #expect(done.status == 1)
    #expect(done.errors.hasPrefix("tarn: line 1: column 'born' is missing"), "\(done.errors)")
    #expect(try exported("TRUEPREDICATE") == before)
    let after = try ToolProcess.run(folder, "inspect", "a.realm")
    #expect(after.output.contains("Int\n"))
    #expect(!after.output.contains("Int?"))
  }

  @Test func aNewColumnCanBeNullableToo() throws {
    let done = try importLines(
      "{\"id\":1,\"age\":5}\n", ["-k", "id", "--nullable", "Dog.age"])
    #expect(done.status == 0)
    #expect(try importLines("{\"id\":2}\n").status == 0)
    #expect(try exported("id == 2") == "{\"id\":2,\"age\":null}\n")
  }

  @Test(
    arguments: [
      ("id", "'id' is the primary key, which cannot be null"),
      ("tags", "'tags' is a list, which cannot be null"),
      ("nothing", "no class of this import has a column 'nothing'"),
      ("Dog.nothing", "no class of this import has a column 'nothing'"),
    ])
  func whatCannotBeNullIsRefused(_ column: String, _ reason: String) throws {
    try fill()
    let done = try importLines(Self.dogs, ["--nullable", column])
    #expect(done.status == 1)
    #expect(done.errors == "tarn: --nullable \(column): \(reason)\n")
  }
}
