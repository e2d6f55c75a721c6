import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Primary keys that the server's texts cannot have.
@Suite final class NulKeyTests: ReplicaPair {
  private let (nul, picture) = (Value.string("\u{0}"), Value.string("\u{2400}"))
  private let words = "has a NUL in it, which PostgreSQL's keys cannot have"

  @Test func `a commit with such a key is rolled back`() throws {
    try synchronize()
    for replica in [a, b] { try replica.create("Note", nul, a: 1) }
    a.pause()
    try a.create("Note", picture, a: 5)
    a.pause()
    try a.create("Thing", .int(1), a: 2, note: "\u{0}")
    try a.set("Note", nul, 1, .int(3))
    try synchronize()
    for replica in [a, b] {
      #expect(replica.refused.first?.error.state == "22021")
      #expect(replica.refused.first?.error.message.contains(words) == true)
      let objects = try replica.objects()
      #expect(objects["Note \(picture)"] == FileReplica.Object(a: 5))
      #expect(objects["Note \(nul)"] == nil)
      #expect(objects["Thing 1"]?.note == nil)
    }
    #expect(try server.rows("SELECT _id, a FROM \"Note\"") == [["\u{2400}", "5"]])
  }

  @Test func `an object from before the first exchange stays, and is named`() throws {
    let older = try olderStore { session in
      for (note, thing, key) in [(nul, 1, 1), (picture, 2, 5)] as [(Value, Int64, Int64)] {
        let found = try session.create(
          [ColumnID(0): note, ColumnID(1): .int(key)], in: ClassID(1))
        try session.create(
          [ColumnID(0): .int(thing), ColumnID(1): .int(2), ColumnID(3): .link(found)],
          in: ClassID(0))
      }
    }
    defer { older.end() }
    for replica in [older, a, older] { try replica.synchronize() }
    let stuck = try StuckClasses.read(StuckClasses.olderKey, in: older.store.newestSnapshot())
    #expect(stuck.classes.map(\.className).sorted() == ["Note", "Thing"])
    #expect(stuck.classes.allSatisfy { $0.error.message.contains(words) })
    #expect(try older.objects().count == 4)
    #expect(try a.objects().keys.sorted() == ["Note \(picture)", "Thing 2"])
    #expect(try server.rows("SELECT _id, a FROM \"Note\"") == [["\u{2400}", "5"]])
  }
}
