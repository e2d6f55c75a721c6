import TestSupport
import Testing

/// Numbers beyond the range of their column's type: refused wherever a command takes a value to
/// store, compared exactly in conditions, and infinite nowhere.
@Suite struct NumberRangeTests {
  private let folder = TemporaryFolder()
  private static let types = "d:double,f:float,m:decimal,l:list<float>,a:any"

  private func load(_ input: String, _ format: String = "jsonl") throws -> ToolProcess.Result {
    try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", format, "-c", "Sum", "-k", "id", "-t", Self.types,
      input: input)
  }

  private func fill() throws {
    let done = try load("{\"id\":1,\"d\":1.5,\"f\":1.5,\"m\":\"1.5\",\"l\":[],\"a\":0}\n")
    try #require(done.status == 0, "\(done.errors)")
  }

  private func row() throws -> String {
    try ToolProcess.run(folder, "export", "a.realm", "Sum").output
  }

  @Test(arguments: ["1e400", "-1e400", "1" + String(repeating: "0", count: 400)])
  func doublesAreRefused(_ number: String) throws {
    try fill()
    let before = try row()
    for line in [
      "{\"id\":2,\"d\":\(number),\"f\":1,\"m\":1}", "{\"id\":2,\"d\":1,\"f\":\(number),\"m\":1}",
      "{\"id\":2,\"d\":1,\"f\":1,\"m\":1,\"a\":{\"$type\":\"double\",\"value\":\(number)}}",
    ] {
      #expect(try load(line).errors.hasPrefix("tarn: line 1: "), "\(line)")
    }
    let csv = try load("id,d,f,m\n2,\(number),1,1\n", "csv")
    #expect(
      csv.errors.hasPrefix(
        "tarn: line 2: column 'd': '\(number.prefix(40))' is not of type double"))
    let set = try ToolProcess.run(folder, "set", "a.realm", "Sum", "--all", "d=\(number)")
    #expect(set.status == 1)
    #expect(set.errors.contains("is not of type double"))
    // A condition stores nothing: it compares the exact value, which no double equals.
    for (condition, count) in [("==", "0"), ("<", number.hasPrefix("-") ? "0" : "1")] {
      let filter = try ToolProcess.run(
        folder, "count", "a.realm", "Sum", "d \(condition) \(number)")
      #expect(filter.output == count + "\n", "\(condition) \(filter.errors)")
    }
    #expect(try row() == before)
  }

  /// A value of any type that a double does not hold is a decimal.
  @Test func mixedValuesBecomeDecimals() throws {
    try fill()
    let done = try load("{\"id\":2,\"d\":1,\"f\":1,\"m\":1,\"a\":1e400}")
    #expect(done.status == 0, "\(done.errors)")
    #expect(try row().contains(#""a":{"$type":"decimal","value":"1E+400"}"#))
  }

  @Test func floatsAreRefused() throws {
    try fill()
    let before = try row()
    for line in [
      "{\"id\":2,\"d\":1,\"f\":1e39,\"m\":1}", "{\"id\":2,\"d\":1,\"f\":1,\"m\":1,\"l\":[1e39]}",
      "{\"id\":2,\"d\":1,\"f\":1,\"m\":1,\"a\":{\"$type\":\"float\",\"value\":1e39}}",
    ] {
      let done = try load(line)
      #expect(done.errors.contains("1e+39 is not of type float"), "\(line): \(done.errors)")
    }
    #expect(
      try load("id,d,f,m\n2,1,-1e39,1\n", "csv").errors.contains("'-1e39' is not of type float"))
    let set = try ToolProcess.run(folder, "set", "a.realm", "Sum", "--all", "f=1e39")
    #expect(set.errors.contains("'1e39' is not of type float"))
    #expect(try row() == before)
  }

  @Test func decimalsAreRefused() throws {
    try fill()
    let before = try row()
    let line = "{\"id\":2,\"d\":1,\"f\":1,\"m\":\"1e7000\"}"
    #expect(try load(line).errors.contains("\"1e7000\" is not of type decimal"))
    #expect(
      try load("id,d,f,m\n2,1,1,1e7000\n", "csv").errors.contains(
        "'1e7000' is not of type decimal"))
    let set = try ToolProcess.run(folder, "set", "a.realm", "Sum", "--all", "m=1e7000")
    #expect(set.errors.contains("'1e7000' is not of type decimal"))
    #expect(try row() == before)
  }

  @Test func infinityHasToBeNamed() throws {
    try fill()
    let set = try ToolProcess.run(
      folder, "set", "a.realm", "Sum", "--all", "d=Infinity", "f=-Infinity", "m=Infinity")
    #expect(set.status == 0)
    #expect(
      try row()
        == "{\"id\":1,\"d\":\"Infinity\",\"f\":\"-Infinity\",\"m\":\"Infinity\",\"l\":[],\"a\":0}\n"
    )
    // A decimal holds more than a double does.
    let more = try ToolProcess.run(folder, "set", "a.realm", "Sum", "--all", "m=1e400")
    #expect(more.status == 0)
    #expect(try ToolProcess.run(folder, "count", "a.realm", "Sum", "m == 1e400").output == "1\n")
  }
}
