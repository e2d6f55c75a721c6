import Foundation
import TestSupport
import Testing

/// Two values for one name are an error wherever names have values: nothing is left out silently.
@Suite struct RepeatedNameTests {
  private let folder = TemporaryFolder()

  private static let composed = "\u{e9}"
  private static let decomposed = "e\u{301}"

  private func load(
    _ input: String, _ more: [String] = [], format: String = "jsonl"
  ) throws -> ToolProcess.Result {
    let arguments = ["import", "a.realm", "-", "-f", format, "-c", "A"] + more
    return try ToolProcess(folder, arguments, input: input).finish()
  }

  @Test(
    arguments: [
      (#"{"id":1,"total":5,"total":9}"#, [], "line 1: the name 'total' is given twice"),
      (#"[{"id":1},\#n{"m":{"x":[{"a":1,"a":1}]}}]"#, [], "line 2: the name 'a' is given twice"),
      (#"{"m":{"a":1,"a":2}}"#, ["-t", "m:map<int>"], "the name 'a' is given twice"),
      (#"{"m":{"a":1,"a":2}}"#, ["-t", "m:any"], "the name 'a' is given twice"),
      (
        #"{"items":[{"a":1}],"items":[{"a":2}]}"#, ["--records", "items"], "'items' is given twice"
      ),
      (
        "{\"\(composed)\":1,\"\(decomposed)\":2}", [],
        "line 1: the name '\(decomposed)' is given twice, in two spellings"
      ),
      (
        "{\"m\":{\"\(composed)\":1,\"\(decomposed)\":2}}", [],
        "line 1: column 'm': the name '\(decomposed)' is given twice, in two spellings"
      ),
      (
        #"{"v":{"$type":"decimal","value":"1","x":1}}"#, ["-t", "v:any"],
        "line 1: column 'v': {\"$type\":\"decimal\",\"value\":\"1\",\"x\":1} "
          + "has the unknown member 'x'"
      ),
      (#"{"a":1}"#, ["-t", "a:int,a:string"], "--types gives 'a' twice"),
    ] as [(String, [String], String)])
  func `a name with two values is an error`(
    _ input: String, _ more: [String], _ expected: String
  ) throws {
    let done = try load(input + "\n", more)
    #expect(done.status != 0)
    #expect(done.errors.contains(expected), "\(done.errors)")
    #expect(folder.names.isEmpty)
  }

  @Test func `a map keeps two spellings of a key`() throws {
    let line = "{\"m\":{\"\(Self.decomposed)\":2,\"\(Self.composed)\":1}}\n"
    #expect(try load(line, ["-t", "m:map<int>"]).status == 0)
    let back = try ToolProcess.run(folder, "export", "a.realm", "A").output
    #expect(Array(back.utf8) == Array(line.utf8))
  }

  @Test func `an object with many names is checked too`() throws {
    let names = (0..<50).map { "\"k\($0)\":1" } + ["\"k7\":2"]
    let done = try load("{\(names.joined(separator: ","))}\n")
    #expect(done.errors.contains("the name 'k7' is given twice"), "\(done.errors)")
  }

  @Test func `a field of a package that is given twice is a bad line`() throws {
    let done = try load("Package: a\nVersion: 1\nVersion: 2\n", format: "debian")
    #expect(done.errors.contains("line 1: the field 'Version' is given twice"), "\(done.errors)")
  }

  @Test(
    arguments: [
      (["i=1", "i=2"], "'i' and 'i' give two values for one property"),
      (["e={\"a\":1,\"b\":\"x\"}", "e.a=2"], "'e' and 'e.a' give two values for one property"),
      (["m={\"a\":1,\"a\":2}"], "the name 'a' is given twice"),
      (["e={\"a\":5,\"b\":\"x\",\"a\":6}"], "the name 'a' is given twice"),
    ] as [([String], String)])
  func `set refuses two values for one property`(_ words: [String], _ expected: String) throws {
    let line = "{\"i\":0,\"e\":{\"a\":1,\"b\":\"y\"},\"m\":{\"k\":1}}\n"
    try #require(try load(line, ["-t", "m:map<int>"]).status == 0)
    let done = try ToolProcess(folder, ["set", "a.realm", "A", "--all"] + words).finish()
    #expect(done.status == 1)
    #expect(done.errors.contains(expected), "\(done.errors)")
    #expect(try ToolProcess.run(folder, "export", "a.realm", "A").output == line)
    let fine = try ToolProcess.run(folder, "set", "a.realm", "A", "--all", "e.a=2", "e.b=z")
    #expect(fine.status == 0, "\(fine.errors)")
  }

  @Test(
    arguments: [
      (
        #"[{"class":"A","columns":[{"name":"a","type":"int"},{"name":"a","type":"string"}]}]"#,
        "class A has two columns called 'a'"
      ),
      (
        "[{\"class\":\"A\",\"columns\":[{\"name\":\"\(composed)\",\"type\":\"int\"},"
          + "{\"name\":\"\(decomposed)\",\"type\":\"int\"}]}]",
        "class A has two columns called '\(decomposed)'"
      ),
      (
        #"[{"class":"A","columns":[]},{"class":"A","columns":[]}]"#, "two classes are called 'A'"
      ),
      (#"[{"class":"A","class":"B","columns":[]}]"#, "the name 'class' is given twice"),
      (
        #"[{"class":"A","columns":[{"name":"b","type":"link","target":"B"}]}]"#,
        "Property 'A.b' links to class 'B', which is neither in the file"
      ),
    ])
  func `create refuses a schema that names something twice`(
    _ schema: String, _ expected: String
  ) throws {
    let path = try folder.file("s.json", Array(schema.utf8))
    let done = try ToolProcess.run(folder, "create", "a.realm", "--schema", path)
    #expect(done.status == 1)
    #expect(done.errors.contains(expected), "\(done.errors)")
    #expect(!done.errors.contains("Migration"), "\(done.errors)")
    #expect(folder.names == ["s.json"])
  }
}
