import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// `tarn log` and `tarn cursor`.
@Suite struct CursorToolTests {
  private let folder = TemporaryFolder()
  private let store: Store
  private let cursor: HeldCursor

  init() throws {
    var options = Store.Options()
    options.isDurable = false
    options.classes = [
      ClassDefinition(name: "Dog", properties: [.init(name: "age", type: .int)]),
      ClassDefinition(name: "Cat", properties: [.init(name: "age", type: .int)]),
    ]
    store = try StoreRegistry.open(folder.file("a.realm"), options)
    cursor = try store.openCursor(CursorRequest("indexer"))
    for (id, origin) in [(0, "first"), (1, "second"), (0, "third")] {
      try store.write { session in
        session.origin = origin
        _ = try session.create([:], in: ClassID(UInt32(id)))
      }
    }
  }

  private func tarn(_ arguments: String...) throws -> ToolProcess.Result {
    try ToolProcess(folder, arguments).finish()
  }

  @Test func theLogHasEachCommitNewestFirst() throws {
    let log = try tarn("log", "a.realm")
    #expect(log.status == 0)
    let lines = log.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 6)
    #expect(lines.first?.hasPrefix("version 3  ") == true)
    #expect(lines.first?.hasSuffix("  third") == true)
    #expect(lines.dropFirst().first == "  Dog: 1 inserted")
    #expect(lines.last == "  Dog: 1 inserted")
  }

  @Test func theLogOfAClassHasItsCommitsOnly() throws {
    let log = try tarn("log", "a.realm", "Cat")
    #expect(log.output.split(separator: "\n").count == 2)
    #expect(log.output.contains("second"))
    #expect(try tarn("log", "a.realm", "Cow").status == 1)
  }

  @Test func theLogIsCutByNumberAndAge() throws {
    #expect(try tarn("log", "a.realm", "-n", "1").output.split(separator: "\n").count == 2)
    #expect(try tarn("log", "a.realm", "--since", "2h").output.split(separator: "\n").count == 6)
    let refused = try tarn("log", "a.realm", "--since", "yesterday")
    #expect(refused.status == 2)
    #expect(refused.errors.contains("is not a duration"))
  }

  @Test func theLogAsJSON() throws {
    let log = try tarn("log", "a.realm", "--json", "--limit", "1")
    let line = try JSONSerialization.jsonObject(with: Data(log.output.utf8)) as? [String: Any]
    #expect(line?["version"] as? Int == 3)
    #expect(line?["origin"] as? String == "third")
    let classes = line?["classes"] as? [String: [String: Any]]
    #expect(classes?["Dog"]?["inserted"] as? Int == 1)
    #expect(classes?.count == 1)
  }

  @Test func cursorsAreListedWithTheirOwners() throws {
    let list = try tarn("cursor", "list", "a.realm")
    #expect(list.status == 0)
    let lines = list.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 2)
    #expect(lines.last?.hasPrefix("indexer ") == true)
    #expect(lines.last?.contains("held by process \(getpid())") == true)
    cursor.release()
    #expect(try tarn("cursor", "list", "a.realm").output.contains("free"))
  }

  @Test func aHeldCursorIsDeletedOnlyByForce() throws {
    let refused = try tarn("cursor", "delete", "a.realm", "indexer")
    #expect(refused.status == 1)
    #expect(refused.errors.contains("is held by"))
    #expect(try tarn("cursor", "delete", "a.realm", "indexer", "--force").status == 0)
    #expect(try store.cursors().isEmpty)
    let missing = try tarn("cursor", "delete", "a.realm", "indexer")
    #expect(missing.status == 1)
    #expect(missing.errors.contains("has no cursor 'indexer'"))
  }

  @Test func `a cursor goes on under another name`() throws {
    let held = try tarn("cursor", "rename", "a.realm", "indexer", "search")
    #expect(held.status == 1)
    cursor.release()
    #expect(try tarn("cursor", "rename", "a.realm", "indexer", "search").status == 0)
    #expect(try store.cursors().map(\.record.name) == ["search"])
    let gone = try tarn("cursor", "rename", "a.realm", "indexer", "other")
    #expect(gone.status == 1)
    #expect(gone.errors.contains("indexer"), "\(gone.errors)")
    #expect(try tarn("cursor", "rename", "a.realm", "search").status == 2)
    #expect(try tarn("cursor", "show", "a.realm", "search", "other").status == 2)
  }
}
