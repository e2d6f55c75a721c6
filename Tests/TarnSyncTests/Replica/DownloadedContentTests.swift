import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Contents that a store changes after a download, and that others change meanwhile.
@Suite final class DownloadedContentTests: ReplicaPair {
  /// Lets `a` send a commit, so that what it downloads is later than what it has sent.
  private func make() throws {
    try makeBox(a, [1, 2])
    try synchronize()
    try change(a, 3) { try $0.set(.int(7), forKey: "own", inMap: $1) }
    try synchronize()
  }

  private func insert(_ value: Int64, at index: Int, _ replica: FileReplica) throws {
    try change(replica, 1) { try $0.insert([.int(value)], at: index, in: $1) }
  }

  @Test func `a downloaded element is not sent as one of the store's own`() throws {
    try make()
    try insert(11, at: 2, b)
    try b.synchronize()
    try a.synchronize()
    try insert(9, at: 2, a)
    try insert(5, at: 3, b)
    try b.synchronize()
    try synchronize()
    let items = try server.value("SELECT items::text FROM \"Box\"")
    #expect(items == "[1, 2, 9, 11, 5]")
    #expect(try a.objects() == b.objects())
  }

  @Test func `an element that SQL has written is not sent as one of the store's own`() throws {
    try make()
    try server.rows("UPDATE \"Box\" SET items = items || '[5]'")
    try a.synchronize()
    try insert(9, at: 0, a)
    try server.rows("UPDATE \"Box\" SET items = items || '[6]'")
    try synchronize()
    #expect(try server.value("SELECT items::text FROM \"Box\"") == "[9, 1, 2, 5, 6]")
    #expect(try a.objects() == b.objects())
  }

  @Test func `removals of downloaded elements hold beside changes of others`() throws {
    try make()
    try change(b, 2) { try $0.insert(.string("theirs"), intoSet: $1) }
    try change(b, 3) { try $0.set(.int(1), forKey: "theirs", inMap: $1) }
    try b.synchronize()
    try a.synchronize()
    try change(b, 2) { try $0.remove(.string("theirs"), fromSet: $1) }
    try change(b, 3) { try $0.removeValue(forKey: "theirs", fromMap: $1) }
    try b.synchronize()
    try change(a, 2) { try $0.insert(.string("own"), intoSet: $1) }
    try change(a, 3) { try $0.set(.int(8), forKey: "own", inMap: $1) }
    try synchronize()
    let row = try server.rows("SELECT tags::text, scores::text FROM \"Box\"")
    #expect(row == [["[\"own\"]", "{\"own\": 8}"]])
    #expect(try a.objects() == b.objects())
  }
}
