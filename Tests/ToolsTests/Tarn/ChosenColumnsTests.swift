import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// `--columns` with embedded objects, in a file that was migrated.
@Suite struct ChosenColumnsTests {
  private static let (dogs, tags) = (ClassID(0), ClassID(1))

  private let folder = TemporaryFolder()

  init() throws {
    var options = Store.Options()
    options.isDurable = false
    options.schemaVersion = 3
    options.classes = [
      ClassDefinition(
        name: "Dog",
        properties: [
          .init(name: "id", type: .int, isPrimaryKey: true), .init(name: "age", type: .int),
          .init(name: "o", type: .link, isOptional: true, target: "Tag"),
          .init(name: "l", type: .link, collection: .list, target: "Tag"),
        ]),
      ClassDefinition(
        name: "Tag",
        properties: [
          .init(name: "a", type: .int), .init(name: "b", type: .int),
          .init(name: "in", type: .link, isOptional: true, target: "Tag"),
        ], isEmbedded: true),
    ]
    _ = try StoreRegistry.open(folder.file("a.realm"), options)
    let line = #"{"id":1,"age":3,"o":{"a":1,"b":2,"in":{"a":3,"b":4}},"l":[{"a":5,"b":6}]}"#
    let done = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", "jsonl", "-c", "Dog", input: line)
    try #require(done.status == 0, "\(done.errors)")
  }

  private func set(_ assignment: String) throws {
    let done = try ToolProcess.run(folder, "set", "a.realm", "Dog", "--all", assignment)
    try #require(done.status == 0, "\(done.errors)")
  }

  private func json(_ output: String) throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
  }

  private static let chosen: [(String, String)] = [
    ("o", #"{"o":{"a":1,"b":2,"in":{"a":3,"b":4,"in":null}}}"#), ("o.a", #"{"o":{"a":1}}"#),
    ("o.in.b,age", #"{"o":{"in":{"b":4}},"age":3}"#), ("l", #"{"l":[{"a":5,"b":6,"in":null}]}"#),
    ("l.b", #"{"l":[{"b":6}]}"#), ("o.a,o", #"{"o":{"a":1,"b":2,"in":{"a":3,"b":4,"in":null}}}"#),
  ]

  @Test(arguments: chosen) func selectsAtEachDepth(_ columns: String, _ expected: String) throws {
    let query = try ToolProcess.run(
      folder, "query", "a.realm", "Dog", "--json", "--columns", columns)
    #expect(query.output == expected + "\n", "\(query.errors)")
    // The cursor adds the primary key, and has the order of the class.
    let watch = try ToolProcess.run(
      folder, "watch", "a.realm", "Dog", "--cursor", "w", "--json", "--exit-after", "1",
      "--columns", columns)
    try #require(watch.status == 0, "\(watch.errors)")
    let objects = try #require(try json(watch.output)["objects"] as? [[String: Any]])
    var new = try #require(objects.first?["new"] as? [String: Any])
    #expect(new.removeValue(forKey: "id") as? Int == 1)
    #expect(NSDictionary(dictionary: new) == NSDictionary(dictionary: try json(expected)))
  }

  /// A change within a selected property is reported, another one is not.
  @Test func aCursorReportsChangesInside() throws {
    func watch(_ name: String, _ columns: String, _ more: String...) throws -> String {
      let done = try ToolProcess(
        folder,
        ["watch", "a.realm", "Dog", "--cursor", name, "--exit-after", "1", "--columns", columns]
          + more
      ).finish()
      try #require(done.status == 0, "\(done.errors)")
      return done.output
    }
    _ = try watch("o", "o", "--json", "--old-values")
    _ = try watch("a", "o.a", "--json")
    try set(#"o={"a":1,"b":7}"#)
    let modified = try json(watch("o", "o", "--json", "--old-values"))["modified"]
    let change = try #require((modified as? [[String: Any]])?.first)
    #expect((change["old"] as? [String: [String: Any]])?["o"]?["b"] as? Int == 2)
    #expect((change["new"] as? [String: Any])?["age"] == nil)
    let text = try watch("a", "o.a")
    #expect(text.hasSuffix("  ~ 1  o: {\"a\":1}\n"), "\(text)")
  }

  /// Watches and the log do not ask for a schema version.
  @Test func theLogShowsPatches() throws {
    _ = try ToolProcess.run(folder, "retention", "set", "a.realm", "--versions", "10")
    try set("age=4")
    let log = try ToolProcess.run(folder, "log", "a.realm", "--patch")
    #expect(log.status == 0, "\(log.errors)")
    #expect(log.output.contains("age: 4"), "\(log)")
  }

  @Test(arguments: [
    ("age.x", "'age' holds no embedded objects"), ("o.c", "class Tag has no column 'c'"),
    ("x", "class Dog has no column 'x'"),
  ])
  func refusesOthers(_ columns: String, _ message: String) throws {
    for more in [[], ["--cursor", "w"]] {
      let done = try ToolProcess(
        folder, ["watch", "a.realm", "Dog", "--columns", columns] + more
      ).finish()
      #expect(done.status == 1)
      #expect(done.errors.contains(message), "\(done.errors)")
    }
  }
}
