import Foundation
import SyncSimulation
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Random operations on some files and a real server. Each step has a seed of its own, so that a
/// program without some of its steps is one, too.
struct ReplicaProgram {
  private(set) var replicas: [FileReplica] = []
  private var random: SeededRandom
  private let folder: TemporaryFolder
  private let administrator: ServerConnection
  private let connect: () throws -> ServerConnection
  private let accidents: SimulatedAccidents
  private var files = 0
  private var backup: String?
  private var serverBackup: ServerCopy?
  private var hasCopies = false
  private var boxesWrittenBySQL: Set<Int> = []
  /// What happened, for failures.
  private(set) var history: [String] = []

  init(
    _ accidents: SimulatedAccidents, _ administrator: ServerConnection,
    _ connect: @escaping () throws -> ServerConnection
  ) throws {
    random = SeededRandom(seed: 0)
    folder = TemporaryFolder()
    self.administrator = administrator
    self.connect = connect
    self.accidents = accidents
    for _ in 0..<3 { replicas.append(try FileReplica(newPath(), connect)) }
  }

  private mutating func newPath() -> String {
    files += 1
    return folder.file("\(files)")
  }

  /// The steps of the program with a seed.
  static func steps(_ seed: UInt64, _ count: Int = 40) -> [UInt64] {
    var random = SeededRandom(seed: seed)
    return (0..<count).map { _ in random.next() >> 16 }
  }

  /// Runs steps, then lets everybody send and receive everything. The last file is a fresh one
  /// then.
  mutating func run(_ steps: [UInt64]) throws {
    for seed in steps {
      random = SeededRandom(seed: seed)
      try step()
    }
    for _ in 0..<3 {
      for index in replicas.indices { try replicas[index].connected().synchronize() }
    }
    replicas.append(try FileReplica(newPath(), connect))
    try replicas[replicas.count - 1].connected().synchronize()
  }

  private mutating func step() throws {
    let index = random.below(replicas.count)
    if accidents.contains(.subscriptions), random.chance(10) { return try subscribe(index) }
    if accidents.contains(.joins), random.chance(15) { return try join(index) }
    if accidents.contains(.tables), random.chance(8) { return try changeTable() }
    switch random.below(18) {
    case 15...17: try turnOver(index)
    case 0..<6: try commit(index)
    case 6, 7:
      history.append("\(index) pull")
      try replicas[index].connected().pull()
    case 8:
      history.append("\(index) push")
      // Own commits are sent after a download, never before the first one of a connection.
      try replicas[index].connected().pull()
      _ = try replicas[index].connected().sendAll()
    case 9: try loseAnswer(index)
    case 10: if accidents.contains(.sql) { try writeBySQL() }
    case 11, 12: if accidents.contains(.files) { try changeFile(index) }
    case 13: if accidents.contains(.failover) { try changeServer() }
    default:
      history.append("\(index) disconnect")
      replicas[index].disconnect()
    }
  }

  private mutating func subscribe(_ index: Int) throws {
    let things = [
      [], ["TRUEPREDICATE"], ["a < 300"], ["a >= 300"], ["b == NULL"], ["a < 100", "b != NULL"],
    ]
    let boxes = [[], ["TRUEPREDICATE"], ["_id < 3"], ["spot.rank > 1"]]
    let queries = [
      "Thing": random.pick(things), "Box": random.pick(boxes), "Note": ["TRUEPREDICATE"],
    ]
    history.append("\(index) subscribes to \(queries)")
    try replicas[index].subscribe(queries)
  }

  private mutating func commit(_ index: Int) throws {
    let count = random.below(3)
    if random.chance(25) {
      replicas[index].pause(by: 1_100_000)
      history.append("\(index) pauses")
    }
    try replicas[index].commit { session in
      for _ in 0...count {
        history.append(
          "\(index) \(try replicas[index].change(random.below(6), session, &random))")
      }
    }
  }

  /// Deletes an object and creates it again, or the other way round, mostly with a pause between.
  private mutating func turnOver(_ index: Int) throws {
    let name = random.pick(["Thing", "Note", "Note", "Box"])
    let number = random.below(name == "Note" ? 4 : 3)
    for _ in 0...random.below(3) {
      if random.chance(60) {
        replicas[index].pause(by: 1_100_000)
        history.append("\(index) pauses")
      }
      history.append("\(index) \(try replicas[index].turnOver(number, name, &random))")
    }
  }

  /// As after too many commits without a server.
  private mutating func join(_ index: Int) throws {
    replicas[index].disconnect()
    if try replicas[index].join() { history.append("\(index) joins its unsent commits") }
  }

  private mutating func loseAnswer(_ index: Int) throws {
    history.append("\(index) synchronize without an answer")
    replicas[index].losesAnswer = true
    do {
      try replicas[index].connected().synchronize()
    } catch is FileReplica.LostAnswer {}
    replicas[index].losesAnswer = false
  }

  private mutating func writeBySQL() throws {
    let number = random.below(6)
    if random.chance(40) { return try writeBoxBySQL(number) }
    if random.chance(30) {
      history.append("SQL deletes note \(number)")
      try administrator.rows("DELETE FROM \"Note\" WHERE _id = 'n\(number)'")
    } else {
      history.append("SQL writes note \(number)")
      try administrator.rows(
        """
        INSERT INTO "Note" (_id, a, text) VALUES ('n\(number)', \(random.below(99)), 'sql')
        ON CONFLICT (_id) DO UPDATE SET text = excluded.text || '\(random.below(9))'
        """)
    }
  }

  private mutating func writeBoxBySQL(_ number: Int) throws {
    let change =
      switch random.below(4) {
      case 0: "items = items || '[\(random.next() >> 20)]'"
      case 1: "items = items - 0"
      case 2: "tags = '[\"t1\", \"t2\"]'"
      default: "scores = scores || '{\"k1\": \(random.below(99))}'"
      }
    history.append("SQL writes box \(number): \(change)")
    boxesWrittenBySQL.insert(number)
    try administrator.rows("UPDATE \"Box\" SET \(change) WHERE _id = \(number)")
  }

  /// Whether an element may be twice in a box's list: two copies of a file have sent the same
  /// commit, and between them a SQL program has written the list, which then has no names.
  func mayRepeat(in box: String) -> Bool {
    hasCopies && boxesWrittenBySQL.contains { box.hasPrefix("Box \($0) ") }
  }

  // MARK: - Files that are copied or put back

  private mutating func changeFile(_ index: Int) throws {
    switch random.below(3) {
    case 0:
      let other = random.below(replicas.count)
      if other == index { return }
      history.append("\(index) becomes a copy of \(other)")
      let copy = try copied(other)
      try replace(index, copy)
    case 1:
      history.append("backup of \(index)")
      backup = try copied(index)
    default:
      guard let backup else { return }
      history.append("\(index) is put back from the backup")
      let path = newPath()
      try FileManager.default.copyItem(atPath: backup, toPath: path)
      try replace(index, path)
    }
  }

  /// A copy of a file. Nobody has it open meanwhile.
  private mutating func copied(_ index: Int) throws -> String {
    let path = replicas[index].path
    let copy = newPath()
    replicas.remove(at: index).end()
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    replicas.insert(try FileReplica(path, connect), at: index)
    return copy
  }

  private mutating func replace(_ index: Int, _ path: String) throws {
    hasCopies = true
    replicas.remove(at: index).end()
    replicas.insert(try FileReplica(path, connect), at: index)
  }

  // MARK: - Other tables

  /// Takes a class out of sync, and makes it again: with its rows or without.
  private mutating func changeTable() throws {
    let name = random.pick(["Thing", "Note", "Box"])
    let isDropped = random.chance(40)
    history.append("\(name) is \(isDropped ? "made anew" : "adopted again")")
    for replica in replicas { replica.disconnect() }
    if isDropped { try administrator.rows("DROP TABLE \"\(name)\"") }
    try ServerRepair(administrator).forget(class: name)
    if isDropped {
      try ServerMigration(administrator)
        .run(replicas[0].store.newestSnapshot().schema.schema)
    } else {
      _ = try ServerAdoption(administrator).run(table: "\"\(name)\"", as: name)
    }
  }

  // MARK: - A server that is restored

  private mutating func changeServer() throws {
    guard let serverBackup, random.chance(50) else {
      history.append("backup of the server")
      serverBackup = try ServerCopy(administrator)
      return
    }
    history.append("the server is restored")
    try serverBackup.restore()
  }
}
