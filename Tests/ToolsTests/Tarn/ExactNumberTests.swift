import TestSupport
import Testing

/// Numbers are stored exactly, or they are errors with line and column; `--round` rounds them.
@Suite struct ExactNumberTests {
  private let folder = TemporaryFolder()

  private func load(
    _ input: String, _ format: String, _ more: String...
  ) throws -> ToolProcess.Result {
    try ToolProcess(
      folder, ["import", "a.realm", "-", "-f", format, "-c", "Row"] + more, input: input
    ).finish()
  }

  private func rows() throws -> String {
    try ToolProcess.run(folder, "export", "a.realm", "Row").output
  }

  private static let tooLong = [
    "0.10000000000000000001", "12345678901234567.89", "9007199254740993.0", "9007199254740993",
  ]

  @Test(arguments: tooLong) func doublesHoldThemOrNot(_ number: String) throws {
    let hint = "has digits that a double does not hold (--round rounds it; a decimal column keeps"
    let csv = try load("id,d\n1,1.5\n2,\(number)\n", "csv", "-t", "d:double")
    #expect(csv.errors.contains("line 3: column 'd': '\(number)' \(hint)"), "\(csv.errors)")
    let json = try load(
      "{\"id\":1,\"d\":1.5}\n{\"id\":2,\"d\":\(number)}\n", "jsonl", "-t", "d:double")
    #expect(json.errors.contains("line 2: column 'd': \(number) \(hint)"), "\(json.errors)")
    let array = try load(
      "[{\"id\":1,\"d\":1.5},\n{\"id\":2,\"d\":\(number)}]", "jsonl", "-t", "d:double")
    #expect(array.errors.contains("line 2: column 'd': \(number) \(hint)"), "\(array.errors)")
    let rounded = try load("{\"id\":2,\"d\":\(number)}", "jsonl", "-t", "d:double", "--round")
    #expect(rounded.status == 0, "\(rounded.errors)")
    let set = try ToolProcess.run(folder, "set", "a.realm", "Row", "--all", "d=\(number)")
    #expect(set.errors.contains("column 'd': '\(number)' \(hint)"), "\(set.errors)")
    let done = try ToolProcess.run(
      folder, "set", "a.realm", "Row", "--all", "d=\(number)", "--round")
    #expect(done.output.hasPrefix("changed 0 objects"))
  }

  /// The digits that programs print of a double are held.
  @Test(arguments: [
    "0.1", "0.30000000000000004", "0.10000000000000000555", "1.7976931348623157e+308", "5e-324",
    "4.9406564584124654e-324", "123456789012345683968.0", "-2.50", "0.000",
  ])
  func printedDoublesAreHeld(_ number: String) throws {
    #expect(try load("d\n\(number)\n", "csv", "-t", "d:double").status == 0)
    #expect(try load("{\"d\":\(number)}", "jsonl").status == 0)
    let double = try #require(Double(number))
    #expect(try rows() == "{\"d\":\(double)}\n{\"d\":\(double)}\n")
  }

  @Test func floatsAndIntegersAreExact() throws {
    let types = "f:float,i:int"
    #expect(try load("f,i\n0.1,1\n", "csv", "-t", types).status == 0)
    #expect(try load("f,i\n16777217,1\n", "csv").errors.contains("a float does not hold"))
    #expect(
      try load("{\"f\":0.123456789,\"i\":1}", "jsonl").errors.contains("a float does not hold"))
    let line = #"{"f":3.4028235e+38,"i":1.23456789012345e18}"#
    #expect(try load(line, "jsonl").status == 0)
    #expect(try load(#"{"f":1,"i":9007199254740993.0}"#, "jsonl").status == 0)
    #expect(try load(#"{"f":1,"i":1.5}"#, "jsonl").errors.contains("1.5 is not of type int"))
    #expect(
      try rows() == """
        {"f":0.1,"i":1}
        {"f":3.4028235e+38,"i":1234567890123450000}
        {"f":1.0,"i":9007199254740993}

        """)
  }

  @Test func decimalsHaveThirtyFourDigits() throws {
    let (held, long) = ("0." + String(repeating: "3", count: 34), String(repeating: "7", count: 35))
    #expect(try load("m\n\(held)\n", "csv", "-t", "m:decimal").status == 0)
    for line in ["{\"m\":\(long)}", "{\"m\":\"\(long)\"}", "{\"m\":\(held)3}"] {
      let done = try load(line, "jsonl")
      #expect(
        done.errors.contains("has digits that a decimal does not hold (--round rounds it)"),
        "\(done.errors)")
    }
    #expect(try load("m\n\(long)\n", "csv").status == 1)
    let set = try ToolProcess.run(folder, "set", "a.realm", "Row", "--all", "m=\(long)")
    #expect(set.errors.contains("a decimal does not hold"))
    #expect(try rows() == "{\"m\":\"\(held)\"}\n")
    let filter = try ToolProcess.run(folder, "count", "a.realm", "Row", "m == '\(long)'")
    #expect(filter.errors.contains("a decimal has up to 34 digits"), "\(filter.errors)")
    for number in ["0." + long, long] {
      let done = try ToolProcess.run(folder, "count", "a.realm", "Row", "m == \(number)")
      #expect(done.errors.contains("has more digits than a number can have"), "\(done.errors)")
    }
  }

  /// What C reads beside that.
  @Test(arguments: ["0x1F", "0x1p3", "nan(0x5)", "snan", "1_000", "1e", " 1", "1 ", "１"])
  func otherFormsAreNoNumbers(_ text: String) throws {
    for type in ["double", "float", "decimal", "int"] {
      let done = try load("id,d\n1,\(text)\n", "csv", "-t", "d:\(type)")
      #expect(done.errors.contains("'\(text)' is not of type \(type)"), "\(done.errors)")
    }
  }

  @Test func inferredColumnsKeepAllDigits() throws {
    let csv = "a,b,c\n0.10000000000000000001,1.5,9007199254740993\n2,2,0.5\n"
    #expect(try load(csv, "csv").status == 0)
    #expect(
      try rows() == """
        {"a":"0.10000000000000000001","b":1.5,"c":"9007199254740993"}
        {"a":"2","b":2.0,"c":"0.5"}

        """)
    let exported = try ToolProcess.run(folder, "export", "a.realm", "Row", "-f", "csv").output
    #expect(exported == csv.replacing("\n2,2,", with: "\n2,2.0,"))
  }
}
