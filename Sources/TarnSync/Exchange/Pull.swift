import TarnStore

/// Asks a server for changes, in one read-only transaction, so everything in the answer belongs to
/// one state.
struct Pull {
  /// The server's answer.
  struct Answer {
    /// The identity of the server. If it is another one, a replica reconciles everything.
    let server: String
    let position: ServerPosition
    /// The last version of this replica that the server has, with its commit's id; nil if it does
    /// not know the replica.
    let own: (version: Int64, commit: Int64)?
    /// Tombstones of transactions up to this one may have been removed.
    let pruned: UInt64
    /// The server's clock, in microseconds since 1970.
    let clock: Int64
    /// The classes to reconcile, and those that the server lacks.
    let renewed: Set<Int>
    let missing: Set<Int>
    /// The numbers of the classes with changes.
    let changed: Set<Int>
    /// The changes by the number of their class.
    var changes: [Int: Changes] = [:]
  }

  /// The changes of a class.
  struct Changes {
    /// The new state of the rows that the replica may see.
    fileprivate(set) var found: RowReader.Found?
    /// The incarnations of all rows that changed: those that are not among the rows have left.
    var incarnations: Set<Int64> = []
    /// Whether there are more changes than one step can hold. The class must then be compared as a
    /// whole.
    var isTooLarge = false

    /// The rows by primary key.
    var rows: [ElementKey: RowReader.Row] {
      var rows: [ElementKey: RowReader.Row] = [:]
      for place in 0..<(found?.count ?? 0) {
        if let row = found?.row(place) { rows[row.key] = row }
      }
      return rows
    }

    /// Calls `body` with each row, which is decoded only then.
    ///
    /// - Parameter unreadable: called for rows that no replica can have.
    func forEachRow(
      _ body: (RowReader.Row) throws(StorageError) -> Void,
      unreadable: (RowReader.Unreadable) throws(StorageError) -> Void
    ) throws(StorageError) {
      guard let found else { return }
      for place in 0..<found.count {
        if let row = found.row(place) {
          try body(row)
        } else if let row = found.unreadable(place) {
          try unreadable(row)
        }
      }
    }

    /// The incarnations of rows that have left.
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
  /// The server of the position; no changes are read from another one. Nil for any.
  var server: String?
  /// The maximum size of a class's changes in one step, in bytes.
  var stepBytes = Pull.stepBytesMax
  static let stepBytesMax = 32 << 20
  /// More incarnations would need too much memory.
  fileprivate static let stepObjectsMax = 500_000

  /// - Parameters:
  ///   - looks: whether to ask first, with a shorter query, whether there are changes.
  ///   - expected: the numbers of classes that have probably changed: if no others have, one round
  ///     trip suffices.
  func run(
    _ classes: [ExchangeClass], since position: ServerPosition, looking looks: Bool = false,
    expecting expected: Set<Int> = []
  ) throws(ServerError) -> Answer {
    if position != .none, !expected.isEmpty,
      let answer = try runAtOnce(classes, position, expected)
    {
      return answer
    }
    let open = opening(classes, position)
    if looks {
      let answer = try answer(connection.rows(open, for: Self.operation))
      if answer.changed.isEmpty { return answer }
    }
    return try connection.transaction(
      "REPEATABLE READ READ ONLY", beginning: open, committing: true, for: Self.operation
    ) { rows throws(ServerError) in
      try read(classes, position, answer(rows))
    }
  }

  /// - Returns: nil if more is needed than reading the changes of some classes.
  private func runAtOnce(
    _ classes: [ExchangeClass], _ position: ServerPosition, _ expected: Set<Int>
  ) throws(ServerError) -> Answer? {
    let readings = classes.filter { expected.contains($0.id) }
      .map { Reading($0, since: position, stepBytes, isRepeated: true) }
    // A cached plan depends neither on the position nor on the constants of a condition.
    let mode = readings.allSatisfy(\.isKept) ? "force_generic_plan" : "auto"
    let texts = Self.columns.map { "\($0)::text" }.joined(separator: ", ")
    let open = ServerConnection.Statement(
      """
      SELECT \(texts), set_config('plan_cache_mode', '\(mode)', true)
      FROM tarn.open(
        $1::uuid, \(ServerSchema.format), $2::integer[], $3::xid8, $4::xid8[])
      """, arguments(classes, position).map { WireParameter(text: $0) }, isRepeated: true)
    let begin = ServerConnection.Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    let statements = [begin, open] + readings.flatMap(\.statements)
    let found: [WireRows]
    do throws(ServerError) {
      found = try connection.binary(
        statements + [ServerConnection.Statement("COMMIT")], for: Self.operation)
    } catch {
      // For example because a class was dropped: the long form reports that.
      try connection.run("ROLLBACK", for: Self.operation)
      return nil
    }
    var answer = try answer(found[1].texts.map { $0.dropLast() })
    guard !needsMore(answer, position), answer.changed.isSubset(of: readings.map(\.id)) else {
      return nil
    }
    for (number, reading) in readings.enumerated() where answer.changed.contains(reading.id) {
      let place = 2 + number * Reading.count
      answer.changes[reading.id] = reading.changes(Array(found[place..<place + Reading.count]))
    }
    return answer
  }

  /// Whether the server cannot answer with changes alone: it is another one, or no longer has
  /// deletions.
  private func needsMore(_ answer: Answer, _ position: ServerPosition) -> Bool {
    if let server, server != answer.server { return true }
    return position != .none
      && (answer.pruned >= position.end || answer.position.end < position.end)
  }

  private static let columns = [
    "server", "snapshot", "version", "commit", "pruned", "clock", "changed", "renewed", "missing",
  ]

  private func opening(_ classes: [ExchangeClass], _ position: ServerPosition) -> String {
    let arguments = arguments(classes, position).map { SQLText.literal($0) }
    return """
      SELECT \(Self.columns.joined(separator: ", ")) FROM tarn.open(
        \(arguments[0]), \(ServerSchema.format), \(arguments[1]), \(arguments[2]),
        \(arguments[3]))
      """
  }

  /// The replica, the classes, and the position in two parts, as arguments of `tarn.open`.
  private func arguments(_ classes: [ExchangeClass], _ position: ServerPosition) -> [String] {
    let numbers = "{\(classes.map { "\($0.id)" }.joined(separator: ","))}"
    return [replica, numbers, "\(position.end)", position.openText]
  }

  private func answer(_ rows: [some RandomAccessCollection<String?>]) throws(ServerError) -> Answer
  {
    guard let row = rows.first.map({ Array($0) }), row.count == 9, let server = row[0],
      let snapshot = row[1],
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
    let wanted =
      needsMore(opened, position) ? [] : classes.filter { opened.changed.contains($0.id) }
    let readings = wanted.map { Reading($0, since: position, stepBytes, isRepeated: false) }
    let statements = readings.flatMap(\.statements) + [ServerConnection.Statement("COMMIT")]
    let found = try connection.binary(statements, for: Self.operation)
    var answer = opened
    for (number, reading) in readings.enumerated() {
      let place = number * Reading.count
      answer.changes[reading.id] = reading.changes(Array(found[place..<place + Reading.count]))
    }
    return answer
  }

  /// The numbers of an array as text.
  private static func numbers(_ text: String?) -> Set<Int> {
    Set((text ?? "").split { "{},".contains($0) }.compactMap { Int($0) })
  }

  /// The statements that read the changes of one class.
  private struct Reading {
    /// The number of statements.
    static let count = 2
    let id: Int
    let statements: [ServerConnection.Statement]
    /// Whether the server may cache the plans of all of them.
    let isKept: Bool
    private let reader: RowReader

    /// - Parameter isRepeated: whether the server may cache the plan, which then does not depend on
    ///   the position: for few changes. With a condition the rows' statement is planned each time,
    ///   because the plan depends on how many rows have the compared values.
    init(
      _ one: ExchangeClass, since position: ServerPosition, _ stepBytes: Int, isRepeated: Bool
    ) {
      id = one.id
      reader = RowReader(one)
      let values = ["\(position.end)", position.openText]
      let (end, open) =
        isRepeated ? ("$1::xid8", "$2::xid8[]") : ("'\(values[0])'", "'\(values[1])'")
      let parameters = isRepeated ? values.map { WireParameter(text: $0) } : []
      var rowParameters = parameters
      let filter = one.filter.map { " AND \($0.text(adding: &rowParameters))" } ?? ""
      isKept = isRepeated && rowParameters.count == parameters.count
      let isNew = """
        (_tarn_xid >= \(end)
            AND _tarn_xid < pg_snapshot_xmax(pg_current_snapshot())
          OR _tarn_xid = ANY (\(open)))\(filter)
        """
      statements = [
        ServerConnection.Statement(
          "SELECT tarn.changed(\(one.id), \(end), \(open)) LIMIT \(Pull.stepObjectsMax + 1)",
          parameters, isRepeated: isRepeated),
        // The server does not send too large results: it adds up the sizes first.
        ServerConnection.Statement(
          """
          WITH new AS MATERIALIZED (
            SELECT \(reader.columns), \(reader.size) AS _tarn_size
            FROM \(one.rows) WHERE \(isNew))
          SELECT n.*
          FROM (SELECT coalesce(sum(_tarn_size), 0) > \(stepBytes) AS is_large FROM new) s
          LEFT JOIN new n ON NOT s.is_large WHERE n._tarn_size IS NOT NULL OR s.is_large
          """, rowParameters, isRepeated: isKept),
      ]
    }

    func changes(_ found: [WireRows]) -> Changes {
      var changes = Changes()
      // A row of nulls means too large.
      let isLarge = found[1].count == 1 && found[1].isNull(0, 1)
      if isLarge || found[0].count > Pull.stepObjectsMax {
        changes.isTooLarge = true
        return changes
      }
      for row in 0..<found[0].count {
        if let incarnation = found[0].integer(row, 0) { changes.incarnations.insert(incarnation) }
      }
      changes.found = RowReader.Found(found[1], reader)
      return changes
    }
  }

  /// The incarnations of a class's objects that changed after a position.
  static func changed(
    _ one: ExchangeClass, since position: ServerPosition, _ connection: ServerConnection
  ) throws(ServerError) -> Set<Int64> {
    let incarnations = try connection.query(
      "SELECT tarn.changed($1, $2, $3)",
      ["\(one.id)", "\(position.end)", position.openText],
      for: operation)
    return Set(incarnations.compactMap { $0[0].flatMap { Int64($0) } })
  }
}
