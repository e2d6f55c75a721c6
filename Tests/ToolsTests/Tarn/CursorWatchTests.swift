import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// `tarn watch --cursor`.
@Suite struct CursorWatchTests {
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
    try add("Rex", 3)
  }

  private func add(_ name: String, _ age: Int) throws {
    try store.write { session in
      _ = try session.create(
        [ColumnID(0): .string(name), ColumnID(1): .int(Int64(age))], in: Self.dogs)
    }
  }

  private func setAge(_ name: String, _ age: Int) throws {
    try store.write { session in
      let key = try #require(try session.find(primaryKey: .string(name), in: Self.dogs))
      _ = try session.set(ColumnID(1), at: key, in: Self.dogs, to: .int(Int64(age)))
    }
  }

  private func watch(_ arguments: String..., input: String = "") throws -> ToolProcess.Result {
    try ToolProcess(
      folder, ["watch", "a.realm", "Dog", "--cursor", "w", "--json"] + arguments, input: input
    ).finish()
  }

  /// The line of a batch.
  private func batch(_ filter: String) throws -> [String: Any] {
    try json(
      ToolProcess(
        folder, ["watch", "a.realm", "Dog", filter, "--cursor", "w", "--json", "--exit-after", "1"]
      ).finish().output)
  }

  private func json(_ output: String) throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
  }

  /// The members `key` of a list of changes.
  private func keys(_ line: [String: Any], _ kind: String) -> [String] {
    (line[kind] as? [[String: Any]])?.compactMap { $0["key"] as? String } ?? []
  }

  @Test func itGoesOnWhereItEnded() throws {
    let first = try json(watch("--exit-after", "1", "--old-values").output)
    #expect(first["fullResync"] as? String == "snapshot")
    #expect(keys(first, "objects") == ["Rex"])
    try setAge("Rex", 4)
    try add("Ann", 5)
    try setAge("Rex", 6)
    let second = try json(watch("--exit-after", "1", "--old-values").output)
    #expect(second["fullResync"] == nil)
    #expect(second["repeated"] == nil)
    #expect(keys(second, "inserted") == ["Ann"])
    let modified = (second["modified"] as? [[String: Any]])?.first
    #expect(modified?["properties"] as? [String] == ["age"])
    #expect(modified?["old"] as? [String: Int] == ["age": 3])
    #expect((modified?["new"] as? [String: Any])?["age"] as? Int == 6)
  }

  /// Kinds compare the object before with the object after, which needs its old values.
  @Test func aConditionKeepsOldValues() throws {
    _ = try batch("age > 2")
    try setAge("Rex", 4)
    try add("Ann", 1)
    try setAge("Ann", 2)
    let line = try batch("age > 2")
    #expect(keys(line, "modified") == ["Rex"])
    #expect(line["entered"] == nil)
    #expect(line["left"] == nil)
  }

  @Test func aNewCursorMayStartWithTheChanges() throws {
    let watch = try ToolProcess(
      folder,
      ["watch", "a.realm", "Dog", "age > 3", "--cursor", "w", "--no-initial", "--exit-after", "1"])
    while try store.cursors().isEmpty { sched_yield() }
    try add("Bob", 1)
    try add("Ann", 5)
    #expect(try watch.line()?.hasPrefix("version 3  Dog  since version ") == true)
    #expect(try watch.line() == "  + Ann  age: 5")
    #expect(try watch.finish().status == 0)
  }

  @Test func onlyAPositionAcknowledges() throws {
    let arguments = ["watch", "a.realm", "Dog", "--cursor", "w", "--json", "--ack", "manual"]
    let first = try ToolProcess(folder, arguments).finish()
    #expect(first.status == 0)
    let position = try #require(try json(first.output)["position"] as? String)
    let acknowledged = { try store.cursors().first?.record.reason == nil }
    #expect(try !acknowledged())
    let wrong = try ToolProcess(folder, arguments, input: "nonsense\n").finish()
    #expect(wrong.status == 1)
    #expect(wrong.errors.contains("'nonsense' is not a position"))
    let other = String(position.dropLast()) + "?"
    #expect(try ToolProcess(folder, arguments, input: other + "\n").finish().status == 1)
    #expect(try !acknowledged())
    // A whole line of the output will do.
    try add("Ann", 5)
    let again = try ToolProcess(folder, arguments, input: first.output).finish()
    #expect(again.errors.contains("is not that of the last batch"))
    #expect(try !acknowledged())
    let last = try ToolProcess(
      folder, arguments + ["--exit-after", "1"], input: again.output
    ).finish()
    #expect(last.status == 0)
    #expect(try acknowledged())
  }

  /// After the end of the input nobody can acknowledge.
  @Test func endsWithItsInput() throws {
    #expect(try watch("--exit-after", "1").status == 0)
    let watch = try ToolProcess(
      folder, ["watch", "a.realm", "Dog", "--cursor", "w", "--ack", "manual"])
    #expect(try watch.finish() == ToolProcess.Result(status: 0, output: "", errors: ""))
    #expect(try store.cursors().first?.isHeld == false)
  }

  @Test func aHeldCursorCanBeTaken() throws {
    let held = try store.openCursor(CursorRequest("w"))
    defer { held.release() }
    let refused = try watch("--exit-after", "1")
    #expect(refused.status == 1)
    #expect(refused.errors.contains("is held by process \(getpid())"))
    #expect(try watch("--exit-after", "1", "--take").status == 0)
    #expect(StorageError.code { try held.state(in: store.newestSnapshot()) } == .conflict)
  }

  @Test func aSignalEndsItInOrder() throws {
    let watch = try ToolProcess(folder, ["watch", "a.realm", "Dog", "--cursor", "w"])
    #expect(try watch.line()?.contains("full resync (snapshot)") == true)
    #expect(try watch.line() == "  = Rex  age: 3")
    watch.signal(SIGTERM)
    #expect(try watch.finish() == ToolProcess.Result(status: 0, output: "", errors: ""))
    let known = try #require(try store.cursors().first)
    #expect(!known.isHeld)
  }

  @Test(arguments: [
    (["--cursor", "w", "--sort", "age"], "--cursor and --sort cannot be combined"),
    (["--ack", "manual"], "--ack needs --cursor"),
    (["--cursor", "w", "--keep", "soon"], "'soon' is not a limit"),
    (["--cursor", "w", "--ack", "later"], "--ack takes one of auto, manual"),
  ])
  func whatDoesNotFitIsRefused(_ arguments: [String], _ message: String) throws {
    let refused = try ToolProcess(folder, ["watch", "a.realm", "Dog"] + arguments).finish()
    #expect(refused.status == 2)
    #expect(refused.errors.contains(message))
  }

  @Test func aLimitIsStored() throws {
    _ = try watch("--exit-after", "1", "--keep", "7d,500MB")
    let limits = try #require(try store.cursors().first).record.limits
    #expect(limits == CursorLimits(age: 604_800_000_000, bytes: 500_000_000))
  }
}
