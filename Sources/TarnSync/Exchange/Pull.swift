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
    /// The numbers of the classes with changes.
    let changed: Set<Int>
    /// The changes by the number of their class.
    var changes: [Int: Changes] = [:]
  }

  /// The changes of a class.
  struct Changes {
    /// The new state of the rows that one may see.
    fileprivate(set) var found: RowReader.Found?
    /// The incarnations of all rows that changed: those that are not among the rows have left.
    var incarnations: Set<Int64> = []
    /// Whether there are more than one step can hold. Then the class is to be compared as a whole.
    var isTooLarge = false

    /// The rows by primary key.
    var rows: [ElementKey: RowReader.Row] {
      get throws(ServerError) {
        var rows: [ElementKey: RowReader.Row] = [:]
        for place in 0..<(found?.count ?? 0) {
          if let row = try found?.row(place) { rows[row.key] = row }
        }
        return rows
      }
    }

    /// Calls `body` with each row, which is decoded only then.
    ///
    /// - Throws: `.invalidInput` for a row that replicas cannot read.
    func forEachRow(
      _ body: (RowReader.Row) throws(StorageError) -> Void
    ) throws(StorageError) {
      guard let found else { return }
      for place in 0..<found.count {
        let row = Result { () throws(ServerError) in try found.row(place) }
        switch row {
        case .success(let row): try body(row)
        case .failure(let error):
          throw StorageError(.invalidInput, operation: Pull.operation, path: "", detail: "\(error)")
        }
      }
    }

    /// The incarnations of those that have left.
    var departed: Set<Int64> {
      var departed = incarnations
      for place in 0..<(found?.count ?? 0) {
        if let incarnation = found?.incarnation(place) { departed.remove(incarnation) }
      }
      return departed
    }
  }

  fileprivate static let operation = "read the changes of the server"
  let connection: ServerConnection
  /// A UUID.
  let replica: String
  /// The server that the position is of; of another one no changes are read. Nil for any.
  var server: String?
  /// How large the changes of a class may be that are read as one step, in bytes.
  var stepBytes = Pull.stepBytesMax
  static let stepBytesMax = 32 << 20
  /// More incarnations would take too much memory by themselves.
  private static let stepObjectsMax = 500_000

  /// - Parameter looks: whether to ask first, in a shorter way, whether there is anything new.
  func run(
    _ classes: [ExchangeClass], since position: ServerPosition, looking looks: Bool = false
  ) throws(ServerError) -> Answer {
    let open = opening(classes, position)
    if looks {
      let answer = try answer(connection.rows(open, for: Self.operation))
      if answer.changed.isEmpty { return answer }
    }
    return try connection.transaction(
      "REPEATABLE READ READ ONLY", beginning: open, for: Self.operation
    ) { rows throws(ServerError) in
      try read(classes, position, answer(rows))
    }
  }

  private func opening(_ classes: [ExchangeClass], _ position: ServerPosition) -> String {
    let numbers = "{\(classes.map { "\($0.id)" }.joined(separator: ","))}"
    return """
      SELECT server, snapshot, version, commit, pruned, clock, changed, renewed, missing
      FROM tarn.open(
        \(SQLText.literal(replica)), \(ServerSchema.format), '\(numbers)', '\(position.end)',
        '\(position.openText)')
      """
  }

  private func answer(_ rows: [[String?]]) throws(ServerError) -> Answer {
    guard let row = rows.first, row.count == 9, let server = row[0], let snapshot = row[1],
      let next = ServerPosition(snapshot), let pruned = row[4].flatMap({ UInt64($0) }),
      let clock = row[5].flatMap({ Int64($0) })
    else { throw ServerError(Self.operation, "the server gave no position") }
    var own: (Int64, Int64)?
    if let version = row[2].flatMap({ Int64($0) }), let commit = row[3].flatMap({ Int64($0) }) {
      own = (version, commit)
    }
    return Answer(
      server: server, position: next, own: own, pruned: pruned, clock: clock,
      renewed: Self.numbers(row[7]), missing: Self.numbers(row[8]),
      changed: Self.numbers(row[6]))
  }

  private func read(
    _ classes: [ExchangeClass], _ position: ServerPosition, _ opened: Answer
  ) throws(ServerError) -> Answer {
    let isOther = server.map { $0 != opened.server } ?? false
    let end = opened.position.end
    let isOld = position != .none && (opened.pruned >= position.end || end < position.end)
    var answer = opened
    for one in classes where answer.changed.contains(one.id) && !isOther && !isOld {
      answer.changes[one.id] = try changes(of: one, since: position, before: end)
    }
    return answer
  }

  /// The numbers of an array as text.
  private static func numbers(_ text: String?) -> Set<Int> {
    Set((text ?? "").split { "{},".contains($0) }.compactMap { Int($0) })
  }

  private func changes(
    of one: ExchangeClass, since position: ServerPosition, before end: UInt64
  ) throws(ServerError) -> Changes {
    var changes = Changes()
    let found = try Self.changed(
      one, since: position, connection, atMost: Self.stepObjectsMax + 1)
    if found.count > Self.stepObjectsMax {
      changes.isTooLarge = true
      return changes
    }
    changes.incarnations = found
    let reader = RowReader(one, Self.operation)
    let isNew = """
      (_tarn_xid >= '\(position.end)' AND _tarn_xid < '\(end)'
        OR _tarn_xid = ANY ('\(position.openText)'))\(one.filter.map { " AND \($0)" } ?? "")
      """
    // The server does not send what is too large: it compares the sum of the sizes first.
    let isLarge = """
      (SELECT coalesce(sum(\(reader.size)), 0) > \(stepBytes) FROM \(one.table) WHERE \(isNew))
      """
    let rows = try connection.binary(
      "SELECT \(reader.columns) FROM \(one.table) WHERE \(isNew) AND NOT \(isLarge)", [],
      for: Self.operation)
    changes.found = RowReader.Found(rows, reader)
    if rows.count == 0, !found.isEmpty {
      let answer = try connection.query("SELECT \(isLarge)", for: Self.operation)
      changes.isTooLarge = answer.first?[0] == "t"
    }
    return changes
  }

  /// The incarnations of a class's objects that changed after a position.
  static func changed(
    _ one: ExchangeClass, since position: ServerPosition, _ connection: ServerConnection,
    atMost limit: Int? = nil
  ) throws(ServerError) -> Set<Int64> {
    let incarnations = try connection.query(
      "SELECT tarn.changed($1, $2, $3)\(limit.map { " LIMIT \($0)" } ?? "")",
      ["\(one.id)", "\(position.end)", position.openText],
      for: operation)
    return Set(incarnations.compactMap { $0[0].flatMap { Int64($0) } })
  }
}
