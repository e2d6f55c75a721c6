import TarnStore
import TestSupport
import Testing

/// `tarn set` of properties inside embedded objects.
@Suite struct SetPathTests {
  private let folder = TemporaryFolder()

  init() throws {
    var options = Store.Options()
    options.isDurable = false
    options.classes = [
      ClassDefinition(
        name: "Person",
        properties: [
          .init(name: "id", type: .int, isPrimaryKey: true),
          .init(name: "addr", type: .link, isOptional: true, target: "Address"),
          .init(name: "others", type: .link, collection: .list, target: "Address"),
          .init(name: "friend", type: .link, isOptional: true, target: "Person"),
          .init(name: "a.b", type: .int, isOptional: true),
        ]),
      ClassDefinition(
        name: "Address",
        properties: [
          .init(name: "city", type: .string),
          .init(name: "lines", type: .string, collection: .list),
          .init(name: "geo", type: .link, isOptional: true, target: "Geo"),
        ], isEmbedded: true),
      ClassDefinition(
        name: "Geo", properties: [.init(name: "lat", type: .double, isOptional: true)],
        isEmbedded: true),
    ]
    _ = try StoreRegistry.open(folder.file("a.tarn"), options)
    let lines = """
      {"id":1,"addr":{"city":"Rome","lines":[],"geo":{"lat":1.5}}}
      {"id":2,"addr":{"city":"Oslo","lines":["x"],"geo":{"lat":null}}}
      {"id":3,"addr":null}

      """
    let done = try ToolProcess.run(
      folder, "import", "a.tarn", "-", "-f", "jsonl", "-c", "Person", input: lines)
    try #require(done.status == 0, "\(done.errors)")
  }

  private func set(_ arguments: String...) throws -> ToolProcess.Result {
    try ToolProcess(folder, ["set", "a.tarn", "Person"] + arguments).finish()
  }

  private func shown(_ column: String) throws -> [Substring] {
    try ToolProcess.run(folder, "query", "a.tarn", "Person", "--columns", column, "--json")
      .output.split(separator: "\n")
  }

  @Test func `a path leads into embedded objects`() throws {
    let done = try set(
      "addr.city=Bergen", "addr.geo.lat=60.5", #"addr.lines=["a","b"]"#, "a.b=7", "-w", "id < 3")
    #expect(done.output == "changed 2 objects of Person, version 2\n", "\(done.errors)")
    let address = #"{"city":"Bergen","lines":["a","b"],"geo":{"lat":60.5}}"#
    #expect(
      try shown("addr") == ["{\"addr\":\(address)}", "{\"addr\":\(address)}", "{\"addr\":null}"])
    #expect(try shown("a.b")[0] == #"{"a.b":7}"#)
    let same = try set("addr.city=Bergen", "-w", "id < 3")
    #expect(same.output == "changed 0 objects of Person, version 2\n")
    #expect(try ToolProcess.run(folder, "inspect", "a.tarn", "--check").status == 0)
  }

  @Test(arguments: [
    ("addr.city=x", "Person 3 has null in 'addr': set all of it, as addr={…}"),
    ("addr.town=x", "class Address has no property 'town'"),
    ("adr.city=x", "class Person has no property 'adr'"),
    ("others.city=x", "'others' of class Person is not an embedded object"),
    ("friend.id=4", "'friend' of class Person is not an embedded object"),
    ("id=4", "'id' is the primary key"),
    ("addr.geo.lat=x", "column 'lat': 'x' is not of type double"),
  ])
  func `what is wrong with a path is said, and nothing is set`(
    _ assignment: String, _ error: String
  ) throws {
    let before = try ToolProcess.run(folder, "dump", "a.tarn")
    let done = try set(assignment, "--all")
    #expect(done.errors.contains(error), "\(done.errors)")
    #expect(done.status == 1)
    #expect(try ToolProcess.run(folder, "dump", "a.tarn") == before)
  }
}
