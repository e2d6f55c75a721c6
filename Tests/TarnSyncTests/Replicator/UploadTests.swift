import Foundation
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Objects from before the first session, which are sent in parts.
@Suite final class UploadTests {
  private static let count: Int64 = 4_000

  private let database: PostgresDatabase
  private let server: ServerConnection
  private let file: FamilyFile
  private let path: String
  private let folder = TemporaryFolder()

  init() throws {
    let database = try PostgresDatabase()
    self.database = database
    server = try database.connect()
    let role = try database.makeClient(preparing: server) { [folder] in
      try FamilyFile.open(folder.file("schema")).newestSnapshot().schema.schema
    }
    path = folder.file("a")
    file = try FamilyFile(
      path,
      filling: { session in for key in 1...Self.count { try session.makeParent(key) } },
      { try database.connect(as: role) })
    file.replicator.uploadMax = 50
  }

  private var bytes: Int {
    get throws {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      return try #require(attributes[.size] as? Int)
    }
  }

  private func expectAll(and others: Int64) throws {
    let count = try server.value("SELECT count(*) FROM \"Parent\"")
    #expect(count == "\(Self.count + others)")
    #expect(try ReplicaReport.of(file.store)?.unsentCommits == 0)
  }

  @Test func `the file uses the same pages for the entries of each part`() throws {
    let before = try bytes
    try file.replicator.synchronize()
    try expectAll(and: 0)
    // About 65 bytes an object, and 80 times the few pages of a part if none were used again.
    let growth = try bytes - before
    #expect(growth < 1 << 20, "\(growth) bytes")
  }

  @Test func `commits made meanwhile are sent after some parts, not after all`() throws {
    var next = Self.count
    let file = self.file
    file.replicator.answered = {
      next += 1
      if next <= Self.count + 3 { try file.commit { try $0.makeParent(next) } }
    }
    try file.replicator.synchronize()
    try expectAll(and: 3)
    let place = try server.value(
      """
      SELECT count(DISTINCT _tarn_xid) FROM "Parent"
      WHERE _tarn_xid < (SELECT min(_tarn_xid) FROM "Parent" WHERE _id > \(Self.count))
      """)
    #expect(place == "50")
    file.replicator.answered = {}
  }
}
