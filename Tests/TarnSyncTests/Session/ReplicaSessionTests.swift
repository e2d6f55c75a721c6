import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Sessions on threads of their own, with a real server.
@Suite struct ReplicaSessionTests {
  @Test func `a commit here arrives there, and the other way`() async throws {
    let meeting = try Meeting()
    let (a, b) = (try meeting.file("a"), try meeting.file("b"))
    let sessions = try [a, b].map { try meeting.session($0) }
    try a.add(1, 10)
    try await yieldUntil { try b.things() == [1: 10] }
    try b.add(2, 20)
    try await yieldUntil { try a.things() == [1: 10, 2: 20] }
    for session in sessions { try await session.end() }
    #expect(try meeting.things() == ["1", "2"])
  }

  @Test func `a property that a program adds is exchanged by the sessions that run`() async throws {
    let meeting = try Meeting()
    try meeting.connection.rows("GRANT \(ServerSchema.owner) TO \(meeting.client)")
    let (a, b) = (try meeting.file("a"), try meeting.file("b"))
    let sessions = try [a, b].map { try meeting.session($0) }
    try a.add(1, 10)
    try await yieldUntil { try b.things() == [1: 10] }
    let grown = try meeting.file("a", isGrown: true)
    try grown.set(later: 7, 1)
    try b.add(2, 20)
    try await yieldUntil { try a.things() == [1: 10, 2: 20] }
    let other = try meeting.file("b", isGrown: true)
    try await yieldUntil { try other.later() == [1: 7, 2: 0] }
    try other.set(later: 8, 2)
    try await yieldUntil { try grown.later() == [1: 7, 2: 8] }
    for session in sessions { try await session.end() }
  }

  @Test func `commits with a property that the server lacks wait, and downloads go on`()
    async throws
  {
    let meeting = try Meeting()
    let (a, b) = (try meeting.file("a"), try meeting.file("b"))
    let waits = Lock([String]())
    let sessions = [
      try meeting.session(a) { event in
        if case .waits(let why, _) = event { waits.withLock { $0.append("\(why)") } }
      }, try meeting.session(b),
    ]
    try a.add(1, 10)
    try await yieldUntil { try b.things() == [1: 10] }
    let grown = try meeting.file("a", isGrown: true)
    try grown.set(later: 7, 1)
    try await yieldUntil { waits.withLock { $0.count } == 1 }
    #expect(waits.withLock { $0[0].contains("Thing.later") && $0[0].contains("migrate") })
    try b.add(2, 20)
    try await yieldUntil { try a.things() == [1: 10, 2: 20] }
    try grown.set(later: 8, 2)
    try grown.add(3, 30)
    try b.add(4, 40)
    try await yieldUntil { try a.things() == [1: 10, 2: 20, 3: 30, 4: 40] }
    #expect(try meeting.things() == ["1", "2", "4"])
    _ = try ServerMigration(meeting.connection).run(grown.newestSnapshot().schema.schema)
    try b.add(5, 50)
    try await yieldUntil { try b.things().count == 5 }
    let other = try meeting.file("b", isGrown: true)
    try await yieldUntil { try other.later() == [1: 7, 2: 8, 3: 0, 4: 0, 5: 0] }
    #expect(try grown.later() == [1: 7, 2: 8, 3: 0, 4: 0, 5: 0])
    for session in sessions { try await session.end() }
  }

  /// The server refuses the first statement with the former name.
  @Test func `a program that runs goes on at once when a property is renamed on the server`()
    async throws
  {
    let meeting = try Meeting()
    let (a, b) = (try meeting.file("a"), try meeting.file("b"))
    let waits = Lock([String]())
    let sessions = try [a, b].map { file in
      try meeting.session(file) { event in
        if case .waits(let why, _) = event { waits.withLock { $0.append("\(why)") } }
      }
    }
    try a.add(1, 10)
    try await yieldUntil { try b.things() == [1: 10] }
    for (from, to) in [("a", "c"), ("c", "d")] {
      var renamed = ServerPeer.thing
      let place = try #require(renamed.columns.firstIndex { $0.name == "a" })
      renamed.columns[place].name = to
      try ServerMigration(meeting.connection).run(
        StoreSchema(classes: [renamed]), renaming: PropertyRenames(["\(from)=\(to)"]))
      let key: Int64 = to == "c" ? 2 : 3
      try a.add(key, 10 * key)
      try await yieldUntil { try b.things()[key] == 10 * key }
    }
    #expect(try meeting.connection.rows("SELECT d FROM \"Thing\" ORDER BY 1").count == 3)
    #expect(waits.withLock { $0 } == [])
    for session in sessions { try await session.end() }
  }

  @Test func `a file has one session, and another takes over`() async throws {
    let meeting = try Meeting()
    let file = try meeting.file("a")
    let told = Lock([String]())
    let first = try meeting.session(file)
    try file.add(1, 1)
    try await yieldUntil { try meeting.things() == ["1"] }
    let second = try meeting.session(file) { event in
      if case .isElsewhere(let who) = event { told.withLock { $0.append(who) } }
    }
    try await yieldUntil { told.withLock { $0.count } == 1 }
    try await first.end()
    try file.add(2, 2)
    try await yieldUntil { try meeting.things() == ["1", "2"] }
    #expect(told.withLock { $0.first?.contains("tarn-sync") } == true)
    try await second.end()
    #expect(try meeting.things() == ["1", "2"])
  }

  @Test func `a refused commit is told and taken back, and the rest goes on`() async throws {
    let meeting = try Meeting()
    try meeting.connection.rows("ALTER TABLE \"Thing\" ADD CHECK (a <> 13)")
    let file = try meeting.file("a")
    let refused = Lock([RefusedCommit]())
    let session = try meeting.session(file) { event in
      if case .refused(let commit) = event { refused.withLock { $0.append(commit) } }
    }
    try file.add(1, 1)
    try await yieldUntil { try meeting.things() == ["1"] }
    try file.add(2, 13)
    try file.add(3, 3)
    try await yieldUntil { try meeting.things() == ["1", "3"] }
    try await yieldUntil { try file.things() == [1: 1, 3: 3] }
    try await yieldUntil { refused.withLock { $0.count } == 1 }
    let commit = refused.withLock { $0[0] }
    #expect(commit.error.state == "23514")
    #expect(commit.objects.map(\.className) == ["Thing"])
    #expect(commit.objects.map(\.primaryKey) == [.int(2)])
    try await session.end()
    #expect(try meeting.things().contains("3"))
  }

  @Test func `objects from before are sent, and stay where the server refuses them`() async throws {
    let meeting = try Meeting()
    try meeting.connection.rows("ALTER TABLE \"Thing\" ADD CHECK (a <> 13)")
    let file = try meeting.file("a")
    for (key, a): (Int64, Int64) in [(1, 1), (2, 13), (3, 3)] { try file.add(key, a) }
    let refused = Lock([RefusedCommit]())
    let session = try meeting.session(file) { event in
      if case .refused(let commit) = event { refused.withLock { $0.append(commit) } }
    }
    try await yieldUntil { try meeting.things() == ["1", "3"] }
    try await yieldUntil { refused.withLock { $0.count } == 1 }
    #expect(refused.withLock { $0[0].version } == 0)
    #expect(refused.withLock { $0[0].objects.map(\.primaryKey) } == [.int(2)])
    try await session.end()
    #expect(try file.things() == [1: 1, 2: 13, 3: 3])
    #expect(try meeting.things() == ["1", "3"])
  }

  @Test func `too many commits for a server that is away are joined, and told once`() async throws {
    let meeting = try Meeting()
    let file = try meeting.file("a")
    let waits = Lock(0)
    let joins = Lock(0)
    let session = try meeting.session(file, joiningAbove: 0) { event in
      if case .waits = event { waits.withLock { $0 += 1 } }
      if case .joined = event { joins.withLock { $0 += 1 } }
    }
    try file.add(1, 1)
    try await yieldUntil { try meeting.things() == ["1"] }
    try meeting.setOpen(false)
    for round in 1...2 {
      for number in 1...20 { try file.add(Int64(round * 100 + number), 1) }
      let before = waits.withLock { $0 }
      try await yieldUntil {
        session.reconnect()
        return waits.withLock { $0 } > before + 1 || joins.withLock { $0 } > 1
      }
      let report = try #require(try ReplicaReport.of(file))
      #expect(report.unsentCommits == 1)
      #expect(report.unsentObjects == round * 20)
    }
    let newest = try file.newestSnapshot().version
    #expect(try UnsentCount(file)?.isNothing(upTo: newest) == false)
    try meeting.setOpen(true)
    session.reconnect()
    try await yieldUntil { try meeting.things().count == 41 }
    try await yieldUntil { try ReplicaReport.of(file)?.unsentCommits == 0 }
    #expect(joins.withLock { $0 } == 1)
    try await session.end()
    #expect(try file.things().count == 41)
  }

  @Test func `a session goes on when its connection was ended`() async throws {
    let meeting = try Meeting()
    let file = try meeting.file("a")
    let waits = Lock(0)
    let session = try meeting.session(file) { event in
      if case .waits = event { waits.withLock { $0 += 1 } }
    }
    try file.add(1, 1)
    try await yieldUntil { try meeting.things() == ["1"] }
    for number in 2...4 {
      try meeting.endConnections()
      try file.add(Int64(number), 1)
      try await yieldUntil { try meeting.things().count == number }
    }
    #expect(waits.withLock { $0 } > 0)
    try await session.end()
    #expect(try meeting.things().contains("3"))
  }

  @Test func `a session of the owner brings what the server lacks, another one waits`()
    async throws
  {
    let meeting = try Meeting()
    try meeting.connection.rows("ALTER TABLE \"Thing\" RENAME TO former")
    _ = try ServerRepair(meeting.connection).forget(class: "Thing")
    let file = try meeting.file("a")
    try file.add(1, 10)
    let problems = Lock([String]())
    let client = try meeting.session(file) { event in
      if case .waits(let why, _) = event { problems.withLock { $0.append("\(why)") } }
    }
    try await yieldUntil { problems.withLock { !$0.isEmpty } }
    #expect(problems.withLock { $0[0].contains("does not have a class Thing") })
    try await client.end()
    let address = try ServerAddress(
      meeting.database.address(as: PostgresServer.administrator))
    // A file is the replica of one role.
    let other = try meeting.file("b")
    try other.add(1, 10)
    let owner = try HeldSession(other, address, UnsentJoin.bytesMax) { _ in }
    try await yieldUntil { (try? meeting.things()) == ["1"] }
    try await owner.end()
    #expect(try meeting.things() == ["1"])
  }
}
