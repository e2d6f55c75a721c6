import Foundation
import TarnStore

/// The statements by which a push writes the objects of one class.
struct ClassPush {
  private let connection: ServerConnection
  private let number: UInt32
  private let one: ExchangeClass
  private let operation: String

  private typealias Update = (
    key: Value, incarnation: Int64, values: [String: ObjectRow<WireValue?>.Property]
  )
  private var deletions: [(Value, Int64)] = []
  private var insertions: [(key: Value, row: ObjectRow<WireValue?>)] = []
  /// Updates of the same columns are one statement.
  private let groups: [(names: [String], rows: [Update])]

  init(
    _ connection: ServerConnection, _ number: UInt32, _ one: ExchangeClass, _ operation: String,
    _ operations: [(Value, Push.Operation)]
  ) {
    self.connection = connection
    self.number = number
    self.one = one
    self.operation = operation
    var updates: [[String]: [Update]] = [:]
    for (key, operation) in operations {
      switch operation {
      case .delete(let incarnation): deletions.append((key, incarnation))
      case .insert(let row): insertions.append((key, row))
      case .update(let incarnation, let values):
        updates[values.keys.sorted(), default: []].append((key, incarnation, values))
      }
    }
    groups = updates.sorted { $0.key.lexicographicallyPrecedes($1.key) }.flatMap { names, rows in
      Self.parts(rows, \.values).map { (names, $0) }
    }
  }

  /// The statements, whose answers `answer(to:)` takes.
  var statements: [ServerConnection.Statement] {
    preparing + Self.parts(insertions, \.row.values).map { inserting($0, skipsTaken: true) }
      + groups.map { updating($0.names, $0.rows) }
  }

  /// Statements that fail with one of `lackStates` if the server lacks an object, so that the
  /// commit can follow them unseen. Nil if there are insertions: a role may have no right to read
  /// these.
  var checkedStatements: [ServerConnection.Statement]? {
    guard insertions.isEmpty else { return nil }
    return preparing
      + groups.map { names, rows in
        let update = updating(names, rows)
        let count = WireParameter(.bigint, WireValue(.int(Int64(rows.count)))?.bytes)
        let place = update.parameters.count + 1
        return ServerConnection.Statement(
          "WITH u AS (\(update.text)) SELECT 1 / (count(*) = $\(place))::int FROM u",
          update.parameters + [count], isRepeated: true)
      }
  }

  /// A division by zero; and a plan that does not fit or is not there, so that the statements must
  /// be sent in the other way.
  static let lackStates: Set<String> = ["22012", "0A000", "26000", "42P05"]

  private var preparing: [ServerConnection.Statement] {
    let changed = deletions.map(\.0) + groups.flatMap { $0.rows.map(\.key) }
    var statements: [ServerConnection.Statement] = []
    // A role that may only insert cannot lock. One row is locked by its change.
    if changed.count > 1 { statements.append(locking(changed)) }
    if !deletions.isEmpty { statements.append(deleting(deletions)) }
    return statements
  }

  /// - Parameter found: the rows of each statement.
  /// - Returns: nil if everything is written, otherwise what to do.
  func answer(to found: [WireRows]) throws(ServerError) -> Push.Answer? {
    let updated = found.suffix(groups.count)
    let inserted = found.dropLast(groups.count)
      .suffix(Self.parts(insertions, \.row.values).count)
    if inserted.reduce(0, { $0 + $1.written }) < insertions.count, !one.isAsymmetric,
      let answer = try insertAgain()
    {
      return answer
    }
    var missing: [(key: Value, incarnation: Int64)] = []
    for (written, group) in zip(updated, groups) {
      let present = incarnations(written)
      missing += group.rows.filter { !present.contains($0.incarnation) }
        .map { ($0.key, $0.incarnation) }
    }
    return try missing.isEmpty ? nil : answer(missing)
  }

  /// The rows in parts of which each fits into a message.
  private static func parts<Row>(
    _ rows: [Row], _ values: (Row) -> [String: ObjectRow<WireValue?>.Property]
  ) -> [[Row]] {
    var (parts, bytes): ([[Row]], Int) = ([], Int.max)
    for row in rows {
      let own = Push.Operation.update(incarnation: 0, values(row)).byteCount
      if bytes > Push.statementBytes - own {
        parts.append([])
        bytes = 0
      }
      bytes += own
      parts[parts.count - 1].append(row)
    }
    return parts
  }

  /// Asks the server about objects whose rows an update did not find. Deleted ones stay deleted.
  private func answer(
    _ missing: [(key: Value, incarnation: Int64)]
  ) throws(ServerError) -> Push.Answer? {
    let fates = try ServerFate.of(missing, one, connection, for: operation)
    if fates.values.contains(.hidden) {
      return .refused(
        ServerError(
          state: "42501", operation, "the login has no right to change an object of \(one.table)"))
    }
    let lost = Set(fates.filter { $0.value == .unknown }.keys)
    return lost.isEmpty ? nil : .lost(lost)
  }

  private func keys(_ values: [Value]) -> WireParameter {
    WireParameter(array: one.key.wire, values.map { WireValue($0)?.bytes })
  }

  private func numbers(_ values: [Int64]) -> WireParameter {
    WireParameter(array: .bigint, values.map { WireValue(.int($0))?.bytes })
  }

  /// Locks the rows in the order of their keys: in any other order pushes wait for each other in
  /// circles.
  private func locking(_ values: [Value]) -> ServerConnection.Statement {
    ServerConnection.Statement(
      """
      SELECT FROM \(one.table) WHERE \(one.key.column) = ANY ($1)
      ORDER BY \(one.key.column) FOR UPDATE
      """, [keys(values)])
  }

  private func deleting(
    _ rows: [(key: Value, incarnation: Int64)]
  ) -> ServerConnection.Statement {
    ServerConnection.Statement(
      """
      DELETE FROM \(one.table) t USING unnest($1, $2) d (k, o)
      WHERE t.\(one.key.column) = d.k AND t._tarn_oid = d.o
      """, [keys(rows.map(\.key)), numbers(rows.map(\.incarnation))])
  }

  /// Looks at the keys that were taken.
  private func insertAgain() throws(ServerError) -> Push.Answer? {
    var lacking = insertions
    // Another one's object may be deleted between the attempt and the look at it.
    for _ in 0..<3 {
      let visible = try connection.binary(
        "SELECT _tarn_oid FROM \(one.table) WHERE \(one.key.column) = ANY ($1)",
        [keys(insertions.map(\.key))], for: operation)
      let present = incarnations(visible)
      if !present.isSubset(of: insertions.map(\.row.incarnation)) { return .mergeFirst }
      // An object that is there was sent without an answer.
      lacking = insertions.filter { !present.contains($0.row.incarnation) }
      if lacking.isEmpty { return nil }
      if try insert(lacking, skipsTaken: true) == lacking.count { return nil }
    }
    // One that the login has no right to see has the key, or a unique index another value: the
    // server says which.
    _ = try insert(lacking, skipsTaken: false)
    return nil
  }

  /// - Returns: how many keys were free.
  private func insert(
    _ rows: [(key: Value, row: ObjectRow<WireValue?>)], skipsTaken: Bool
  ) throws(ServerError) -> Int {
    let statements = Self.parts(rows, \.row.values).map { inserting($0, skipsTaken: skipsTaken) }
    return try connection.binary(statements, for: operation).reduce(0) { $0 + $1.written }
  }

  /// Does not read the rows, because a role may have the right to write alone.
  ///
  /// - Parameter skipsTaken: whether rows are left out that are there, instead of failing.
  private func inserting(
    _ rows: [(key: Value, row: ObjectRow<WireValue?>)], skipsTaken: Bool
  ) -> ServerConnection.Statement {
    let notes = rows.map { _, row in
      // A new object's values have one stamp.
      let time = row.values.values.map(\.stamp.time).max() ?? 0
      return RowState.Note(
        by: number, at: time, oid: row.incarnation, cols: nil, parts: parts(row.values)
      ).bytes
    }
    return ServerConnection.Statement(
      """
      INSERT INTO \(one.table) (\(one.key.column), _tarn_in\(list(one.others)))
      SELECT u.k, u.i\(one.others.indices.map { ", u.c\($0)" }.joined())
      FROM unnest($1, $2\(one.others.indices.map { ", $\($0 + 3)" }.joined()))
        u (k, i\(one.others.indices.map { ", c\($0)" }.joined()))
      ORDER BY u.k\(skipsTaken ? " ON CONFLICT DO NOTHING" : "")
      """,
      [keys(rows.map(\.key)), WireParameter(array: .jsonb, notes)]
        + one.others.map { column($0, rows.map(\.row.values)) })
  }

  private func incarnations(_ rows: WireRows) -> Set<Int64> {
    Set((0..<rows.count).compactMap { rows.integer($0, 0) })
  }

  /// Gives the incarnations of the rows that it has written.
  private func updating(
    _ names: [String], _ rows: [Update]
  ) -> ServerConnection.Statement {
    let properties = one.others.filter { names.contains($0.name) }
    let notes = rows.map { row in
      let seen = row.values.compactMapValues { $0.seen.map { [$0.time, Int64($0.writer)] } }
      return RowState.Note(
        by: number, cols: row.values.mapValues(\.stamp.time), seen: seen.isEmpty ? nil : seen,
        parts: parts(row.values)
      ).bytes
    }
    let assignments = properties.enumerated().map { ", \($1.column) = u.c\($0)" }.joined()
    return ServerConnection.Statement(
      """
      UPDATE \(one.table) t SET _tarn_in = u.i\(assignments)
      FROM unnest($1, $2, $3\(properties.indices.map { ", $\($0 + 4)" }.joined()))
        u (k, o, i\(properties.indices.map { ", c\($0)" }.joined()))
      WHERE t.\(one.key.column) = u.k AND t._tarn_oid = u.o RETURNING t._tarn_oid
      """,
      [
        keys(rows.map(\.key)), numbers(rows.map(\.incarnation)),
        WireParameter(array: .jsonb, notes),
      ] + properties.map { column($0, rows.map(\.values)) })
  }

  private func list(_ properties: [ExchangeClass.Property]) -> String {
    properties.map { ", \($0.column)" }.joined()
  }

  private func column(
    _ property: ExchangeClass.Property, _ rows: [[String: ObjectRow<WireValue?>.Property]]
  ) -> WireParameter {
    WireParameter(
      array: property.wire,
      rows.map { values in
        guard case .single(let value)? = values[property.name]?.content else { return nil }
        return value?.bytes
      })
  }

  /// The exact values and the names of elements that are kept beside columns.
  private func parts(
    _ values: [String: ObjectRow<WireValue?>.Property]
  ) -> [String: String]? {
    let parts = values.compactMapValues { property in
      guard case .single(let value) = property.content, let exact = value?.exact else {
        return nil as String?
      }
      return Data(exact).base64EncodedString()
    }
    return parts.isEmpty ? nil : parts
  }
}
