import Foundation
import LocalServer
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// A server whose disk is full.
@Suite final class FullDiskTests {
  private static let server = Result { try PostgresServer(onDiskOf: "72m") }
  /// In a container root may be without the right.
  private static var isPossible: Bool { geteuid() == 0 && (try? server.get()) != nil }

  private let folder = TemporaryFolder()
  private var files: [FileReplica] = []
  private let owner: ServerConnection

  init() throws {
    let server = try Self.server.get()
    owner = try ServerConnection(ServerAddress(server.address("postgres")))
    _ = try ServerSetup.run(owner)
    for number in 0..<2 {
      files.append(
        try FileReplica(folder.file("\(number)")) {
          try ServerConnection(ServerAddress(server.address("postgres", as: "client")))
        })
    }
    try ServerMigration(owner).run(files[0].store.newestSnapshot().schema.schema)
    try owner.run("CREATE ROLE client LOGIN; GRANT tarn_client TO client", for: "make a role")
  }

  @Test(.enabled("a small disk needs the right to mount") { FullDiskTests.isPossible })
  func `a push waits until there is room, and nothing is lost`() throws {
    let (a, b) = (files[0], files[1])
    try a.create("Note", .string("n"), a: 1)
    for file in [a, b] { try file.synchronize() }
    // Takes what is free, up to a few pages.
    try owner.run(
      "CREATE TABLE filler (bytes bytea); ALTER TABLE filler ALTER bytes SET STORAGE EXTERNAL",
      for: "fill")
    var isFull = false
    var size = 4_000_000
    while size > 1_000 {
      isFull =
        owner.refusal(
          "INSERT INTO filler SELECT decode(repeat('ab', \(size)), 'hex')") == "53100"
      if isFull { size /= 2 }
    }
    #expect(isFull)
    let text = Value.string(String(repeating: "tarn ", count: 100_000))
    for number in 1...20 {
      try a.create("Note", .string("n\(number)"), a: number)
      try a.set("Note", .string("n\(number)"), 2, text)
    }
    #expect { try a.synchronize() } throws: {
      ($0 as? ServerError).map { ServerRefusal($0.state) } == .again
    }
    #expect(a.refused.isEmpty)
    #expect(try a.objects().count == 21)
    // Others read meanwhile.
    try b.connected().pull()
    #expect(try b.objects().count == 1)
    try owner.run("DROP TABLE filler", for: "make room")
    for file in [a, b] { try file.synchronize() }
    #expect(try a.objects() == b.objects())
    #expect(try b.objects().count == 21)
  }
}
