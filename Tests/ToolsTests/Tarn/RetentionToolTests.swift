import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// `tarn retention`, `tarn cursor show` and `set`, and what `tarn log` and `tarn inspect` say of
/// kept records.
@Suite struct RetentionToolTests {
  private static let dogs = ClassID(0)

  private let folder = TemporaryFolder()
  private let store: Store

  init() throws {
    var options = Store.Options()
    options.isDurable = false
    options.classes = [
      ClassDefinition(
        name: "Dog",
        properties: [
          .init(name: "name", type: .string, isPrimaryKey: true), .init(name: "age", type: .int),
        ])
    ]
    store = try StoreRegistry.open(folder.file("a.realm"), options)
  }

  private func tarn(_ arguments: String...) throws -> ToolProcess.Result {
    try ToolProcess(folder, arguments).finish()
  }

  private func fill() throws {
    try store.write { session in
      for (name, age) in [("Rex", 3), ("Ann", 5)] {
        _ = try session.create(
          [ColumnID(0): .string(name), ColumnID(1): .int(Int64(age))], in: Self.dogs)
      }
    }
    try store.write { session in
      let rex = try #require(try session.find(primaryKey: .string("Rex"), in: Self.dogs))
      _ = try session.set(ColumnID(1), at: rex, in: Self.dogs, to: .int(4))
    }
    try store.write { session in
      let ann = try #require(try session.find(primaryKey: .string("Ann"), in: Self.dogs))
      _ = try session.delete(ann, in: Self.dogs)
    }
  }

  @Test func itIsShownAndSet() throws {
    #expect(try tarn("retention", "show", "a.realm").output == "none\n")
    let set = try tarn(
      "retention", "set", "a.realm", "--age", "7d", "--bytes", "5MB", "--old-values")
    #expect(set.status == 0)
    let shown = try tarn("retention", "show", "a.realm").output
    #expect(shown == "7d and 5.0 MB, with old values\n")
    #expect(try tarn("inspect", "a.realm").output.contains("7d and 5.0 MB, with old values"))
    #expect(try tarn("retention", "set", "a.realm", "--none").status == 0)
    #expect(try tarn("retention", "show", "a.realm").output == "none\n")
    #expect(try store.newestSnapshot().head.featureFlags == 0)
  }

  @Test(arguments: [
    (["get", "a.realm"], "'get' is not an action"), (["set", "a.realm"], "needs --age"),
    (["set", "a.realm", "--age", "long"], "'long' is not a duration"),
    (["set", "a.realm", "--none", "--age", "7d"], "--none cannot be combined"),
    (["show", "a.realm", "--none"], "takes no --none"),
  ])
  func whatDoesNotFitIsRefused(_ arguments: [String], _ message: String) throws {
    let refused = try ToolProcess(folder, ["retention"] + arguments).finish()
    #expect(refused.status == 2)
    #expect(refused.errors.contains(message))
  }

  @Test func thePatchShowsWhatChanged() throws {
    try store.setRetention(
      RetentionPolicy(RetentionLimits(versions: 10), keepsOldValues: true))
    try fill()
    let log = try tarn("log", "a.realm", "--patch", "--color", "never")
    let lines = log.output.split(separator: "\n").filter { !$0.hasPrefix("version") }
    #expect(
      lines == [
        "  Dog: 1 deleted", "    - Ann  age: 5", "  Dog: 1 value assigned",
        "    ~ Rex  age: 3 → 4", "  Dog: 2 inserted", "    + Rex  age: 3", "    + Ann  age: 5",
      ])
    let json = try tarn("log", "a.realm", "Dog", "--patch", "--json", "-n", "1").output
    #expect(
      json.contains(
        "\"changes\":{\"deleted\":[{\"key\":\"Ann\",\"old\":{\"name\":\"Ann\",\"age\":5}}]}"))
  }

  @Test func withoutOldValuesThePatchHasTheNewestOnes() throws {
    try store.setRetention(RetentionPolicy(RetentionLimits(versions: 10)))
    try fill()
    let log = try tarn("log", "a.realm", "--patch", "--color", "never")
    #expect(log.output.contains("    ~ Rex  age: 4\n"))
  }

  @Test func theLogCanBeFollowed() throws {
    let log = try ToolProcess(folder, ["log", "a.realm", "--follow", "--patch"])
    // Each commit keeps its record for whoever follows, who pins the version before.
    while store.activeVersionCount() == 0 { sched_yield() }
    try fill()
    #expect(try log.line()?.hasPrefix("version 1  ") == true)
    #expect(try log.line() == "  Dog: 2 inserted")
    log.signal(SIGTERM)
    #expect(try log.finish().status == 0)
  }

  @Test func aCursorIsShownAndChanged() throws {
    let cursor = try store.openCursor(
      CursorRequest(
        "w",
        selection: [
          FeedSelectionName(className: "Dog", condition: "age > 3", keyPaths: ["age"])
        ]))
    try fill()
    let shown = try tarn("cursor", "show", "a.realm", "w").output
    for line in [
      "state         held by process \(getpid())", "keeps         1.1 GB",
      "behind        3 versions, ", "selects       Dog where age > 3, only age",
    ] { #expect(shown.contains(line), "\(line)") }
    #expect(try tarn("cursor", "set", "a.realm", "w", "--keep", "2h").status == 0)
    #expect(try tarn("cursor", "show", "a.realm", "w").output.contains("keeps         2h\n"))
    #expect(try tarn("cursor", "set", "a.realm", "w").status == 2)
    #expect(try tarn("cursor", "show", "a.realm", "v").status == 1)
    let json = try tarn("cursor", "list", "a.realm", "--json").output
    #expect(json.contains("\"owner\":\(getpid())"))
    #expect(json.contains("\"behind\":3"))
    #expect(
      try tarn("inspect", "a.realm", "--json").output.contains("\"cursors\":[{\"name\":\"w\""))
    cursor.release()
  }
}
