import Foundation
import TarnStore
import TestSupport
import Testing
import ToolSupport

/// `tarn-sync` as people run it: against a server, killed at any moment, beside other processes.
@Suite(.timeLimit(.minutes(30))) final class SyncKillTests {
  private static let program = OwnProgram.sibling("tarn-sync")
  private let folder = TemporaryFolder()
  private let url: String
  private let name: String

  init() throws {
    let server = try PostgresServer.shared.get()
    // Databases are made by libpq's own program: this module has no connection of its own.
    name = "kill_" + UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "")
    url = server.address(name)
    let made = try finished(
      ["createdb", "-h", server.folder, "-U", PostgresServer.administrator, name],
      "/usr/bin/env")
    #expect(made.end == .exited(0), "\(made.errors)")
  }

  /// Runs a program to its end.
  private func finished(
    _ words: [String], _ program: String = SyncKillTests.program
  ) throws -> (output: [String], errors: String, end: ChildProcess.End) {
    let errors = folder.file(UUID().uuidString)
    let (output, end) = try ChildProcess(program, words, errors: errors).finish()
    return (output, try String(contentsOfFile: errors, encoding: .utf8), end)
  }

  private func run(_ words: [String]) throws -> [String] {
    let result = try finished(words)
    #expect(result.end == .exited(0), "\(words): \(result.errors)")
    return result.output
  }

  private func open(_ name: String, isDurable: Bool = false) throws -> Store {
    var options = Store.Options()
    options.isDurable = isDurable
    options.classes = [
      ClassDefinition(
        name: "Thing",
        properties: [
          .init(name: "_id", type: .int, isPrimaryKey: true), .init(name: "a", type: .int),
        ])
    ]
    return try StoreRegistry.open(folder.file(name), options)
  }

  @Test func `what was committed is on the server once, whenever the session is killed`()
    async throws
  {
    let store = try open("a")
    #expect(try run(["server", "init", url]).first?.hasPrefix("prepared") == true)
    #expect(try run(["server", "migrate", url, store.path]) == ["created Thing"])
    var random = SeededRandom(seed: 7)
    var expected: [Int64: Int64] = [:]
    for round in 0..<Seeds.rounds(40, few: 8) {
      let session = try ChildProcess(
        Self.program, ["sync", store.path, "--to", url, "--follow"],
        errors: folder.file("errors-\(round)"))
      let commits = 20 + random.below(200)
      for number in 0..<commits {
        try store.writeInTurn { session in
          let key = Int64(random.below(50))
          let value = Int64(round * 1_000 + number)
          if expected[key] == nil {
            try session.create([ColumnID(0): .int(key), ColumnID(1): .int(value)], in: ClassID(0))
          } else {
            try session.set(ColumnID(1), at: ObjectKey(key), in: ClassID(0), to: .int(value))
          }
          expected[key] = value
        }
        // Lets the session get on at different speeds.
        if random.chance(20) { await Task.yield() }
      }
      session.signal(SIGKILL)
      _ = session.wait()
    }
    _ = try run(["sync", store.path, "--to", url])
    #expect(try run(["sync", "status", store.path]).last == "not sent      nothing")
    _ = try run(["sync", folder.file("b"), "--to", url])
    #expect(try open("b", isDurable: true).things() == expected)
    #expect(try store.things() == expected)
  }

  @Test func `another process takes over from a stopped one, which does no harm when it goes on`()
    async throws
  {
    let store = try open("a")
    _ = try run(["server", "init", url])
    _ = try run(["server", "migrate", url, store.path])
    func session(_ name: String) throws -> ChildProcess {
      try ChildProcess(
        Self.program, ["sync", store.path, "--to", url, "--follow"], errors: folder.file(name))
    }
    func says(_ name: String, _ text: String) async throws {
      try await yieldUntil {
        let errors = try? String(contentsOfFile: folder.file(name), encoding: .utf8)
        return errors?.contains(text) == true
      }
    }
    func commit(_ key: Int64) throws {
      try store.writeInTurn {
        try $0.create([ColumnID(0): .int(key), ColumnID(1): .int(key)], in: ClassID(0))
      }
    }
    func everythingIsSent() async throws {
      try await yieldUntil {
        try run(["sync", "status", store.path]).last == "not sent      nothing"
      }
    }
    let first = try session("first")
    try await says("first", "connected to")
    let second = try session("second")
    try await says("second", "waiting: ")
    first.signal(SIGSTOP)
    try commit(1)
    try await says("second", "connected to")
    try await everythingIsSent()
    first.signal(SIGCONT)
    try commit(2)
    try await says("first", "waiting: ")
    try await everythingIsSent()
    for process in [first, second] {
      process.signal(SIGTERM)
      _ = process.wait()
    }
    _ = try run(["sync", folder.file("b"), "--to", url])
    #expect(try open("b", isDurable: true).things() == [1: 1, 2: 2])
    #expect(try store.things() == [1: 1, 2: 2])
  }

  @Test func `a refused commit ends with a message and 1`() throws {
    let store = try open("a")
    _ = try run(["server", "init", url])
    _ = try run(["server", "migrate", url, store.path])
    _ = try run(["sync", store.path, "--to", url])
    let psql = try finished(
      ["psql", url, "-qc", "ALTER TABLE \"Thing\" ADD CHECK (a < 10)"], "/usr/bin/env")
    #expect(psql.end == .exited(0), "\(psql.errors)")
    try store.writeInTurn {
      try $0.create([ColumnID(0): .int(1), ColumnID(1): .int(10)], in: ClassID(0))
    }
    let result = try finished(["sync", store.path, "--to", url])
    #expect(result.end == .exited(1))
    #expect(result.errors.contains("rolled back version"))
    #expect(result.errors.contains("Thing 1"))
    #expect(result.errors.contains("23514"))
    #expect(try store.things() == [:])
  }

  @Test func `a store has the objects that conditions choose, and remembers them`() throws {
    let store = try open("a")
    _ = try run(["server", "init", url])
    _ = try run(["server", "migrate", url, store.path])
    try sql("INSERT INTO \"Thing\" (_id, a) SELECT n, n FROM generate_series(1, 9) n")
    _ = try run(["sync", store.path, "--to", url, "--where", "Thing: a < 3 OR a == 7"])
    #expect(try store.things() == [1: 1, 2: 2, 7: 7])
    try sql("UPDATE \"Thing\" SET a = 1 WHERE _id = 9")
    _ = try run(["sync", store.path, "--to", url])
    #expect(try store.things() == [1: 1, 2: 2, 7: 7, 9: 1])
    let status = try run(["sync", "status", store.path]).joined(separator: "\n")
    #expect(status.contains("chosen        Thing: a < 3 OR a == 7"), "\(status)")
    for (condition, message) in [
      ("Thing", "--where"), ("Thing: b == 1", "--where"), ("Thing: ANY a == 1", "--where"),
      ("Stone: a == 1", "Stone"),
    ] {
      let result = try finished(["sync", store.path, "--to", url, "--where", condition])
      #expect(result.end != .exited(0), "\(condition)")
      #expect(result.errors.contains(message), "\(result.errors)")
    }
  }

  @Test func `a first download that is killed goes on`() async throws {
    let store = try open("a")
    _ = try run(["server", "init", url])
    _ = try run(["server", "migrate", url, store.path])
    try sql("INSERT INTO \"Thing\" (_id, a) SELECT n, n FROM generate_series(1, 60000) n")
    var random = SeededRandom(seed: 3)
    for round in 0..<Seeds.rounds(20, few: 4) {
      let session = try ChildProcess(
        Self.program, ["sync", store.path, "--to", url, "--follow"], errors: folder.file("errors"))
      let start = try store.newestSnapshot().version.rawValue
      let commits = UInt64(1 + random.below(6))
      try await yieldUntil {
        let isOver = try store.things().count == 60_000
        return try isOver || store.newestSnapshot().version.rawValue >= start + commits
      }
      session.signal(SIGKILL)
      _ = session.wait()
      // Whole pages are there, each object once.
      let things = try store.things()
      #expect(things.allSatisfy { $0.key == $0.value }, "round \(round)")
    }
    _ = try run(["sync", store.path, "--to", url])
    #expect(try store.things().count == 60_000)
  }

  @Test func `a session begins while the server is away, and ends by a signal though it is silent`()
    async throws
  {
    let store = try open("a")
    _ = try run(["server", "init", url])
    _ = try run(["server", "migrate", url, store.path])
    let server = try PostgresServer.shared.get()
    let away = server.address(name, at: folder.path)
    func session(_ file: String, _ errors: String) throws -> ChildProcess {
      try ChildProcess(
        Self.program, ["sync", folder.file(file), "--to", away, "--follow"],
        errors: folder.file(errors))
    }
    func says(_ name: String, _ text: String) async throws {
      try await yieldUntil {
        let errors = try? String(contentsOfFile: folder.file(name), encoding: .utf8)
        return errors?.contains(text) == true
      }
    }
    // Neither a file that does not exist, nor one that was exchanged before, needs the server.
    _ = try run(["sync", store.path, "--to", url])
    let idle = try session("a", "idle")
    try await says("idle", "trying again")
    idle.signal(SIGTERM)
    #expect(idle.wait() == .exited(0))
    let first = try session("b", "first")
    try await says("first", "trying again")
    let proxy = try CuttingProxy(to: server.folder, in: folder.path)
    defer { proxy.close() }
    try await says("first", "connected to")
    proxy.stall()
    defer { proxy.goOn() }
    first.signal(SIGTERM)
    #expect(first.wait() == .exited(0))
  }

  @Test func `what waits is listed, and a commit can be skipped`() throws {
    let store = try open("a")
    _ = try run(["server", "init", url])
    _ = try run(["server", "migrate", url, store.path])
    _ = try run(["sync", store.path, "--to", url])
    #expect(try run(["sync", "unsent", store.path]) == ["the server has everything"])
    for key in 1...2 as ClosedRange<Int64> {
      try store.writeInTurn {
        try $0.create([ColumnID(0): .int(key), ColumnID(1): .int(key)], in: ClassID(0))
      }
    }
    let lines = try run(["sync", "unsent", store.path])
    #expect(lines.count == 3)
    #expect(lines.dropFirst().map { $0.contains("Thing") } == [true, true])
    let version = try #require(lines[1].split(separator: " ").first)
    #expect(
      try run(["sync", "skip", store.path, String(version)])
        == ["version \(version) will be rolled back at the next exchange"])
    let result = try finished(["sync", store.path, "--to", url])
    #expect(result.end == .exited(0))
    #expect(result.errors.contains("rolled back version \(version)"))
    #expect(try store.things() == [2: 2])
    let refused = try finished(["sync", "skip", store.path, "Thing"])
    #expect(refused.end == .exited(1))
    #expect(refused.errors.contains("no class with this name is stuck"))
  }

  private func sql(_ statement: String) throws {
    let psql = try finished(["psql", url, "-qc", statement], "/usr/bin/env")
    #expect(psql.end == .exited(0), "\(psql.errors)")
  }

  @Test func `mistakes in the command line and a server that is not there are told`() throws {
    let store = try open("a")
    for (words, message) in [
      (["sync", store.path], "give the server with --to URL"),
      (["server", "mend", url], "'mend' is not an action"),
      (["server", "adopt", url], "give: tarn server adopt URL TABLE CLASS"),
    ] {
      let result = try finished(words)
      #expect(result.end == .exited(2), "\(words)")
      #expect(result.errors.contains(message), "\(result.errors)")
    }
    for (words, message) in [
      (["sync", store.path, "--to", url], "the database is not prepared"),
      (["sync", store.path, "--to", "postgresql:///x?host=/nowhere"], "cannot connect to"),
      (["server", "status", "postgresql://a:b@h/x"], "it has a password in it"),
    ] {
      let result = try finished(words)
      #expect(result.end == .exited(1), "\(words)")
      #expect(result.errors.contains(message), "\(result.errors)")
    }
  }
}

extension Store {
  fileprivate func things() throws -> [Int64: Int64] { try numbers(ColumnID(1), in: ClassID(0)) }
}
