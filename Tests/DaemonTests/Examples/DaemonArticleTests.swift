import Foundation
import Tarn
import TarnStore
import TestSupport
import Testing
import ToolSupport

@testable import TarnDaemon
@testable import TarnSync

/// The configurations of the article on the daemon, as they are printed there.
@MainActor @Suite(.timeLimit(.minutes(30)), .fewAtOnce) struct DaemonArticleTests {
  final class Order: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var status: String
    @Persisted var total: Double
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  final class Item: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var stock: Int
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  private let folder = TemporaryFolder()

  private static func article(_ name: String) throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    return try String(
      contentsOf: root.appendingPathComponent("Sources/Tarn/Documentation.docc/\(name).md"),
      encoding: .utf8)
  }

  private static func blocks(_ name: String) throws -> [String] {
    try article(name).components(separatedBy: "```yaml\n").dropFirst().map {
      $0.components(separatedBy: "```\n")[0]
    }
  }

  private func adapted(_ text: String) -> String {
    text.replacing("/srv/shop/", with: folder.path + "/")
      .replacing("/usr/local/bin/", with: folder.path + "/")
      .replacing("/var/log/tarn/", with: folder.path + "/")
      .replacing("/var/lib/tarn/", with: folder.path + "/")
      .replacing("/etc/tarn/", with: folder.path + "/")
  }

  private func check(_ path: String) throws -> String {
    let errors = folder.file("check-errors")
    let run = try ChildProcess(
      OwnProgram.sibling("tarn-daemon"), ["check", "--config", path], errors: errors
    ).finish()
    let said = try String(contentsOfFile: errors, encoding: .utf8)
    #expect(run.end == .exited(0), "\(run.lines)\n\(said)")
    return run.lines.joined(separator: "\n")
  }

  @Test func `the configuration delivers and synchronizes`() async throws {
    let server = try PostgresServer("-c fsync=off")
    let admin = try ServerConnection(ServerAddress(server.address("postgres")))
    try admin.run("CREATE ROLE shop SUPERUSER LOGIN", for: "test")
    try admin.run("CREATE DATABASE shop OWNER shop", for: "test")
    let shop = try ServerConnection(ServerAddress(server.address("shop", as: "shop")))
    _ = try ServerSetup.run(shop)
    let realm = try Realm(
      configuration: Realm.Configuration(
        fileURL: URL(filePath: folder.file("shop.tarn")), objectTypes: [Order.self, Item.self],
        durability: .relaxed), queue: nil)
    try ServerMigration(shop).run(realm.store.newestSnapshot().schema.schema)
    let script = try folder.file(
      "ship-orders", Array("#!/bin/sh\nexec cat >> '\(folder.file("shipped"))'\n".utf8))
    chmod(script, 0o755)
    let passwords = try folder.file("passwords", Array("*:*:*:shop:secret\n".utf8))
    chmod(passwords, 0o600)
    let blocks = try Self.blocks("Daemon")
    try #require(blocks.count == 2)
    let host = server.folder.replacing("/", with: "%2F")
    let text = adapted(blocks.joined()).replacing("db.example", with: host)
    let daemon = try DaemonProcess(folder, "http: {listen: $/door.sock}\n" + text)
    try realm.write {
      realm.create(Order.self, value: ["id": 1, "status": "paid", "total": 2])
      realm.create(Order.self, value: ["id": 2, "status": "open", "total": 3])
      realm.create(Item.self, value: ["id": 1, "stock": 5])
    }
    func written(_ name: String) -> String {
      let bytes = FileManager.default.contents(atPath: folder.file(name)) ?? Data()
      return String(decoding: bytes, as: UTF8.self)
    }
    try await yieldUntil { written("shipped").contains("\"status\":\"paid\"") }
    try await yieldUntil { written("orders.jsonl").contains("\"status\":\"paid\"") }
    #expect(!written("orders.jsonl").contains("\"status\":\"open\""))
    try await yieldUntil {
      try shop.query("SELECT id FROM \"Order\" ORDER BY id", for: "test") == [["1"], ["2"]]
    }
    try await yieldUntil {
      try shop.query("SELECT id FROM \"Item\"", for: "test") == [["1"]]
    }
    // The commands that the article names.
    let commands = Set(
      try Self.article("Daemon").replacing("\n", with: " ")
        .matches(of: /`tarn daemon ([a-z]+( --[a-z]+)*)`/).map { String($0.1) })
    #expect(commands.isSuperset(of: ["check", "check --unit", "reload", "run", "status"]))
    for command in commands.sorted() where command != "run" {
      let words = command.split(separator: " ").map(String.init)
      let run = try DaemonProcess.run(words + ["--config", daemon.configuration])
      #expect(run.end == .exited(0), "\(command): \(run.text)")
    }
    for form in ["--json", "--prometheus"] {
      let run = try DaemonProcess.run(["status", form, "--config", daemon.configuration])
      #expect(run.end == .exited(0), "\(form): \(run.text)")
    }
    #expect(daemon.stop() == .exited(0))
  }

  @Test func `the examples are fine together`() throws {
    let watches = folder.file("watch.d")
    try FileManager.default.createDirectory(atPath: watches, withIntermediateDirectories: false)
    let blocks = try Self.blocks("DaemonExamples")
    #expect(blocks.count == 3)
    for (number, block) in blocks.enumerated() {
      try Data(adapted(block).utf8).write(to: URL(filePath: "\(watches)/\(number).yaml"))
    }
    for program in ["mail-orders", "index-products", "refresh-pages"] {
      chmod(try folder.file(program, Array("#!/bin/sh\n".utf8)), 0o755)
    }
    #expect(try check(watches).contains("3 watches, no problem"))
  }

  /// Each key that the reader takes is named in the article.
  @Test func `the article has all keys`() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let reader = try String(
      contentsOf: root.appendingPathComponent(
        "Tools/TarnDaemon/Configuration/SettingsReader.swift"), encoding: .utf8)
    let read =
      /(?:strings?|required|mappings?|integer|bool|duration|size|keep|choice)\(\s*"([a-z-]+)"/
    let absolute = /absolute\("([a-z-]+)"/
    let keys = Set(
      reader.matches(of: read).map { String($0.1) }
        + reader.matches(of: absolute).map { String($0.1) } + ["mode"])
    #expect(keys.count > 30)
    let table = try #require(
      Self.article("DaemonReference").components(separatedBy: "## All keys\n").last?
        .components(separatedBy: "\n## ").first)
    #expect(keys.filter { !table.contains("`\($0)`") }.sorted() == [])
    // A key of several parts is in the row of each.
    for part in ["sync", "delivery", "exec", "webhook", "socket", "events"] {
      let function = reader.components(separatedBy: "private func \(part)(").last?
        .components(separatedBy: "\n  }\n").first
      let own = try #require(function).matches(of: read).map { String($0.1) }
      #expect(!own.isEmpty, "\(part)")
      let row = table.components(separatedBy: "\n").first { $0.hasPrefix("| `\(part)` |") }
      #expect(own.filter { row?.contains("`\($0)`") != true } == [], "\(part)")
    }
  }
}
