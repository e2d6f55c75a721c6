import Foundation
import SyncSimulation
import TarnStore
import Testing

@testable import TarnSync

/// A real server, for the programs of the simulation: a class with a key and two numbers.
final class ServerPeer: Peer {
  private let connection: ServerConnection
  private let described: ExchangeClass
  private let seed: UInt64
  private var positions: [ServerPosition] = []
  private var identities: [String] = []
  private var numbers: [UInt64: UInt32] = [:]

  static let thing = ClassSchema(
    id: ClassID(0), name: "Thing",
    columns: [
      ColumnSchema(id: ColumnID(0), name: "_id", type: .int),
      ColumnSchema(id: ColumnID(1), name: "a", type: .int),
      ColumnSchema(id: ColumnID(2), name: "b", type: .int, isOptional: true),
    ], primaryKey: ColumnID(0))

  /// With a class whose rows are deleted, and replicas of its own.
  init(_ connection: ServerConnection, seed: UInt64) throws {
    self.connection = connection
    self.seed = seed
    let entry = try ServerCatalog(connection, "test").existing("Thing")
    described = try ExchangeClass(entry, Self.thing)
    try connection.rows("DELETE FROM \"Thing\"")
    try connection.keepPlans(for: "test")
  }

  var clock: Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }
  func advance(by time: Int64) {}

  private func uuid(_ id: UInt64) -> String {
    let (a, b) = (String(seed, radix: 16), String(id, radix: 16))
    let digits =
      String(repeating: "0", count: 16 - a.count) + a
      + String(repeating: "0", count: 16 - b.count) + b
    return digits
  }

  func register(_ id: UInt64) throws {
    if numbers[id] != nil { return }
    numbers[id] = try connection.value("SELECT tarn.register($1)", [uuid(id)]).flatMap {
      UInt32($0)
    }
  }

  func pull(_ id: UInt64, since position: Int) throws -> Pulled {
    let answer = try Pull(connection: connection, replica: uuid(id)).run(
      [described], since: position < 0 ? .none : positions[position],
      // As after a hint, or without one.
      expecting: seed % 2 == 0 ? [described.id] : [])
    #expect(answer.missing == [])
    positions.append(answer.position)
    if identities.last != answer.server { identities.append(answer.server) }
    let changes = answer.changes[described.id] ?? Pull.Changes()
    let own = try #require(answer.own)
    var rows: [Int: ObjectRow<Int>] = [:]
    for (key, row) in changes.rows {
      guard case .int(let key) = key.value else { continue }
      rows[Int(key)] = ObjectRow(
        incarnation: row.incarnation,
        values: row.object(described).values.mapValues {
          .init(.single(Self.number($0.content)), $0.stamp)
        })
    }
    let gone = changes.departed
    return Pulled(
      identity: identities.count - 1, position: positions.count - 1,
      known: Known(
        id: id, number: numbers[id] ?? 0, version: Int(own.version),
        commit: UInt64(bitPattern: own.commit)), rows: rows, gone: gone)
  }

  private static func number(_ content: Content<WireValue?>) -> Int {
    guard case .single(let value) = content, case .int(let number)? = value?.value(.int) else {
      return -1
    }
    return Int(number)
  }

  func push(
    _ replica: Known, to identity: Int, _ commits: Sent, _ operations: [(key: Int, PeerOperation)]
  ) throws -> PeerAnswer {
    guard identities.indices.contains(identity) else { return .otherVersion }
    let push = Push(
      connection: connection, replica: (uuid(replica.id), replica.number),
      server: identities[identity])
    func pair(_ one: (version: Int, commit: UInt64)) -> (version: Int64, commit: Int64) {
      (Int64(one.version), Int64(bitPattern: one.commit))
    }
    let answer = try push.run(
      Push.Range(first: pair(commits.first), last: pair(commits.last)),
      [
        (
          described,
          operations.map { key, operation in (.int(Int64(key)), Self.translated(operation)) }
        )
      ])
    switch answer {
    case .taken: return .taken
    case .mergeFirst: return .mergeFirst
    case .otherVersion: return .otherVersion
    case .lost(let objects):
      Issue.record("the server has lost \(objects)")
      return .otherVersion
    case .refused(let error):
      #expect(error.state == "23514")
      return .refused
    }
  }

  private static func translated(_ operation: PeerOperation) -> Push.Operation {
    func value(_ property: ObjectRow<Int>.Property) -> ObjectRow<WireValue?>.Property {
      guard case .single(let number) = property.content else { trap("only single values") }
      return .init(.single(WireValue(.int(Int64(number)))), property.stamp)
    }
    switch operation {
    case .delete(let incarnation): return .delete(incarnation: incarnation)
    case .insert(let row):
      return .insert(
        ObjectRow(incarnation: row.incarnation, values: row.values.mapValues(value)))
    case .update(let incarnation, let values):
      return .update(incarnation: incarnation, values.mapValues { value($0.value) })
    }
  }

  func sqlUpdate(_ key: Int, _ value: Int) throws {
    try connection.rows("UPDATE \"Thing\" SET b = \(value) WHERE _id = \(key)")
  }

  func sqlDelete(_ key: Int) throws {
    try connection.rows("DELETE FROM \"Thing\" WHERE _id = \(key)")
  }
}

extension RowReader.Row {
  /// All of the row.
  func object(_ one: ExchangeClass) -> ObjectRow<WireValue?> {
    let values = one.others.map { property in
      (
        property.name,
        ObjectRow<WireValue?>.Property(.single(wire(property)), stamp(of: property))
      )
    }
    return ObjectRow(incarnation: incarnation, values: Dictionary(uniqueKeysWithValues: values))
  }
}
