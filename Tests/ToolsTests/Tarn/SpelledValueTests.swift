import TestSupport
import Testing

/// Values as other tools write them: imported, set, and compared with.
@Suite struct SpelledValueTests {
  private let folder = TemporaryFolder()

  private func load(
    _ input: String, _ format: String, _ more: String...
  ) throws -> ToolProcess.Result {
    try ToolProcess(
      folder, ["import", "a.realm", "-", "-f", format, "-c", "Row"] + more, input: input
    ).finish()
  }

  private func rows(_ condition: String = "TRUEPREDICATE") throws -> String {
    try ToolProcess.run(folder, "export", "a.realm", "Row", "--where", condition).output
  }

  private static let spelled = [
    "True", "TRUE", "true", "t", "T", "yes", "Yes", "y", "on", "1", "False", "f", "NO", "n", "Off",
    "0",
  ]

  @Test func booleans() throws {
    let csv =
      "id,b\n" + Self.spelled.enumerated().map { "\($0),\($1)\n" }.joined()
    #expect(try load(csv, "csv", "-t", "b:bool").status == 0)
    let lines = try rows().split(separator: "\n")
    #expect(lines.count == Self.spelled.count)
    for (index, line) in lines.enumerated() {
      #expect(line == "{\"id\":\(index),\"b\":\(index < 10)}")
    }
    for (index, text) in Self.spelled.enumerated() {
      let found = try rows("b == \"\(text)\"").split(separator: "\n").count
      #expect(found == (index < 10 ? 10 : 6), "\(text)")
      let set = try ToolProcess.run(
        folder, "set", "a.realm", "Row", "--where", "id == 0", "b=\(text)")
      #expect(set.status == 0, "\(text): \(set.errors)")
      #expect(try rows("id == 0") == "{\"id\":0,\"b\":\(index < 10)}\n")
      _ = try ToolProcess.run(folder, "set", "a.realm", "Row", "--where", "id == 0", "b=true")
    }
    for text in ["wahr", "2", "", "tr"] {
      let done = try ToolProcess.run(
        folder, "count", "a.realm", "Row", "--where", "b == \"\(text)\"")
      #expect(done.status != 0, "\(text)")
    }
    // Without quotes it is a name.
    let name = try ToolProcess.run(folder, "count", "a.realm", "Row", "--where", "b == t")
    #expect(name.errors.contains("'t'"), "\(name.errors)")
  }

  @Test func booleansInJSON() throws {
    let lines = #"{"b":"yes","l":[1,"f",true]}"# + "\n" + #"{"b":0,"l":[]}"# + "\n"
    #expect(try load(lines, "jsonl", "-t", "b:bool,l:list<bool>").status == 0)
    #expect(
      try rows() == #"{"b":true,"l":[true,false,true]}"# + "\n" + #"{"b":false,"l":[]}"# + "\n")
    #expect(try load(#"{"b":2,"l":[]}"#, "jsonl").errors.contains("2 is not of type bool"))
  }

  /// Text that no one declared stays as it is.
  @Test func onlyTrueAndFalseAreTakenForBooleans() throws {
    #expect(try load("a,b,c\nTrue,yes,1\nFalse,no,0\n", "csv").status == 0)
    #expect(try rows("c == 1") == #"{"a":"True","b":"yes","c":1}"# + "\n")
  }

  @Test func dates() throws {
    let csv = """
      id,d
      1,2024-01-02 00:00:00 -0500
      2,2024-01-02 05:00:00 UTC
      3,2024-01-02 05:00:00.000 +0000 UTC
      4,"2024-01-02T06:00:00,0+01"

      """
    #expect(try load(csv, "csv").status == 0)
    #expect(
      try rows() == (1...4).map { "{\"id\":\($0),\"d\":\"2024-01-02T05:00:00Z\"}\n" }.joined())
    for text in ["2024-01-02 00:00:00 -0500", "2024-01-02 05:00:00 GMT"] {
      #expect(try rows("d == '\(text)'").split(separator: "\n").count == 4, "\(text)")
      let set = try ToolProcess.run(folder, "set", "a.realm", "Row", "--all", "d=\(text)")
      #expect(set.output.hasPrefix("changed 0 objects"), "\(set)")
    }
  }

  @Test func unixTime() throws {
    let csv = "id,s,m\n1,1704171600,1704171600250\n2,-1.5,-1\n3,0,1.5\n"
    #expect(try load(csv, "csv", "-t", "s:unixtime,m:unixtime-ms").status == 0)
    let json = #"{"id":4,"s":1704171600.5,"m":"1000"}"#
    #expect(try load(json, "jsonl", "-t", "s:unixtime,m:unixtime-ms").status == 0)
    #expect(
      try rows() == """
        {"id":1,"s":"2024-01-02T05:00:00Z","m":"2024-01-02T05:00:00.25Z"}
        {"id":2,"s":"1969-12-31T23:59:58.5Z","m":"1969-12-31T23:59:59.999Z"}
        {"id":3,"s":"1970-01-01T00:00:00Z","m":"1970-01-01T00:00:00.0015Z"}
        {"id":4,"s":"2024-01-02T05:00:00.5Z","m":"1970-01-01T00:00:01Z"}

        """)
    for bad in ["2024-01-02", "1e9", "x", "1.", "99999999999999999999"] {
      let done = try load("id,s,m\n5,\(bad),0\n", "csv", "-t", "s:unixtime,m:unixtime-ms")
      #expect(done.errors.contains("'\(bad)' is not of type unixtime"), "\(done.errors)")
    }
    // A year is no number of seconds unless somebody says so.
    #expect(try load("id,s,m\n5,2024,0\n", "csv").errors.contains("is not of type date"))
  }

  @Test func mixedValuesKeepTheirTypes() throws {
    let lines = """
      {"id":1,"v":1,"n":9007199254740993,"l":[1,"a",true]}
      {"id":2,"v":"1","n":0.5,"l":[]}
      {"id":3,"v":true,"n":18446744073709551615,"l":[2.5]}
      {"id":4,"v":1.5,"n":"-1","l":[null]}

      """
    #expect(try load(lines, "jsonl", "-k", "id").status == 0)
    let exported = try rows()
    #expect(
      exported
        == lines.replacing(
          "18446744073709551615", with: #"{"$type":"decimal","value":"18446744073709551615"}"#))
    let inspected = try ToolProcess.run(folder, "inspect", "a.realm").output
    #expect(inspected.contains("List<AnyRealmValue>"))
    #expect(!inspected.contains("String"))
    let again = try load(exported, "jsonl", "--update")
    #expect(again.output == "Row: 0 added, 0 changed, 4 already the same, version 1\n")
    // And through another file.
    let other = try ToolProcess.run(
      folder, "import", "b.realm", "-", "-f", "jsonl", "-c", "Row", "-k", "id", input: exported)
    #expect(other.status == 0, "\(other.errors)")
    #expect(try ToolProcess.run(folder, "export", "b.realm", "Row").output == exported)
    #expect(try rows("v == '1'").hasPrefix("{\"id\":2"))
    #expect(try rows("n == 9007199254740993").hasPrefix("{\"id\":1"))
    #expect(try rows("n == 9007199254740992") == "")
  }
}
