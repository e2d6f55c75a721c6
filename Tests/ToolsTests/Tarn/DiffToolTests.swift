import Foundation
import TestSupport
import Testing

/// `tarn diff`.
@Suite struct DiffToolTests {
  private let folder = TemporaryFolder()

  private func tarn(_ arguments: String..., input: String = "") throws -> ToolProcess.Result {
    try ToolProcess(folder, arguments, input: input).finish()
  }

  private func makeFile(_ name: String, _ lines: String, key: Bool = true) throws {
    let result = try ToolProcess(
      folder, ["import", name, "-", "-c", "Dog", "-f", "jsonl"] + (key ? ["-k", "id"] : []),
      input: lines
    ).finish()
    #expect(result.status == 0, "\(result.errors)")
  }

  private static let dogs = """
    {"id":2,"name":"Ann","tags":["a","b"]}
    {"id":1,"name":"Rex","tags":[]}
    {"id":10,"name":"Max","tags":["c"]}

    """

  @Test func findsNothingInEqualFiles() throws {
    try makeFile("a.tarn", Self.dogs)
    try makeFile("b.tarn", Self.dogs.split(separator: "\n").reversed().joined(separator: "\n"))
    #expect(try tarn("diff", "a.tarn", "b.tarn") == .init(status: 0, output: "", errors: ""))
  }

  /// Their order in a file depends on the order in which the objects were created.
  @Test func `sets of links are equal in any order`() throws {
    let lines = ["{\"_id\":\"k4\"}", "{\"_id\":\"k1\"}", "{\"_id\":\"x\",\"s\":[\"k4\",\"k1\"]}"]
    for (name, order) in [("a.tarn", [0, 1, 2]), ("b.tarn", [1, 0, 2])] {
      let result = try ToolProcess(
        folder, ["import", name, "-", "-c", "C", "-f", "jsonl", "-k", "_id", "-t", "s:set<C>"],
        input: order.map { lines[$0] + "\n" }.joined()
      ).finish()
      #expect(result.status == 0, "\(result.errors)")
    }
    #expect(try tarn("diff", "a.tarn", "b.tarn") == .init(status: 0, output: "", errors: ""))
    #expect(try tarn("export", "a.tarn", "C").output.contains("[\"k1\",\"k4\"]"))
  }

  @Test func listsDifferencesByKey() throws {
    try makeFile("a.tarn", Self.dogs)
    try makeFile(
      "b.tarn",
      """
      {"id":10,"name":"Max","tags":["c"]}
      {"id":3,"name":"New","tags":[]}
      {"id":2,"name":"Anna","tags":["a"]}
      """)
    let result = try tarn("diff", "a.tarn", "b.tarn")
    #expect(
      result.output == """
        - Dog 1  {"id":1,"name":"Rex","tags":[]}
        ~ Dog 2  {"name":"Ann","tags":["a","b"]} → {"name":"Anna","tags":["a"]}
        + Dog 3  {"id":3,"name":"New","tags":[]}

        """)
    #expect(result.status == 1)
    let lines = try tarn("diff", "a.tarn", "b.tarn", "Dog", "--json").output.split(separator: "\n")
    #expect(
      lines[1] == """
        {"class":"Dog","change":"modified","key":2,"old":{"name":"Ann","tags":["a","b"]},\
        "new":{"name":"Anna","tags":["a"]}}
        """)
  }

  @Test func listsDifferencesOfClasses() throws {
    try makeFile("a.tarn", "{\"id\":1,\"name\":\"Rex\"}")
    try makeFile("b.tarn", "{\"id\":1,\"name\":\"Rex\",\"age\":3}")
    #expect(
      try tarn("import", "b.tarn", "-", "-c", "Cat", "-f", "jsonl", input: "{\"a\":1}").status == 0)
    let result = try tarn("diff", "a.tarn", "b.tarn")
    #expect(
      result.output == """
        + class Cat
        ~ Dog
            age: none → Int
        ~ Dog 1  {} → {"age":3}

        """)
    #expect(try tarn("diff", "a.tarn", "b.tarn", "Bird").status == 1)
  }
}
