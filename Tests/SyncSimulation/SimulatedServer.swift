package import TarnSync

/// A server as its triggers and functions make it, in memory: rows by key, tombstones, and of each
/// replica the last commit.
package struct SimulatedServer: Peer {
  package typealias Row = ObjectRow<Int>

  package private(set) var clock: Int64 = 1_000_000
  /// Another one after a failover.
  private(set) var identity = 0
  private(set) var transaction = 0
  private var rows: [Int: (row: Row, transaction: Int)] = [:]
  private var gone: [Int64: Int] = [:]
  private var replicas: [UInt64: Known] = [:]
  private var nextNumber: UInt32 = 1

  /// The farthest that a stamp may be ahead.
  static let cap: Int64 = 60

  /// The objects as they are.
  package var objects: [Int: Row] { rows.mapValues(\.row) }

  package mutating func advance(by time: Int64) { clock += time }

  package mutating func register(_ id: UInt64) {
    if replicas[id] != nil { return }
    replicas[id] = Known(id: id, number: nextNumber)
    nextNumber += 1
  }

  package func pull(_ id: UInt64, since position: Int) -> Pulled {
    Pulled(
      identity: identity, position: transaction, known: replicas[id]!,
      rows: rows.filter { $0.value.transaction > position }.mapValues(\.row),
      gone: Set(gone.filter { $0.value > position }.keys))
  }

  /// A value that the server refuses, as a unique rule or a policy would.
  package static func isRefused(_ row: Row) -> Bool {
    if case .single(let value)? = row.values["a"]?.content { return value % 13 == 0 }
    return false
  }

  /// Takes a run of commits, or leaves everything as it is.
  package mutating func push(
    _ replica: Known, to identity: Int, _ commits: Sent, _ operations: [(key: Int, PeerOperation)]
  ) -> PeerAnswer {
    guard identity == self.identity, let known = replicas[replica.id],
      (known.version, known.commit) == commits.first
    else { return .otherVersion }
    var after = self
    after.transaction += 1
    after.replicas[replica.id]?.version = commits.last.version
    after.replicas[replica.id]?.commit = commits.last.commit
    for (key, operation) in operations {
      let answer = after.apply(operation, key)
      guard answer == .taken else { return answer }
      if let row = after.rows[key]?.row, Self.isRefused(row) { return .refused }
    }
    self = after
    return .taken
  }

  private mutating func apply(_ operation: PeerOperation, _ key: Int) -> PeerAnswer {
    switch operation {
    case .insert(let row):
      // What exists has another incarnation: the replica must merge with it.
      guard rows[key] == nil else { return .mergeFirst }
      rows[key] = (capped(row), transaction)
    case .delete(let incarnation):
      guard rows[key]?.row.incarnation == incarnation else { return .taken }
      rows[key] = nil
      gone[incarnation] = transaction
    case .update(let incarnation, let values):
      guard var row = rows[key]?.row, row.incarnation == incarnation else { return .taken }
      for (name, (value, seen)) in values {
        let former = row.values[name]
        var value = capped(value)
        if case .single = value.content {
          if let former, value.stamp < former.stamp { continue }
        } else if let former {
          guard seen == former.stamp else { return .mergeFirst }
          if value.stamp.time <= former.stamp.time {
            value.stamp = Stamp(former.stamp.time + 1, by: value.stamp.writer)
          }
        }
        row.values[name] = value
      }
      rows[key] = (row, transaction)
    }
    return .taken
  }

  private func capped(_ row: Row) -> Row {
    var row = row
    row.values = row.values.mapValues(capped)
    return row
  }

  /// Replicas cap what lies in a structure by the stamp of all of it.
  private func capped(_ value: Row.Property) -> Row.Property {
    var value = value
    value.stamp = capped(value.stamp)
    switch value.content {
    case .single, .one, .set: break
    case .list(let elements):
      value.content = .list(
        elements.map { ListElement($0.id, $0.content.value, capped($0.content.stamp)) })
    case .map(let entries):
      value.content = .map(entries.mapValues { Stamped($0.value, capped($0.stamp)) })
    }
    return value
  }

  private func capped(_ stamp: Stamp) -> Stamp {
    Stamp(min(stamp.time, clock + Self.cap), by: stamp.writer)
  }

  // MARK: - What happens to servers

  /// A SQL program, which has seen the row and so wins.
  package mutating func sqlUpdate(_ key: Int, _ value: Int) {
    guard var row = rows[key]?.row else { return }
    transaction += 1
    let last = row.values.values.map(\.stamp.time).max() ?? 0
    row.values["b"] = .init(.single(value), Stamp(max(clock, last + 1), by: 0))
    rows[key] = (row, transaction)
  }

  package mutating func sqlDelete(_ key: Int) {
    guard let row = rows[key]?.row else { return }
    transaction += 1
    rows[key] = nil
    gone[row.incarnation] = transaction
  }

  /// A standby that was behind becomes the server.
  mutating func failOver(to old: SimulatedServer) {
    let (clock, identity) = (clock, identity)
    self = old
    self.clock = clock
    self.identity = identity + 1
  }
}
