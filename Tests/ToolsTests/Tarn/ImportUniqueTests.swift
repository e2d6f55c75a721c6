import Foundation
import TestSupport
import Testing

/// A line that breaks a unique rule is a bad line like others.
@Suite struct ImportUniqueTests {
  private let folder = TemporaryFolder()

  private func tarn(_ arguments: String..., input: String = "") throws -> ToolProcess.Result {
    try ToolProcess(folder, arguments, input: input).finish()
  }

  private func importLines(_ lines: [String], _ more: String...) throws -> ToolProcess.Result {
    let arguments = ["import", "a.tarn", "-", "-f", "jsonl", "-c", "A"] + more
    return try ToolProcess(
      folder, arguments, input: lines.map { $0 + "\n" }.joined()
    ).finish()
  }

  private func rows() throws -> [String] {
    try tarn("export", "a.tarn", "A", "--sort", "id").output.split(separator: "\n").map(String.init)
  }

  private func create() throws {
    let schema = """
      [{"class":"A","key":"id","columns":[{"name":"id","type":"int"},\
      {"name":"a","type":"string","optional":true},{"name":"b","type":"int"}],\
      "unique":[["a","b"]]}]
      """
    try #require(try tarn("create", "a.tarn", "--schema", "-", input: schema).status == 0)
    try #require(try importLines([#"{"id":1,"a":"x","b":1}"#]).status == 0)
  }

  private static let lines = [
    #"{"id":2,"a":"x","b":2}"#, #"{"id":3,"a":"x","b":1}"#, #"{"id":4,"a":null,"b":1}"#,
    #"{"id":5,"a":"x","b":2}"#, #"{"id":6,"b":1}"#, #"{"id":7,"a":"x","b":"y"}"#,
    #"{"id":5,"a":"y","b":2}"#,
  ]

  @Test(arguments: [["skip"], ["ignore"], ["skip", "--batch", "1"], ["skip", "--batch", "3"]])
  func `bad lines are left out, whatever is wrong`(_ options: [String]) throws {
    try create()
    let arguments = ["import", "a.tarn", "-", "-f", "jsonl", "-c", "A", "--on-error"] + options
    let done = try ToolProcess(
      folder, arguments, input: Self.lines.map { $0 + "\n" }.joined()
    ).finish()
    #expect(done.status == (options == ["ignore"] ? 0 : 1))
    #expect(done.output.hasPrefix("A: 4 added, 3 bad lines skipped, version "), "\(done)")
    #expect(
      done.errors.split(separator: "\n").sorted() == [
        "tarn: line 2: another A has the same 'a', 'b': x, 1",
        "tarn: line 4: another A has the same 'a', 'b': x, 2",
        "tarn: line 6: column 'b': \"y\" is not of type int",
      ])
    #expect(
      try rows() == [
        #"{"id":1,"a":"x","b":1}"#, #"{"id":2,"a":"x","b":2}"#, #"{"id":4,"a":null,"b":1}"#,
        #"{"id":5,"a":"y","b":2}"#, #"{"id":6,"a":null,"b":1}"#,
      ])
    #expect(try tarn("inspect", "a.tarn", "--check").status == 0)
  }

  @Test func `an import that refuses bad lines names the line`() throws {
    try create()
    let done = try importLines(Array(Self.lines.prefix(3)))
    #expect(
      done
        == .init(
          status: 1, output: "",
          errors: "tarn: line 2: another A has the same 'a', 'b': x, 1; nothing was imported\n"))
    #expect(try rows().count == 1)
  }

  @Test(arguments: [[], ["--on-error", "skip"]])
  func `objects may exchange their values`(_ options: [String]) throws {
    try create()
    try #require(try importLines([Self.lines[0]]).status == 0)
    let arguments = ["import", "a.tarn", "-", "-f", "jsonl", "-c", "A", "--update"] + options
    let done = try ToolProcess(
      folder, arguments, input: "{\"id\":1,\"b\":2}\n{\"id\":2,\"b\":1}\n"
    ).finish()
    #expect(
      done.output == "A: 0 added, 2 changed, 0 already the same, version 3\n", "\(done.errors)")
  }

  @Test func `an update that breaks a rule is left out`() throws {
    try create()
    try #require(try importLines([Self.lines[0], #"{"id":3,"a":"z","b":9}"#]).status == 0)
    // The second line takes the values that the first one frees.
    let done = try importLines(
      [#"{"id":3,"a":"w"}"#, #"{"id":2,"a":"z","b":9}"#, #"{"id":1,"a":"w","b":9}"#],
      "--update", "--on-error", "skip")
    #expect(
      done
        == .init(
          status: 1,
          output: "A: 0 added, 2 changed, 0 already the same, 1 bad line skipped, version 3\n",
          errors: "tarn: line 3: another A has the same 'a', 'b': w, 9\n"))
    #expect(try rows()[0] == #"{"id":1,"a":"x","b":1}"#)
    let refused = try importLines([#"{"id":1,"a":"w","b":9}"#], "--update")
    #expect(refused.errors.contains("two objects of class 'A' have the same 'a', 'b'"))
  }

  @Test func `a link to a later line that breaks a rule is left out`() throws {
    let schema = """
      [{"class":"A","key":"id","columns":[{"name":"id","type":"int"},\
      {"name":"to","type":"link","target":"A","optional":true}],"unique":[["to"]]}]
      """
    let made = try tarn("create", "a.tarn", "--schema", "-", input: schema)
    try #require(made.status == 0, "\(made.errors)")
    let done = try importLines(
      [#"{"id":1,"to":3}"#, #"{"id":2,"to":3}"#, #"{"id":3,"to":3}"#], "--on-error", "skip")
    #expect(done.status == 1)
    #expect(done.errors.contains("the link is left out"), "\(done.errors)")
    #expect(try tarn("count", "a.tarn", "A", "to != NULL").output == "1\n")
  }

  @Test func `a failed load names the lines`() throws {
    let dump = """
      {"dump":1,"schemaVersion":0,"classes":[{"class":"A","columns":[{"name":"a","type":"int"}],\
      "unique":[["a"]]}]}
      {"class":"A","objects":2}
      [0,{"a":1}]
      [1,{"a":1}]

      """
    let done = try tarn("load", "b", "-", input: dump)
    #expect(done.errors.hasPrefix("tarn: standard input, lines 2 to 4: two objects of class 'A'"))
  }
}
