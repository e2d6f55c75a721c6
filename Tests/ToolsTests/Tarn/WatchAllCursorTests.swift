import TarnStore
import TestSupport
import Testing

/// `tarn watch --cursor` of all classes.
@Suite struct WatchAllCursorTests {
  private let folder = TemporaryFolder()
  private let store: Store

  init() throws {
    var options = Store.Options()
    options.isDurable = false
    options.classes = ["Dog", "Cat", "Cow"].map { name in
      ClassDefinition(
        name: name,
        properties: [
          .init(name: "name", type: .string, isPrimaryKey: true), .init(name: "age", type: .int),
        ])
    }
    store = try StoreRegistry.open(folder.file("a.realm"), options)
    try add(["Rex": 0])
  }

  /// Adds objects to the classes of those ids.
  private func add(_ names: KeyValuePairs<String, UInt32>) throws {
    try store.write { session in
      for (name, id) in names {
        _ = try session.create([ColumnID(0): .string(name)], in: ClassID(id))
      }
    }
  }

  private func watch(_ arguments: String..., input: String = "") throws -> [Substring] {
    let done = try ToolProcess(
      folder, ["watch", "a.realm", "--cursor", "w", "--exit-after", "1"] + arguments, input: input
    ).finish()
    #expect(done.status == 0, "\(done.errors)")
    return done.output.split(separator: "\n")
  }

  /// The lines without the position, of which only the last has one.
  private func withoutPosition(_ lines: [Substring]) -> [String] {
    #expect(lines.map { $0.contains("\"position\":") }.dropLast().contains(true) == false)
    #expect(lines.last?.contains("\"position\":") == true)
    return lines.map { String($0.replacing(/"position":"[^"]*",/, with: "")) }
  }

  @Test func `each class that changed has a line`() throws {
    #expect(
      withoutPosition(try watch("--json")) == [
        #"{"version":1,"from":1,"class":"Cat","fullResync":"snapshot","objects":[],"#
          + #""part":1,"more":true}"#,
        #"{"version":1,"from":1,"class":"Cow","objects":[],"part":2,"more":true}"#,
        #"{"version":1,"from":1,"class":"Dog","objects":["#
          + #"{"key":"Rex","new":{"name":"Rex","age":0}}],"part":3}"#,
      ])
    try add(["Ann": 0, "Tom": 1])
    try add(["Max": 0])
    #expect(
      withoutPosition(try watch("--json")) == [
        #"{"version":3,"from":1,"class":"Cat","inserted":["#
          + #"{"key":"Tom","new":{"name":"Tom","age":0}}],"part":1,"more":true}"#,
        #"{"version":3,"from":1,"class":"Dog","inserted":["#
          + #"{"key":"Ann","new":{"name":"Ann","age":0}},"#
          + #"{"key":"Max","new":{"name":"Max","age":0}}],"part":2}"#,
      ])
  }

  @Test func `text has a heading for each class`() throws {
    _ = try watch()
    try add(["Ann": 0, "Tom": 1])
    #expect(
      try watch() == [
        "version 2  Cat  since version 1", "  + Tom  age: 0", "version 2  Dog  since version 1",
        "  + Ann  age: 0",
      ])
  }

  @Test func `the last line acknowledges the batch`() throws {
    let process = try ToolProcess(
      folder, ["watch", "a.realm", "--cursor", "w", "--json", "--ack", "manual"])
    let lines = try (0..<3).compactMap { _ in try process.line() }
    // Its input ends at once, so nothing is acknowledged.
    #expect(try process.finish().status == 0)
    #expect(lines.count == 3)
    #expect(try watch("--json").count == 3)
  }

  @Test func `a filter needs a class`() throws {
    for (option, value) in [("--where", "age > 1"), ("--columns", "age")] {
      let done = try ToolProcess.run(folder, "watch", "a.realm", "--cursor", "w", option, value)
      #expect(done.status == 2)
      #expect(done.errors.contains("\(option) needs a CLASS"))
    }
  }
}
