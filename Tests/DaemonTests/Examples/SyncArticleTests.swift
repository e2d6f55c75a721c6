import Foundation
import Tarn
import TarnStore
import TestSupport
import Testing
import ToolSupport

@testable import TarnSync

/// The commands and programs of the articles on synchronization, as they are printed there: from an
/// empty home directory, with a server of this machine in place of the one that they name.
@MainActor @Suite(.timeLimit(.minutes(30)), .fewAtOnce) struct SyncArticleTests {
  final class Note: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var text: String
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  private let folder = TemporaryFolder()
  private let server: PostgresServer
  private let home: String

  init() throws {
    // Roles belong to the whole server.
    server = try PostgresServer("-c fsync=off")
    home = folder.file("home")
    try FileManager.default.createDirectory(
      atPath: home, withIntermediateDirectories: false)
    let first = try ServerConnection(ServerAddress(server.address("postgres")))
    try first.run("CREATE ROLE admin SUPERUSER LOGIN", for: "test")
    try first.run("CREATE DATABASE todo OWNER admin", for: "test")
  }

  // MARK: - The articles

  private static let onServers = ["BeyondOneMachine", "RunningSync"]

  private static func article(_ name: String) throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    return try String(
      contentsOf: root.appendingPathComponent("Sources/Tarn/Documentation.docc/\(name).md"),
      encoding: .utf8)
  }

  /// The blocks in a language; "" for those that name none, which a shell runs.
  private static func blocks(_ language: String, _ name: String) throws -> [String] {
    var (blocks, block): ([String], [String]?) = ([], nil)
    var isWanted = false
    for line in try article(name).components(separatedBy: "\n") {
      if !line.hasPrefix("```") {
        block?.append(line)
      } else if let lines = block {
        if isWanted { blocks.append(lines.joined(separator: "\n") + "\n") }
        block = nil
      } else {
        (block, isWanted) = ([], line == "```" + language)
      }
    }
    return blocks
  }

  /// The texts in back quotes.
  private static func quoted(_ name: String) throws -> [String] {
    let parts = try article(name).components(separatedBy: "\n```")
    // Every other one is a block.
    let text = stride(from: 0, to: parts.count, by: 2).map { parts[$0] }.joined(separator: "\n")
    return text.replacing("\n", with: " ").matches(of: /`+([^`]+)`+/).map { String($0.1) }
  }

  private var host: String { server.folder.replacing("/", with: "%2F") }
  private func address(as role: String) -> String { "postgresql://\(role)@\(host)/todo" }
  private func adapted(_ text: String) -> String { text.replacing("db.example", with: host) }

  // MARK: - Running

  private func process(_ command: String, errors: String) throws -> ChildProcess {
    let programs = URL(filePath: OwnProgram.sibling("tarn")).deletingLastPathComponent().path
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return try ChildProcess(
      "sh", ["-c", "cd '\(folder.path)' && \(command)"],
      environment: ["HOME": home, "XDG_DATA_HOME": "", "PATH": "\(programs):\(path)"],
      errors: errors)
  }

  @discardableResult
  private func run(
    _ command: String, _ position: SourceLocation = #_sourceLocation
  ) throws -> [String] {
    let errors = folder.file("errors")
    let (lines, end) = try process(command, errors: errors).finish()
    let said = try String(contentsOfFile: errors, encoding: .utf8)
    #expect(end == .exited(0), "\(command): \(said)", sourceLocation: position)
    return lines
  }

  private func laptop() throws -> Realm {
    let realm = try Realm(
      configuration: Realm.Configuration(
        fileURL: URL(filePath: folder.file("laptop.realm")), objectTypes: [Todo.self, Note.self],
        durability: .relaxed))
    try realm.write {
      for (id, owner, priority) in [("a", "frodo", 1), ("b", "sam", 8), ("c", "sam", 2)] {
        realm.create(
          Todo.self, value: ["_id": id, "owner": owner, "title": "x", "priority": priority])
      }
      realm.create(Note.self, value: ["_id": 1, "text": "y"])
    }
    return realm
  }

  private func todos(_ realm: Realm) -> [String] {
    realm.refresh()
    return realm.objects(Todo.self).map(\._id).sorted()
  }

  // MARK: - Tests

  @Test func `the commands on synchronizing stores do what the article says`() async throws {
    let laptop = try laptop()
    let blocks = try Self.blocks("", "BeyondOneMachine")
    let first = try #require(blocks.first { $0.contains("server init") })
    let second = try #require(blocks.first { $0.contains("--where") })
    var sessions: [ChildProcess] = []
    for line in adapted(first).split(separator: "\n").map(String.init) {
      if line.hasSuffix("--follow") {
        sessions.append(try process("exec \(line)", errors: folder.file("\(sessions.count)")))
      } else {
        try run(line)
      }
    }
    #expect(sessions.count == 2)
    let phone = folder.file("phone.realm")
    try await yieldUntil { FileManager.default.fileExists(atPath: phone) }
    try await yieldUntil {
      try run("tarn sync status phone.realm").contains("downloaded    yes")
    }
    let other = try Realm(
      configuration: Realm.Configuration(
        fileURL: URL(filePath: phone), objectTypes: [Todo.self, Note.self]), queue: nil)
    try await yieldUntil { todos(other) == ["a", "b", "c"] }
    try other.write { other.object(ofType: Todo.self, forPrimaryKey: "a")?.title = "from phone" }
    try await yieldUntil {
      laptop.refresh()
      return laptop.object(ofType: Todo.self, forPrimaryKey: "a")?.title == "from phone"
    }
    sessions[0].signal(SIGTERM)
    #expect(sessions[0].wait() == .exited(0))
    // Some of the objects.
    let chosen = adapted(second).replacing("\\\n", with: " ")
    sessions[0] = try process("exec \(chosen)", errors: folder.file("chosen"))
    try await yieldUntil { todos(laptop) == ["a", "b"] }
    #expect(laptop.objects(Note.self).count == 1)
    let status = try run("tarn sync status laptop.realm").joined(separator: "\n")
    for part in ["Todo: owner == \"frodo\"", "priority > 7", "not sent      nothing"] {
      #expect(status.contains(part), "\(status)")
    }
    for session in sessions {
      session.signal(SIGTERM)
      #expect(session.wait() == .exited(0))
    }
  }

  @Test func `each command that the articles name runs`() async throws {
    _ = try laptop()
    let admin = address(as: "admin")
    try run("tarn server init \(admin)")
    try run("tarn server migrate \(admin) laptop.realm")
    let connection = try ServerConnection(ServerAddress(admin))
    try connection.run(
      "CREATE TABLE book (isbn text PRIMARY KEY, title text); CREATE TABLE shelf (id int);"
        + " CREATE TABLE \"Reading\" (id int);"
        + " CREATE SCHEMA app; CREATE TABLE app.orders (id int PRIMARY KEY)", for: "test")
    let names = try (Self.onServers + ["FromAtlasDeviceSync"]).flatMap(Self.quoted)
    let commands = names.filter { $0.hasPrefix("tarn ") && $0.contains("URL") }
    // What is forgotten is what was adopted.
    let order = Set(commands).sorted { !$0.contains(" forget ") && $1.contains(" forget ") }
    for command in order.filter({ $0.contains(" adopt ") })
      + order.filter({ !$0.contains(" adopt ") })
    {
      // What stands for a name in the article.
      let adopts = command.contains(" adopt ") || command.contains(" forget ")
      let words = command.split(separator: " ").map { word in
        switch word {
        case "URL": "'\(admin)'"
        case "CLASS": adopts ? "Book" : "Todo"
        case "TABLE": adopts ? "book" : "shelf"
        case "FILE": "laptop.realm"
        default: String(word)
        }
      }
      try run(words.joined(separator: " "))
    }
    let actions = Set(commands.compactMap { $0.split(separator: " ").dropFirst(2).first })
    #expect(actions.isSuperset(of: ["adopt", "depends", "forget", "restored", "status", "touch"]))
    let statements = names.filter { $0.contains(/^(SELECT|CREATE|REVOKE|GRANT|ALTER) .*[^.]$/) }
      .filter { $0.contains("\"") || $0.contains("'") }
    for statement in statements { try connection.run(statement, for: "test") }
    #expect(statements.count >= 3, "\(statements)")
    try runOtherBlocks()
  }

  /// The blocks that `the commands on synchronizing stores do what the article says` does not run.
  private func runOtherBlocks() throws {
    // In this one a migration has renamed a property.
    for ending in ["", "-lock", "-signal"] {
      try? FileManager.default.removeItem(atPath: folder.file("laptop.realm") + ending)
    }
    var options = Store.Options()
    options.classes = [
      ClassDefinition(
        name: "Todo",
        properties: [
          .init(name: "_id", type: .string, isIndexed: true, isPrimaryKey: true),
          .init(name: "owner", type: .string), .init(name: "name", type: .string),
          .init(name: "priority", type: .int),
        ])
    ]
    _ = try StoreRegistry.open(folder.file("laptop.realm"), options)
    let blocks = try Self.onServers.flatMap { try Self.blocks("", $0) }.filter { block in
      !block.contains("server init") && !block.contains("--where")
    }
    #expect(!blocks.isEmpty)
    for block in blocks {
      // Nothing waits in this file, so there is nothing to skip.
      let lines = block.split(separator: "\n").filter { !$0.contains("tarn sync skip") }
      try run(adapted(lines.joined(separator: "\n")))
    }
  }

  /// What the article shows is what is compiled here.
  @Test func `the article has this program`() throws {
    let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let file = try String(
      contentsOf: here.appendingPathComponent("OpenTodos.swift"), encoding: .utf8)
    #expect(try Self.blocks("Swift", "FromAtlasDeviceSync") == [file])
    // Blocks that are only indented would not be found.
    for name in Self.onServers + ["FromAtlasDeviceSync", "Daemon", "DaemonExamples"] {
      let lines = try Self.article(name).components(separatedBy: "\n")
      var isInBlock = false
      for line in lines {
        if line.hasPrefix("```") { isInBlock.toggle() }
        #expect(isInBlock || !line.hasPrefix("    "), "\(name): \(line)")
      }
    }
  }

  @Test func `the program runs from an empty home directory`() async throws {
    _ = try laptop()
    try run("tarn server init \(address(as: "admin"))")
    try run("tarn server migrate \(address(as: "admin")) laptop.realm")
    let connection = try ServerConnection(ServerAddress(address(as: "admin")))
    try connection.run("CREATE ROLE frodo LOGIN; GRANT tarn_client TO frodo", for: "test")
    try connection.run(
      "INSERT INTO \"Todo\" (_id, owner, title, priority) VALUES ('a', 'frodo', 'x', 1),"
        + " ('b', 'sam', 'y', 2)", for: "test")
    let address = "postgresql://\(host)/todo"
    await #expect(processExitsWith: .success) {
      [home = home as String, address = address as String] in
      setenv("HOME", home, 1)
      unsetenv("XDG_DATA_HOME")
      let owners = try await SyncArticleTests.owners(at: address)
      #expect(owners == ["frodo"])
    }
    let made = home + "/.local/share/tarn/files/todo/frodo.realm"
    #expect(FileManager.default.fileExists(atPath: made))
    #expect(try run("tarn sync status '\(made)'").contains("not sent      nothing"))
  }

  private static func owners(at address: String) async throws -> [String] {
    let realm = try await openTodos(at: address, password: "…")
    return realm.objects(Todo.self).map(\.owner)
  }
}
