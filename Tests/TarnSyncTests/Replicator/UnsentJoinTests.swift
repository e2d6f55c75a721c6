import Foundation
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Unsent commits that were joined.
@Suite final class UnsentJoinTests: ReplicaPair {
  private typealias Object = FileReplica.Object

  /// Synchronizes, and loses the answer to the first push.
  private func loseAnswer(_ replica: FileReplica) throws {
    try replica.connected().pull()
    replica.losesAnswer = true
    #expect(throws: FileReplica.LostAnswer.self) { try replica.connected().sendAll() }
    replica.disconnect()
  }

  private func join(_ replica: FileReplica) throws {
    replica.disconnect()
    #expect(try replica.join())
    #expect(try ReplicaReport.of(replica.store)?.unsentCommits == 1)
    // They are joined already.
    #expect(try !replica.join())
  }

  private func expect(_ objects: [String: Object], line: Int = #line) throws {
    let location = SourceLocation(fileID: #fileID, filePath: #filePath, line: line, column: 1)
    try synchronize()
    #expect(try a.objects() == objects, sourceLocation: location)
    #expect(try b.objects() == objects, sourceLocation: location)
    #expect(try ReplicaReport.of(a.store)?.unsentCommits == 0, sourceLocation: location)
  }

  private func insert(_ items: [Int64], at index: Int, _ replica: FileReplica) throws {
    try replica.commit { session in
      let found = try session.find(primaryKey: .int(1), in: FileBox.id)
      let key = try found ?? session.create([ColumnID(0): .int(1)], in: FileBox.id)
      try session.insert(items.map { .int($0) }, at: index, in: FileBox.place(key, 1))
    }
  }

  private func remove(at index: Int, _ replica: FileReplica) throws {
    try change(replica, 1) { try $0.remove(index..<index + 1, in: $1) }
  }

  private func items(_ replica: FileReplica) throws -> [Int64] {
    let reader = try SnapshotReader(replica.store.newestSnapshot())
    let rows = PastRows(reader, RecordedPast(at: reader.snapshot.version))
    let key = try #require(try rows.find(primaryKey: .int(1), in: FileBox.id))
    return try rows.sequence(at: FileBox.place(key, 1))?.parts().values.map { value in
      guard case .int(let number) = value else { trap("a number") }
      return number
    } ?? []
  }

  @Test func `commits are joined when their records are larger than the limit`() throws {
    try synchronize()
    a.disconnect()
    for _ in 1...20 { try insert([1], at: 0, a) }
    let snapshot = try a.store.newestSnapshot()
    let bytes = try withExtendedLifetime(snapshot) {
      try ChangeLog.byteCount(
        after: a.replica.state.done.version, upTo: snapshot.version, most: .max,
        in: snapshot.transaction)
    }
    #expect(try !a.join(above: bytes))
    #expect(try ReplicaReport.of(a.store)?.unsentCommits == 20)
    #expect(try a.join(above: bytes - 1))
    #expect(try ReplicaReport.of(a.store)?.unsentCommits == 1)
  }

  @Test func `they reach the server as one transaction`() throws {
    try a.connected().pull()
    for number in 1...20 { try a.create("Thing", .int(Int64(number)), a: number % 12 + 1) }
    try a.create("Note", .string("n"), a: 1)
    try a.delete("Thing", .int(20))
    try join(a)
    try a.synchronize()
    #expect(try server.value("SELECT count(*) FROM \"Thing\"") == "19")
    let count = try server.value(
      """
      SELECT count(DISTINCT x) FROM (
        SELECT _tarn_xid x FROM "Thing" UNION SELECT _tarn_xid FROM "Note") t
      """)
    #expect(count == "1")
    try synchronize()
    #expect(try a.objects() == b.objects())
  }

  @Test func `each value has the time of its commit`() throws {
    try a.create("Thing", .int(1), a: 1)
    try synchronize()
    try a.set("Thing", .int(1), 1, .int(2))
    try b.set("Thing", .int(1), 1, .int(3))
    try b.set("Thing", .int(1), 2, .int(3))
    try b.synchronize()
    // As two seconds later.
    a.store.raiseStamp(atLeast: UInt64(Date().timeIntervalSince1970 * 1e6) + 2_000_000)
    try a.set("Thing", .int(1), 2, .int(4))
    try join(a)
    try expect(["Thing 1": Object(a: 3, rest: "4")])
  }

  @Test
  func `commits after them are sent by themselves, and those that are joined later with them`()
    throws
  {
    try a.create("Thing", .int(1), a: 1)
    try synchronize()
    try a.set("Thing", .int(1), 1, .int(2))
    try a.create("Thing", .int(2), a: 1)
    try join(a)
    try a.set("Thing", .int(1), 2, .int(5))
    try a.delete("Thing", .int(2))
    try a.create("Thing", .int(3), a: 1)
    try join(a)
    try a.set("Thing", .int(3), 1, .int(7))
    try b.create("Thing", .int(2), a: 9)
    try b.synchronize()
    // Two creations of one key are one object, and this one's deletion is its.
    try expect(["Thing 1": Object(a: 2, rest: "5"), "Thing 3": Object(a: 7)])
  }

  @Test func `a deletion wins, and links to the object come back with it`() throws {
    try a.create("Note", .string("n"), a: 1)
    try a.create("Thing", .int(1), a: 1, note: "n")
    try a.create("Note", .string("m"), a: 1)
    try synchronize()
    try a.delete("Note", .string("n"))
    try a.set("Note", .string("m"), 1, .int(2))
    try join(a)
    try b.set("Note", .string("n"), 1, .int(5))
    try b.delete("Note", .string("m"))
    try b.synchronize()
    try expect(["Thing 1": Object(a: 1)])
    #expect(try server.value("SELECT note FROM \"Thing\"") == "n")
    try a.create("Note", .string("n"), a: 6)
    try join(a)
    try expect(["Thing 1": Object(a: 1, note: "n"), "Note n": Object(a: 6)])
  }

  @Test func `a refused change is taken back alone`() throws {
    try a.create("Thing", .int(1), a: 1)
    try synchronize()
    try a.set("Thing", .int(1), 1, .int(13))
    try a.create("Thing", .int(2), a: 13)
    try a.create("Thing", .int(3), a: 3)
    try a.set("Thing", .int(1), 2, .int(7))
    try join(a)
    try a.set("Thing", .int(3), 2, .int(8))
    try expect(["Thing 1": Object(a: 1), "Thing 3": Object(a: 3, rest: "8")])
    #expect(a.refused.map(\.objects).map { $0.map(\.primaryKey) } == [[.int(1)], [.int(2)]])
  }

  @Test func `elements keep their names`() throws {
    try insert([1, 2, 3], at: 0, a)
    try synchronize()
    try insert([10, 11], at: 1, a)
    try insert([12], at: 3, a)
    try remove(at: 0, a)
    try join(a)
    try insert([13], at: 0, a)
    try join(a)
    try insert([20, 21], at: 1, b)
    try remove(at: 0, b)
    try synchronize()
    let shown = try items(a)
    #expect(try items(b) == shown)
    #expect(Set(shown) == [2, 3, 10, 11, 12, 13, 20, 21])
    #expect(shown.count == 8)
  }

  // MARK: - Lost answers

  /// A push that the server has although its answer was lost, and that was joined with later
  /// commits.
  @Test func `what others have done since to a push without an answer stays done`() throws {
    try insert([1], at: 0, a)
    try a.create("Thing", .int(1), a: 1)
    try synchronize()
    try insert([2, 3], at: 1, a)
    try a.create("Thing", .int(2), a: 2)
    try a.create("Thing", .int(3), a: 2)
    try a.set("Thing", .int(1), 1, .int(5))
    try loseAnswer(a)
    try insert([4], at: 3, a)
    try a.set("Thing", .int(3), 2, .int(1))
    try join(a)
    try b.synchronize()
    #expect(try items(b) == [1, 2, 3])
    try remove(at: 1, b)
    try b.delete("Thing", .int(2))
    try b.set("Thing", .int(1), 1, .int(6))
    try b.synchronize()
    try synchronize()
    #expect(try items(a) == [1, 3, 4])
    #expect(try items(b) == [1, 3, 4])
    for replica in [a, b] {
      var objects = try replica.objects()
      objects["Box 1"] = nil
      #expect(objects == ["Thing 1": Object(a: 6), "Thing 3": Object(a: 2, rest: "1")])
    }
  }

  @Test func `a push of joined commits without an answer is not repeated`() throws {
    try a.connected().pull()
    try insert([1, 2], at: 0, a)
    try a.create("Thing", .int(1), a: 1)
    try a.create("Thing", .int(2), a: 1)
    try join(a)
    try loseAnswer(a)
    try b.synchronize()
    try b.delete("Thing", .int(1))
    try remove(at: 0, b)
    try b.synchronize()
    try synchronize()
    #expect(try items(a) == [2])
    #expect(try items(b) == [2])
    for replica in [a, b] { #expect(try replica.objects()["Thing 1"] == nil) }
    #expect(try server.value("SELECT count(*) FROM \"Thing\"") == "1")
  }

  @Test func `a file without them after all goes back to what the server has`() throws {
    try a.create("Thing", .int(1), a: 1)
    try synchronize()
    try a.set("Thing", .int(1), 1, .int(2))
    try a.create("Thing", .int(2), a: 2)
    try join(a)
    try ResetRule(.discard).run(a.connected()) {
      try ReplicaReconciliation(a.connected(), isOtherServer: false)
        .run(a.connected().downloaded, all: true)
    }
    try expect(["Thing 1": Object(a: 1)])
  }
}
