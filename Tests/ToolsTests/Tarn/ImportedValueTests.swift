import Foundation
import TestSupport
import Testing

/// What `tarn import` makes of values that do not fit as they are.
@Suite struct ImportedValueTests {
  private let folder = TemporaryFolder()

  private func load(
    _ input: String, _ more: String..., format: String = "jsonl"
  ) throws -> ToolProcess.Result {
    let arguments = ["import", "a.realm", "-", "-f", format, "-c", "A"] + more
    return try ToolProcess(folder, arguments, input: input).finish()
  }

  private func rows() throws -> String {
    try ToolProcess.run(folder, "export", "a.realm", "A").output
  }

  private static func nested(_ depth: Int) -> String {
    "{\"a\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}\n"
  }

  // MARK: - Nesting

  @Test(arguments: [[], ["--batch", "2"]])
  func `a value that is nested too deep is a bad line`(_ more: [String]) throws {
    let input = "{\"a\":1}\n" + Self.nested(101) + "{\"a\":2}\n"
    let arguments = ["import", "a.realm", "-", "-f", "jsonl", "-c", "A", "-t", "a:any"]
    let refused = try ToolProcess(folder, arguments, input: input).finish()
    #expect(refused.errors.contains("line 2: column 'a[0][0]"), "\(refused.errors)")
    #expect(refused.errors.contains("may be up to 100 deep"), "\(refused.errors)")
    #expect(folder.names.isEmpty)
    let done = try ToolProcess(folder, arguments + ["--on-error", "skip"] + more, input: input)
      .finish()
    #expect(done.output.hasPrefix("A: 2 added, 1 bad line skipped, version "), "\(done)")
    #expect(try load(Self.nested(100)).status == 0)
  }

  // MARK: - Links

  @Test func `only the links to missing objects are left out`() throws {
    let lines = """
      {"id":"a","l":[],"m":{},"e":null,"n":null}
      {"id":"c","l":["a","zz"],"m":{"x":"a","y":"zz"},\
      "e":[1,{"$type":"link","class":"A","value":"zz"},{"k":2}],"n":"zz"}

      """
    let done = try load(
      lines, "-k", "id", "-t", "l:list<A>,m:map<A>,e:any,n:A", "--on-error", "skip")
    #expect(done.status == 1)
    #expect(done.output == "A: 2 added, links left out in 1 line, version 1\n")
    for place in ["l[1]", "m['y']", "e[1]", "n"] {
      #expect(
        done.errors.contains(
          "line 2: column '\(place)': there is no A \"zz\"; the link is left out\n"),
        "\(done.errors)")
    }
    #expect(
      try rows().hasSuffix(
        #"{"id":"c","l":["a"],"m":{"x":"a"},"e":[1,{"k":2}],"n":null}"# + "\n"))
    // Another class than that of the import.
    let other = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", "jsonl", "-c", "B", "-t", "to:list<A>", "--on-error",
      "ignore", input: "{\"to\":[\"zz\",\"c\"]}\n")
    #expect(other.status == 0)
    #expect(other.output == "B: 1 added, links left out in 1 line, version 2\n")
    #expect(try ToolProcess.run(folder, "export", "a.realm", "B").output == "{\"to\":[\"c\"]}\n")
  }

  // MARK: - Numbers

  @Test func `round takes the nearest integer`() throws {
    let lines = """
      {"a":1.5,"b":"x"}
      {"a":-2.5,"b":"y"}
      {"a":9007199254740993.5,"b":"z"}

      """
    let refused = try load(lines, "-t", "a:int")
    #expect(refused.errors.contains("1.5 is not of type int (--round rounds it)"))
    #expect(try load(lines, "-t", "a:int", "--round").status == 0)
    #expect(
      try rows() == """
        {"a":2,"b":"x"}
        {"a":-3,"b":"y"}
        {"a":9007199254740994,"b":"z"}

        """)
    let set = try ToolProcess.run(folder, "set", "a.realm", "A", "--all", "--round", "a=7.4")
    #expect(set.status == 0, "\(set.errors)")
    #expect(try rows().hasPrefix("{\"a\":7,"))
  }

  @Test func `a whole number may have an exponent or zeros behind the point`() throws {
    #expect(try load("a\n1e3\n5.0\n-0\n", "-t", "a:int", format: "csv").status == 0)
    #expect(try rows() == "{\"a\":1000}\n{\"a\":5}\n{\"a\":0}\n")
    #expect(
      try ToolProcess.run(folder, "set", "a.realm", "A", "--all", "a=2.50e1").status == 0)
    #expect(try rows().hasPrefix("{\"a\":25}\n"))
    for bad in ["1.5", "1.", "0x10", "1e30"] {
      let done = try load("a\n\(bad)\n", format: "csv")
      #expect(done.errors.contains("'\(bad)' is not of type int"), "\(done.errors)")
    }
  }

  @Test func `defaults are used for an empty field`() throws {
    let input = "a,b,c\n,true,x\n1,,y\n"
    let types = "a:int,b:bool,c:string"
    let refused = try load(input, "-t", types, format: "csv")
    #expect(refused.errors.contains("column 'a' cannot be null"))
    #expect(try load(input, "-t", types, "--defaults", format: "csv").status == 0)
    #expect(
      try rows() == "{\"a\":0,\"b\":true,\"c\":\"x\"}\n{\"a\":1,\"b\":false,\"c\":\"y\"}\n")
  }

  @Test func `names of numbers are numbers among numbers`() throws {
    #expect(try load("{\"a\":\"NaN\",\"b\":\"NaN\"}\n{\"a\":1.5,\"b\":\"Infinity\"}\n").status == 0)
    let schema = try ToolProcess.run(folder, "schema", "a.realm", "--json").output
    #expect(
      schema.contains(#"{"name":"a","type":"double"},{"name":"b","type":"string"}"#), "\(schema)")
  }

  // MARK: - Places

  @Test(
    arguments: [
      ("[{\"a\":1},]", "line 1: a value is missing at column 10"),
      ("[{\"a\":1},\n {\"b\":2,\n  \"c\":x}]", "line 2: not a value at line 3, column 7"),
      ("{\"a\":1} {\"b\":x}\n", "line 1: not a value at column 14"),
      ("{\"\":1}\n", "line 1: a name is empty"),
      ("{\"a\\u0000\":1}\n", "line 1: the name 'a\\u{0}' has a NUL"),
    ])
  func `an error names its place in the input`(_ input: String, _ expected: String) throws {
    let done = try load(input)
    #expect(done.errors.contains(expected), "\(done.errors)")
    #expect(folder.names.isEmpty)
  }

  @Test func `what cannot be an input is refused with a reason`() throws {
    let name = try load("a\0b\n1\n", format: "csv")
    #expect(name.errors.contains("standard input: line 1: the name of column 1 has a NUL"))
    let twice = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-", "-c", "A", "-c", "B", "-f", "jsonl")
    #expect(twice.status == 2)
    #expect(twice.errors.contains("the standard input can be one INPUT only"))
    #expect(try load("{\"a\":1}\n").status == 0)
    let cursor = try ToolProcess.run(folder, "cursor", "delete", "a.realm", "a\nb")
    #expect(cursor.errors.contains("has no cursor 'a\\nb'"), "\(cursor.errors)")
  }
}
