import TarnStore

/// Asks a server what is new. It is one transaction that only reads, so everything in the answer is
/// of one state.
struct Pull {
  /// The server's answer.
  struct Answer {
    /// The identity of the server. After another one's answer a replica reconciles everything.
    let server: String
    let position: ServerPosition
    /// The last version of this replica that the server has, with its commit's id; nil if it does
    /// not know the replica.
    let own: (version: Int64, commit: Int64)?
    /// Tombstones of transactions up to this one may be gone.
    let pruned: UInt64
    /// In microseconds since 1970.
    let clock: Int64
    /// The classes to reconcile, and those that the server does not have.
    let renewed: Set<Int>
    let missing: Set<Int>
    /// The changes by the number of their class.
    let changes: [Int: Changes]
  }

  /// The changes of a class.
  struct Changes {
    /// The new state of the rows that one may see, by primary key.
    var rows: [ElementKey: RowReader.Row] = [:]
    /// The incarnations of all rows that changed: those that are not among the rows have left.
    var incarnations: Set<Int64> = []
  }

  private static let operation = "read the changes of the server"
  let connection: ServerConnection
  /// A UUID.
  let replica: String

  func run(
    _ classes: [ExchangeClass], since position: ServerPosition
  ) throws(ServerError) -> Answer {
    try connection.transaction(
      "REPEATABLE READ READ ONLY", for: Self.operation
    ) { () throws(ServerError) in
      try read(classes, position)
    }
  }

  private func read(
    _ classes: [ExchangeClass], _ position: ServerPosition
  ) throws(ServerError) -> Answer {
    let numbers = "{\(classes.map { "\($0.id)" }.joined(separator: ","))}"
    let rows = try connection.query(
      """
      SELECT server, snapshot, version, commit, pruned, clock, changed, renewed, missing
      FROM tarn.open($1, \(ServerSchema.format), $2, $3, $4)
      """, [replica, numbers, "\(position.end)", position.openText], for: Self.operation)
    guard let row = rows.first, let server = row[0], let snapshot = row[1],
      let next = ServerPosition(snapshot), let pruned = row[4].flatMap({ UInt64($0) }),
      let clock = row[5].flatMap({ Int64($0) })
    else { throw ServerError(Self.operation, "the server gave no position") }
    let changed = Self.numbers(row[6])
    var changes: [Int: Changes] = [:]
    for one in classes where changed.contains(one.id) {
      changes[one.id] = try self.changes(of: one, since: position, before: next.end)
    }
    var own: (Int64, Int64)?
    if let version = row[2].flatMap({ Int64($0) }), let commit = row[3].flatMap({ Int64($0) }) {
      own = (version, commit)
    }
    return Answer(
      server: server, position: next, own: own, pruned: pruned, clock: clock,
      renewed: Self.numbers(row[7]), missing: Self.numbers(row[8]), changes: changes)
  }

  /// The numbers of an array as text.
  private static func numbers(_ text: String?) -> Set<Int> {
    Set((text ?? "").split { "{},".contains($0) }.compactMap { Int($0) })
  }

  private func changes(
    of one: ExchangeClass, since position: ServerPosition, before end: UInt64
  ) throws(ServerError) -> Changes {
    var changes = Changes()
    let reader = RowReader(one, Self.operation)
    let found = try connection.binary(
      """
      SELECT \(reader.columns) FROM \(one.table)
      WHERE (_tarn_xid >= '\(position.end)' AND _tarn_xid < '\(end)'
        OR _tarn_xid = ANY ('\(position.openText)'))\(one.filter.map { " AND \($0)" } ?? "")
      """, [], for: Self.operation)
    for row in try reader.rows(found) { changes.rows[row.key] = row }
    changes.incarnations = try Self.changed(one, since: position, connection)
    return changes
  }

  /// The incarnations of all objects of a class that changed after a position.
  static func changed(
    _ one: ExchangeClass, since position: ServerPosition, _ connection: ServerConnection
  ) throws(ServerError) -> Set<Int64> {
    let incarnations = try connection.query(
      "SELECT tarn.changed($1, $2, $3)", ["\(one.id)", "\(position.end)", position.openText],
      for: operation)
    return Set(incarnations.compactMap { $0[0].flatMap { Int64($0) } })
  }
}
