import TarnStore
import TarnSync
import TestSupport

/// What may happen besides commits, pulls, pushes and lost answers.
package struct SimulatedAccidents: OptionSet, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  package static let sql = SimulatedAccidents(rawValue: 1)
  package static let refusals = SimulatedAccidents(rawValue: 2)
  /// Only simulated servers fail over.
  package static let failover = SimulatedAccidents(rawValue: 4)
  /// Files that are copied or put back from a backup.
  package static let files = SimulatedAccidents(rawValue: 8)
  package static let skew = SimulatedAccidents(rawValue: 16)
  /// Objects have properties with one value only.
  package static let isPlain = SimulatedAccidents(rawValue: 32)
  /// Only files have subscriptions, which change.
  package static let subscriptions = SimulatedAccidents(rawValue: 64)
  /// Only files join their unsent commits.
  package static let joins = SimulatedAccidents(rawValue: 128)
  /// Only on real servers classes are taken out of sync and made or adopted again.
  package static let tables = SimulatedAccidents(rawValue: 256)
}

/// A random program of commits, pulls, pushes and accidents of several replicas and a server.
package struct SimulatedProgram<Server: Peer> {
  package typealias Accidents = SimulatedAccidents

  package private(set) var server: Server
  package private(set) var replicas: [SimulatedReplica] = []
  private var random: SeededRandom
  private let accidents: Accidents
  private var backups: [SimulatedReplica?] = []
  private var standby: SimulatedServer?
  private var nextValue = 0
  /// Values that were put into lists, and those that somebody took out, or whose object somebody
  /// deleted.
  package private(set) var listed: [Int: Int] = [:]
  package private(set) var unlisted: Set<Int> = []
  package private(set) var deletedKeys: Set<Int> = []
  /// All single values that were written.
  package private(set) var written: Set<Int> = []

  package init(seed: UInt64, _ accidents: Accidents, _ server: Server) {
    self.server = server
    random = SeededRandom(seed: seed)
    self.accidents = accidents
    standby = server as? SimulatedServer
    for index in 0..<(2 + random.below(3)) {
      let skews: [Int64] = accidents.contains(.skew) ? [0, -1_000_000, 1_000_000] : [0, 3, -3]
      replicas.append(SimulatedReplica(id: UInt64(index + 1), skew: random.pick(skews)))
    }
    backups = replicas.map { _ in nil }
  }

  /// The seeds of so many steps.
  package static func steps(_ seed: UInt64, _ count: Int) -> [UInt64] {
    var random = SeededRandom(seed: ~seed)
    return (0..<count).map { _ in random.next() >> 16 }
  }

  /// Runs steps, then lets everybody send and receive everything. Each has a seed of its own, so
  /// that a program without some of its steps is one, too.
  package mutating func run(_ steps: [UInt64]) throws {
    for seed in steps {
      random = SeededRandom(seed: seed)
      try step()
    }
    // A refused run is halved until one commit is left, so each may need some rounds.
    for _ in 0..<10_000 {
      for index in replicas.indices {
        try pull(index)
        try replicas[index].push(&server, isLost: false)
      }
      if replicas.allSatisfy({ $0.unsent.isEmpty }) { break }
    }
    for index in replicas.indices { try pull(index) }
  }

  private mutating func step() throws {
    server.advance(by: 1 + Int64(random.below(3)))
    let index = random.below(replicas.count)
    switch random.below(20) {
    case 0..<10: commit(index)
    case 10..<13: try pull(index)
    case 13..<16:
      try pull(index)
      try replicas[index].push(&server, isLost: random.below(4) == 0)
    // Without a pull before it: what was merged may not be the newest.
    case 16: try replicas[index].push(&server, isLost: random.below(4) == 0)
    default: try accident(index)
    }
  }

  private mutating func pull(_ index: Int) throws {
    let newID = random.next()
    try replicas[index].pull(&server, newID: newID)
  }

  private mutating func accident(_ index: Int) throws {
    let kind = Accidents(rawValue: 1 << random.below(4))
    guard accidents.contains(kind) else { return }
    switch kind {
    case .sql:
      if random.below(4) == 0 {
        let key = random.below(4)
        deletedKeys.insert(key)
        try server.sqlDelete(key)
      } else {
        let (key, value) = (random.below(4), newValue())
        try server.sqlUpdate(key, value)
      }
    case .failover:
      guard var simulated = server as? SimulatedServer, let old = standby else { return }
      if random.below(2) == 0 {
        standby = simulated
        return
      }
      simulated.failOver(to: old)
      if let server = simulated as? Server { self.server = server }
    case .files:
      switch random.below(3) {
      case 0: backups[index] = replicas[index]
      case 1: if let backup = backups[index] { replicas[index] = backup }
      default:
        let other = random.below(replicas.count)
        replicas[other] = replicas[index]
      }
    default: break
    }
  }

  private mutating func newValue() -> Int {
    nextValue += 1
    // Only some programs have values that the server refuses.
    if !accidents.contains(.refusals), nextValue % 13 == 0 { nextValue += 1 }
    written.insert(nextValue)
    return nextValue
  }

  // MARK: - Commits

  private mutating func commit(_ index: Int) {
    var changes: [(key: Int, change: ObjectChange)] = []
    let keys = Set((0...random.below(2)).map { _ in random.below(4) }).sorted()
    let id = random.next()
    var replica = replicas[index]
    replica.commit(id, at: server.clock) { replica, stamp in
      for key in keys {
        if let row = replica.shown[key] {
          changes.append((key, change(of: row, key, Writer(replica, id, stamp))))
        } else {
          changes.append((key, .created(made(key, Writer(replica, id, stamp)))))
        }
      }
      return changes
    }
    replicas[index] = replica
  }

  /// A commit that is being made.
  private struct Writer {
    let stamp: Stamp
    private let author: UInt32
    private let version: UInt64
    private let salt: UInt32

    init(_ replica: SimulatedReplica, _ commit: UInt64, _ stamp: Stamp) {
      self.stamp = stamp
      (author, version) = (replica.author, replica.nextVersion)
      salt = UInt32(truncatingIfNeeded: commit)
    }

    func name(_ number: Int) -> ElementID {
      ElementID(author: author, version: version, salt: salt, number: UInt32(number))
    }
  }

  private mutating func made(_ key: Int, _ writer: Writer) -> ObjectRow<Int> {
    let stamp = writer.stamp
    let incarnation = Int64(bitPattern: random.next())
    let plain: [String: ObjectRow<Int>.Property] = [
      "a": .init(.single(newValue()), stamp), "b": .init(.single(newValue()), stamp),
    ]
    if accidents.contains(.isPlain) { return ObjectRow(incarnation: incarnation, values: plain) }
    return ObjectRow(
      incarnation: incarnation,
      values: plain.merging([
        "l": .init(.list([element(key, 0, writer)]), stamp),
        "s": .init(.set([random.below(5)]), stamp),
        "m": .init(.map([StoredText("\(random.below(3))"): Stamped(newValue(), stamp)]), stamp),
      ]) { $1 })
  }

  private mutating func element(
    _ key: Int, _ number: Int, _ writer: Writer
  ) -> ListElement<Int> {
    let value = newValue()
    listed[value] = key
    return ListElement(writer.name(key * 10 + number), value, writer.stamp)
  }

  private mutating func change(
    of row: ObjectRow<Int>, _ key: Int, _ writer: Writer
  ) -> ObjectChange {
    if random.below(10) == 0 {
      deletedKeys.insert(key)
      return .deleted(incarnation: row.incarnation)
    }
    var edits: [String: ObjectChange.Edit] = [:]
    for name in Set((0...random.below(2)).map { _ in random.pick(["a", "b", "l", "s", "m"]) }) {
      guard let former = row.values[name] else { continue }
      edits[name] = .init(
        from: former.content, to: edited(former.content, key, writer))
    }
    return .edited(incarnation: row.incarnation, edits)
  }

  private mutating func edited(
    _ content: Content<Int>, _ key: Int, _ writer: Writer
  ) -> Content<Int> {
    switch content {
    case .single, .one: return .single(newValue())
    case .list(var list):
      if !list.isEmpty, random.below(3) == 0 {
        unlisted.insert(list.remove(at: random.below(list.count)).content.value)
      }
      if list.count > 1, random.below(3) == 0 {
        list.insert(list.remove(at: random.below(list.count)), at: random.below(list.count))
      }
      for number in 1...2 {
        list.insert(element(key, number, writer), at: random.below(list.count + 1))
      }
      return .list(list)
    case .set(var set):
      if random.below(2) == 0 { set.remove(random.below(5)) } else { set.insert(random.below(5)) }
      return .set(set)
    case .map(var map):
      let key = StoredText("\(random.below(3))")
      map[key] = random.below(3) == 0 ? nil : Stamped(newValue(), writer.stamp)
      return .map(map)
    }
  }
}

extension SimulatedProgram where Server == SimulatedServer {
  /// Runs one with a simulated server. Here the compiler knows the server, and makes it fast.
  package static func run(
    seed: UInt64, _ accidents: SimulatedAccidents, steps: [UInt64]
  ) throws -> Self {
    var program = Self(seed: seed, accidents, SimulatedServer())
    try program.run(steps)
    return program
  }
}
