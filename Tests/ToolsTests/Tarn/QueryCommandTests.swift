import Foundation
import TestSupport
import Testing

/// `tarn query` and `tarn count`, and what `tarn watch` shows of a class with many columns.
@Suite struct QueryCommandTests {
  private let folder = TemporaryFolder()

  init() throws {
    let lines = """
      {"id":1,"name":"Rex","age":7,"note":"a dog that likes to sleep in the sun all day long"}
      {"id":2,"name":"Bo","age":3,"note":"b"}
      {"id":3,"name":"Ada","age":9,"note":"c"}

      """
    let done = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", "jsonl", "-c", "Dog", "-k", "id", input: lines)
    try #require(done.status == 0)
  }

  private func tarn(_ arguments: String..., columns: Int = 80) throws -> ToolProcess.Result {
    try ToolProcess(folder, arguments, environment: ["COLUMNS": "\(columns)"]).finish()
  }

  @Test func aQueryShowsATable() throws {
    let done = try tarn("query", "a.realm", "Dog", "--where", "age > 5", "--sort", "name")
    #expect(
      done.output == """
        id  name  age  note
         3  Ada     9  c
         1  Rex     7  a dog that likes to sleep in the sun al…

        """)
    #expect(done.status == 0)
    let none = try tarn("query", "a.realm", "Dog", "--where", "age > 50")
    #expect(none.output == "id  name  age  note\n")
  }

  @Test func aQueryHasTheColumnsAndTheRowsThatAreAskedFor() throws {
    let table = try tarn(
      "query", "a.realm", "Dog", "--columns", "age,name", "--sort", "age:desc", "--limit", "2")
    #expect(table.output == "age  name\n  9  Ada\n  7  Rex\n")
    let json = try tarn("query", "a.realm", "Dog", "-n", "1", "--columns=name,id", "--json")
    #expect(json.output == "{\"name\":\"Rex\",\"id\":1}\n")
    let csv = try tarn("query", "a.realm", "Dog", "--sort", "id:desc", "--limit", "1", "--csv")
    #expect(csv.output == "id,name,age,note\n3,Ada,9,c\n")
    let last = try tarn(
      "query", "a.realm", "Dog", "--sort", "id", "--offset", "1", "--columns", "id", "--table")
    #expect(last.output == "id\n 2\n 3\n")
    let one = try tarn(
      "query", "a.realm", "Dog", "--sort", "id", "--offset=1", "--limit=1", "--json",
      "--columns=id")
    #expect(one.output == "{\"id\":2}\n")
    let empty = try tarn("query", "a.realm", "Dog", "--limit", "0", "--json")
    #expect(empty == .init(status: 0, output: "", errors: ""))
  }

  @Test(arguments: ["--where", "--sort", "--group"])
  func aKeyPathThatIsTooLongIsRefused(_ option: String) throws {
    let path = String(repeating: "next.", count: 20_000) + "age"
    let text = option == "--where" ? "\(path) == 1" : path
    let done = try tarn("query", "a.realm", "Dog", option, text)
    #expect(done.status == 1)
    #expect(done.output == "")
    #expect(
      done.errors.hasSuffix("a key path may have at most 256 names, and this one has 20001\n"),
      "\(done.errors.prefix(300))")
  }

  @Test func textIsSortedAsALanguageHasIt() throws {
    let names = ["Ärla", "zebra", "Apa", "apa", "Zebra", "fil10", "fil9"]
    let lines = names.map { "{\"name\":\"\($0)\",\"age\":1}\n" }.joined()
    let done = try ToolProcess.run(
      folder, "import", "b.realm", "-", "-f", "jsonl", "-c", "Word", input: lines)
    try #require(done.status == 0, "\(done.errors)")
    func sorted(_ keys: String) throws -> [Substring] {
      let done = try tarn(
        "query", "b.realm", "Word", "--sort", keys, "--columns", "name", "--csv")
      try #require(done.status == 0, "\(done.errors)")
      return done.output.split(separator: "\n").dropFirst().map { $0 }
    }
    #expect(
      try sorted("name") == ["Apa", "Zebra", "apa", "fil10", "fil9", "zebra", "Ärla"])
    #expect(
      try sorted("name:sv") == ["apa", "Apa", "fil10", "fil9", "zebra", "Zebra", "Ärla"])
    #expect(
      try sorted("age,name:de-DE:desc:numeric")
        == ["Zebra", "zebra", "fil10", "fil9", "Ärla", "Apa", "apa"])
    #expect(
      try sorted("name:nocase") == ["Apa", "apa", "fil10", "fil9", "Zebra", "zebra", "Ärla"])
    for wrong in ["name:", "name:zz", "name:sv:de", "name:asc:desc", ":sv", "name:nocase:nocase"] {
      let refused = try tarn("query", "b.realm", "Word", "--sort", wrong)
      #expect(refused.status == 2, "\(refused)")
      #expect(refused.errors.contains("not '\(wrong)'"), "\(refused)")
    }
    let number = try tarn("query", "b.realm", "Word", "--sort", "age:sv")
    #expect(number.status != 0, "\(number)")
    #expect(number.errors.contains("only strings have one"), "\(number)")
  }

  @Test func groupsHaveALineEach() throws {
    let more = """
      {"id":4,"name":"Bo","age":10,"note":"a"}
      {"id":5,"name":"Bo","age":5,"note":"b"}

      """
    let done = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", "jsonl", "-c", "Dog", input: more)
    try #require(done.status == 0)
    let table = try tarn(
      "query", "a.realm", "Dog", "--group", "name", "--aggregates", "count,max:age,avg:age")
    #expect(
      table.output == """
        name  count  max:age  avg:age
        Ada       1        9      9.0
        Bo        3       10      6.0
        Rex       1        7      7.0

        """)
    let json = try tarn(
      "query", "a.realm", "Dog", "-g", "note", "-a", "sum:age", "-a", "count", "--json", "-n", "2",
      "-w", "id > 1")
    #expect(
      json.output == """
        {"note":"a","sum:age":10,"count":1}
        {"note":"b","sum:age":8,"count":2}

        """)
    let all = try tarn("query", "a.realm", "Dog", "--aggregates", "count,min:id", "--csv")
    #expect(all.output == "count,min:id\n5,1\n")
    let none = try tarn("query", "a.realm", "Dog", "-g", "id", "--where", "age > 99", "--csv")
    #expect(none.output == "id,count\n")
  }

  @Test func aCountIsANumber() throws {
    #expect(try tarn("count", "a.realm", "Dog").output == "3\n")
    #expect(try tarn("count", "a.realm", "Dog", "--where", "age < 8").output == "2\n")
    #expect(try tarn("count", "a.realm", "Dog", "-w", "name == 'x'").output == "0\n")
    #expect(try tarn("count", "a.realm", "Dog", "age < 8").output == "2\n")
  }

  @Test(
    arguments: [
      (["query", "a.realm", "Cat"], 1, "no class 'Cat' in a.realm; it has: Dog"),
      (["query", "a.realm", "Dog", "--columns", "id,size"], 1, "class Dog has no column 'size'"),
      (["query", "a.realm", "Dog", "--json", "--csv"], 2, "cannot be combined"),
      (["query", "a.realm", "Dog", "--table", "--csv"], 2, "cannot be combined"),
      (["query", "a.realm", "Dog", "--offset", "-1"], 2, "Try 'tarn query --help'"),
      (["watch", "a.realm", "--limit", "2"], 2, "--limit needs a CLASS"),
      (["query", "a.realm", "Dog", "--limit", "-1"], 2, "Try 'tarn query --help'"),
      (["query", "a.realm", "Dog", "--columns", ","], 2, "needs at least one column"),
      (["query", "a.realm", "Dog", "-g", "size"], 1, "class 'Dog' has no property 'size'"),
      (
        ["query", "a.realm", "Dog", "-g", "name", "-a", "sum:note"], 1, "no minimum, maximum or sum"
      ),
      (["query", "a.realm", "Dog", "-g", "name", "-a", "mean:age"], 2, "not 'mean:age'"),
      (["query", "a.realm", "Dog", "-g", "name", "-s", "age"], 2, "--sort does not go with"),
      (["count", "a.realm", "Dog", "--where", "age >"], 2, "Try 'tarn count --help'"),
      (["count", "a.realm", "Dog", "age >"], 2, "FILTER: character 6: expected a property"),
      (["count", "a.realm", "Dog", "age > 1", "-w", "age > 1"], 2, "FILTER and --where are"),
      (
        ["query", "a.realm", "Dog", "age > 1 && nam == ''"], 1,
        "FILTER: character 12: class 'Dog' has no property 'nam': the nearest name is 'name'"
      ),
      (["delete", "a.realm", "Dog", "-w", "nam == ''"], 1, "--where: character 1: class 'Dog'"),
      (["delete", "a.realm", "Dog", "age > 1", "--all"], 2, "unexpected argument"),
      (["count", "none.realm", "Dog"], 1, "there is no such file"),
      (["watch", "a.realm", "--columns", "id"], 2, "--columns needs a CLASS"),
      (["watch", "a.realm", "--frob"], 2, "Try 'tarn watch --help'"),
      (["frob"], 2, "Try 'tarn --help'"),
    ] as [([String], Int32, String)])
  func whatCannotBeDoneIsSaid(_ arguments: [String], _ status: Int32, _ message: String) throws {
    let done = try ToolProcess(folder, arguments).finish()
    #expect(done.status == status)
    #expect(done.errors.contains(message), "\(done.errors)")
    #expect(done.output.isEmpty)
  }

  // MARK: - Width

  private func widen() throws {
    let names = (1...12).map { "column\($0)" }
    let line = "{\"id\":1," + names.map { "\"\($0)\":\"value of \($0)\"" }.joined(separator: ",")
    let done = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", "jsonl", "-c", "Wide", "-k", "id", input: line + "}")
    try #require(done.status == 0)
  }

  /// Without what colours it.
  private func plain(_ text: String) -> [String] {
    text.replacingOccurrences(
      of: "\u{1b}\\[[0-9;]*m", with: "", options: .regularExpression
    ).split(separator: "\n").map(String.init)
  }

  @Test func aTerminalGetsTheColumnsThatFitIt() throws {
    try widen()
    let narrow = try plain(
      tarn("query", "a.realm", "Wide", "--color", "always", columns: 60).output)
    try #require(narrow.count == 3)
    #expect(narrow[0].hasPrefix("id  column1 "))
    #expect(narrow[0].hasSuffix("…"))
    #expect(narrow[1].hasSuffix("…"))
    #expect(narrow[2].hasPrefix("… columns not shown (--columns): column"))
    #expect(narrow.allSatisfy { $0.count <= 60 })
    let wide = try plain(
      tarn("query", "a.realm", "Wide", "--color", "always", columns: 300).output)
    try #require(wide.count == 2)
    #expect(wide[0].hasSuffix("  column12"))
    // A pipe has no width.
    #expect(try tarn("query", "a.realm", "Wide").output == wide.joined(separator: "\n") + "\n")
  }

  @Test func aWatchShowsTheColumnsThatFit() throws {
    try widen()
    func watch(_ columns: Int, _ more: String...) throws -> [String] {
      let watch = try ToolProcess(
        folder, ["watch", "a.realm", "Wide", "--color", "always", "--exit-after", "1"] + more,
        environment: ["COLUMNS": "\(columns)"])
      var lines = [try watch.line() ?? "", try watch.line() ?? "", try watch.line() ?? ""]
      let set = try ToolProcess.run(
        folder, "set", "a.realm", "Wide", "--all", "column1=\(columns)", "column9=x")
      #expect(set.status == 0)
      lines += try watch.finish().output.split(separator: "\n").map(String.init)
      return lines.flatMap(plain)
    }
    let wide = try watch(300)
    #expect(wide[1].hasSuffix("  column12"))
    #expect(wide[2].hasSuffix("  value of column12"))
    #expect(wide[4] == "  ~ [0] 1  column1 value of column1 → 300  column9 value of column9 → x")
    let narrow = try watch(50)
    #expect(narrow[1].hasSuffix("…"))
    #expect(narrow[3].hasPrefix("  … columns not shown (--columns): column"))
    #expect(narrow.allSatisfy { $0.count <= 50 })
    let chosen = try watch(51, "--columns", "column9,column1")
    #expect(chosen[1] == "   column9  column1")
    #expect(chosen[2] == "0  x        50")
    #expect(chosen[4] == "  ~ [0] 1  column1 50 → 51")
  }

  /// What names the objects is a column like any other where columns are asked for.
  @Test func aWatchShowsTheColumnsThatWereAskedForAndNoOther() throws {
    func first(_ columns: String) throws -> [String] {
      let watch = try ToolProcess(folder, ["watch", "a.realm", "Dog", "--columns", columns])
      _ = try watch.line()
      return [try watch.line() ?? "", try watch.line() ?? ""]
    }
    #expect(try first("name") == ["   name", "0  Rex"])
    #expect(try first("age,id") == ["   age  id", "0    7   1"])
    // It follows once it has shown the first state.
    let watch = try ToolProcess(
      folder, ["watch", "a.realm", "Dog", "--columns", "name", "--exit-after", "1"])
    _ = try watch.line()
    #expect(try tarn("delete", "a.realm", "Dog", "--where", "id == 1").status == 0)
    #expect(try watch.finish().output.hasSuffix("\n  - [0] 1  name Rex\n"))
  }

  @Test func aWatchOfSomeColumnsPassesOverTheOthers() throws {
    let watch = try ToolProcess(
      folder, ["watch", "a.realm", "Dog", "--json", "--columns", "age", "--exit-after", "1"])
    #expect(
      try watch.line() == """
        {"version":1,"class":"Dog","initial":[{"age":7},{"age":3},{"age":9}],"keys":[1,2,3]}
        """)
    #expect(try tarn("set", "a.realm", "Dog", "--where", "id == 1", "name=Max").status == 0)
    #expect(
      try tarn("set", "a.realm", "Dog", "--where", "id == 2", "name=Leo", "age=4").status == 0)
    #expect(
      try watch.finish().output == """
        {"version":3,"class":"Dog","deletions":[],"insertions":[],"modifications":[\
        {"index":1,"key":2,"old":{"age":3},"new":{"age":4}}]}

        """)
  }

  @Test func aWatchCanBeginWithTheFirstDifference() throws {
    let watch = try ToolProcess(
      folder, ["watch", "a.realm", "Dog", "--no-initial", "--exit-after", "1"])
    // It says nothing when it has begun: commits come until it has seen one.
    var age = 10
    while !watch.hasOutput(within: 100) {
      age += 1
      #expect(try tarn("set", "a.realm", "Dog", "--where", "id == 1", "age=\(age)").status == 0)
    }
    let lines = try watch.finish().output.split(separator: "\n")
    try #require(lines.count == 2)
    #expect(lines[0].hasSuffix("  Dog  ~1  now 3 objects"))
    #expect(lines[1].hasPrefix("  ~ [0] 1  age "))
  }
}
