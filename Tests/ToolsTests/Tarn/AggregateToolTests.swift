import Foundation
import TestSupport
import Testing

/// `tarn query --aggregates` of numbers that are hard to add up: the same as in a program, see
/// `HardSumTests`.
@Suite struct AggregateToolTests {
  private static func answer(
    _ prices: [String], of name: String = "price", _ type: String = "decimal"
  ) throws -> String {
    let folder = TemporaryFolder()
    let rows = prices.enumerated().map { "\($0.offset),\($0.element)\n" }.joined()
    let done = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", "csv", "-c", "Line", "-k", "id", "--types",
      "id:int,\(name):\(type)?", input: "id,\(name)\n" + rows)
    try #require(done.status == 0, "\(done.errors)")
    let aggregates = ["sum", "avg", "min", "max"].map { "\($0):\(name)" }.joined(separator: ",")
    let all = try ToolProcess.run(
      folder, "query", "a.realm", "Line", "--aggregates", aggregates, "--csv")
    return all.output.split(separator: "\n").last.map(String.init) ?? all.errors
  }

  @Test func `decimals in all orders`() throws {
    for prices in ["0.1", "1000000000000000000000000000000005", "9E+33"].orders {
      #expect(
        try Self.answer(prices)
          == "1.000000000000000000000000000000001E+34,3333333333333333333333333333333335,0.1,9E+33")
    }
    #expect(try Self.answer(["1.1", "1.10", ""]) == "2.20,1.10,1.10,1.1")
    #expect(try Self.answer(["0.00"]) == "0.00,0.00,0.00,0.00")
  }

  @Test func `no two members of a group have one name`() throws {
    let folder = TemporaryFolder()
    let rows = """
      {"count":2,"_count":1}
      {"count":2,"_count":1}

      """
    _ = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", "jsonl", "-c", "Line", input: rows)
    let groups = try ToolProcess.run(
      folder, "query", "a.realm", "Line", "--json", "-g", "count", "--aggregates",
      "count,sum:count")
    #expect(groups.output == #"{"count":2,"_count":2,"sum:count":4}"# + "\n")
    let twice = try ToolProcess.run(
      folder, "query", "a.realm", "Line", "--aggregates", "max:count,max:count")
    #expect(twice.status == 2)
    #expect(twice.errors.contains("--aggregates has max:count twice"), "\(twice.errors)")
  }

  @Test func `integers and doubles`() throws {
    let odd = Array(repeating: "9007199254740993", count: 3)
    #expect(
      try Self.answer(odd, of: "count", "int")
        == "27021597764222979,9007199254740992.0,9007199254740993,9007199254740993")
    let large = try Self.answer(["1.7e308", "1.7e308"], of: "size", "double")
    #expect(large == "Infinity,1.7e+308,1.7e+308,1.7e+308")
    #expect(try Self.answer(["-0.0", "0.0"], of: "size", "double") == "0.0,0.0,-0.0,0.0")
  }
}
