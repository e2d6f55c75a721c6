import Foundation
import TarnStore

/// The part of a push that writes one class.
struct ClassPush {
  let connection: ServerConnection
  private let number: UInt32
  let one: ExchangeClass
  let operation: String

  private typealias Update = (
    key: Value, incarnation: Int64, values: [String: ObjectRow<WireValue?>.Property]
  )
  private typealias Insertion = (key: Value, row: ObjectRow<WireValue?>)
  private(set) var deletions: [(key: Value, incarnation: Int64)] = []
  private var insertions: [Insertion] = []
  /// Updates of the same columns form one statement.
  private var groups: [[Update]] = []
  private(set) var parts: [PushPart] = []

  /// - Parameter again: the keys that the push deletes and creates again, in all of its classes.
  init(
    _ connection: ServerConnection, _ number: UInt32, _ one: ExchangeClass, _ operation: String,
    _ operations: [(Value, Push.Operation)], again: KeysMadeAgain
  ) {
    self.connection = connection
    self.number = number
    self.one = one
    self.operation = operation
    for isAgain in [true, false] {
      let own = operations.compactMap { key, operation -> (Value, Int64)? in
        guard case .delete(let incarnation) = operation,
          again.contains(key, of: one.id) == isAgain
        else { return nil }
        return (key, incarnation)
      }
      if own.isEmpty { continue }
      deletions += own
      parts.append(deleting(own, isAgain: isAgain))
    }
    for isLater in [false, true] { addUpdates(operations, again, isLater: isLater) }
    for isLater in [false, true] { addInsertions(operations, again, isLater: isLater) }
  }

  private mutating func addUpdates(
    _ operations: [(Value, Push.Operation)], _ again: KeysMadeAgain, isLater: Bool
  ) {
    var updates: [[String]: [Update]] = [:]
    for (key, operation) in operations {
      guard case .update(let incarnation, let values) = operation,
        again.isNeeded(by: values, of: one) == isLater
      else { continue }
      updates[values.keys.sorted(), default: []].append((key, incarnation, values))
    }
    for (names, rows) in updates.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      for group in Self.parts(rows, \.values) {
        groups.append(group)
        parts.append(updating(names, group, isLater: isLater))
      }
    }
  }

  private mutating func addInsertions(
    _ operations: [(Value, Push.Operation)], _ again: KeysMadeAgain, isLater: Bool
  ) {
    let own = operations.compactMap { key, operation -> Insertion? in
      guard case .insert(let row) = operation else { return nil }
      let waits = again.contains(key, of: one.id) || again.isNeeded(by: row.values, of: one)
      return waits == isLater ? (key, row) : nil
    }
    insertions += own
    for rows in Self.parts(own, \.row.values) {
      parts.append(inserting(rows, one.rules.takenKeys, isLater: isLater))
    }
  }

  /// The number of existing rows that it changes.
  var changedCount: Int { deletions.count + groups.reduce(0) { $0 + $1.count } }

  /// Locks these rows in the order of their keys: in any other order pushes could deadlock. A role
  /// that may only insert could not lock, and needs no lock.
  var locking: ServerConnection.Statement? {
    let changed = deletions.map(\.key) + groups.flatMap { $0.map(\.key) }
    if changed.isEmpty { return nil }
    return ServerConnection.Statement(
      """
      SELECT FROM \(one.rows) WHERE \(one.key.column) = ANY ($1)
      ORDER BY \(one.key.column) FOR UPDATE
      """, [keys(changed)])
  }

  /// - Parameter results: the results of the parts.
  /// - Returns: nil if everything is written, otherwise how to proceed.
  func answer(to results: [PushPart.Result]) throws(ServerError) -> Push.Answer? {
    var (missing, deleted, inserted): ([(key: Value, incarnation: Int64)], Int, Int) = ([], 0, 0)
    var rest = groups[...]
    for (part, result) in zip(parts, results) {
      switch part.kind {
      case .deletion: deleted += result.written
      case .insertion: inserted += result.written
      case .update:
        missing += (rest.popFirst() ?? []).filter { !result.incarnations.contains($0.incarnation) }
          .map { ($0.key, $0.incarnation) }
      }
    }
    let lacksInsertions = inserted < insertions.count && !one.isAsymmetric
    if !deletions.isEmpty || !missing.isEmpty || lacksInsertions { try requireTriggers() }
    if deleted < deletions.count, let error = try skippedDeletion() { return .refused(error) }
    if lacksInsertions, let answer = try insertAgain() { return answer }
    return try missing.isEmpty ? nil : answer(missing)
  }

  /// The rows in parts each of which fits into a message.
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
    let hidden = missing.filter { fates[$0.incarnation] == .hidden }
    if !hidden.isEmpty { return .refused(try unchanged(hidden)) }
    let lost = Set(fates.filter { $0.value == .unknown }.keys)
    return lost.isEmpty ? nil : .lost(lost)
  }

  func keys(_ values: [Value]) -> WireParameter {
    WireParameter(array: one.key.wire, values.map { WireValue($0)?.bytes })
  }

  func numbers(_ values: [Int64]) -> WireParameter {
    WireParameter(array: .bigint, values.map { WireValue(.int($0))?.bytes })
  }

  private func deleting(
    _ rows: [(key: Value, incarnation: Int64)], isAgain: Bool
  ) -> PushPart {
    PushPart(
      kind: .deletion, count: rows.count, isLater: false, isChecked: true,
      condition: hasDeletionTrigger, isAgain: isAgain,
      parameters: [keys(rows.map(\.key)), numbers(rows.map(\.incarnation))],
      byteCount: 0,
      text: (
        "DELETE FROM \(one.rows) t USING",
        " WHERE t.\(one.key.column) = d.k AND t._tarn_oid = d.o"
      ), source: ("d", ["k", "o"]))
  }

  /// Looks up keys that were taken.
  private func insertAgain() throws(ServerError) -> Push.Answer? {
    var lacking = insertions
    // Another replica's object may be deleted between the attempt and the look-up.
    for _ in 0..<3 {
      let visible = try connection.binary(
        "SELECT _tarn_oid FROM \(one.rows) WHERE \(one.key.column) = ANY ($1)",
        [keys(insertions.map(\.key))], for: operation)
      let present = incarnations(visible)
      if !present.isSubset(of: insertions.map(\.row.incarnation)) { return .mergeFirst }
      // An object that exists was sent before, and the answer was lost.
      lacking = insertions.filter { !present.contains($0.row.incarnation) }
      if lacking.isEmpty { return nil }
      if try insert(lacking, one.rules.takenKeys) == lacking.count { return nil }
    }
    // A row that the login has no right to see has the key, or a unique index has another value:
    // the server's error names it.
    if try insert(lacking, .failing) == lacking.count { return nil }
    return .refused(skipped("create"))
  }

  /// - Returns: the number of free keys.
  private func insert(
    _ rows: [Insertion], _ taken: TakenKeys
  ) throws(ServerError) -> Int {
    let statements = Self.parts(rows, \.row.values).map {
      PushStatement(parts: [inserting($0, taken, isLater: false)]).unchecked
    }
    return try connection.binary(statements, for: operation).reduce(0) { $0 + $1.written }
  }

  /// Does not read the rows, because a role may only have the right to write.
  private func inserting(
    _ rows: [Insertion], _ taken: TakenKeys, isLater: Bool
  ) -> PushPart {
    let notes = rows.map { _, row in
      // A new object's values have one stamp.
      let time = row.values.values.map(\.stamp.time).max() ?? 0
      return RowState.Note(
        by: number, at: time, oid: row.incarnation, cols: nil, parts: parts(row.values)
      ).bytes
    }
    let columns = one.others.indices.map { "c\($0)" }
    let conflict =
      switch taken {
      case .skipped: " ON CONFLICT DO NOTHING"
      case .skippedByKey: " ON CONFLICT (\(one.key.column)) DO NOTHING"
      case .skippedByLook, .failing: ""
      }
    let free =
      taken == .skippedByLook
      ? " WHERE NOT EXISTS (SELECT FROM \(one.rows) t WHERE t.\(one.key.column) = u.k)" : ""
    return PushPart(
      kind: .insertion, count: rows.count, isLater: isLater, isChecked: !one.isAsymmetric,
      parameters: [keys(rows.map(\.key)), WireParameter(array: .jsonb, notes)]
        + one.others.map { column($0, rows.map(\.row.values)) },
      byteCount: byteCount(rows.map(\.row.values)),
      text: (
        """
        INSERT INTO \(one.table) (\(one.key.column), _tarn_in\(list(one.others)))
        SELECT u.k, u.i\(columns.map { ", u.\($0)" }.joined()) FROM
        """, "\(free) ORDER BY u.k\(conflict)"
      ), source: ("u", ["k", "i"] + columns))
  }

  private func byteCount(_ rows: [[String: ObjectRow<WireValue?>.Property]]) -> Int {
    rows.reduce(0) { $0 + Push.Operation.update(incarnation: 0, $1).byteCount }
  }

  private func incarnations(_ rows: WireRows) -> Set<Int64> {
    Set((0..<rows.count).compactMap { rows.integer($0, 0) })
  }

  /// Returns the incarnations of the rows that it has written. Our last trigger records the
  /// transaction in each.
  private func updating(_ names: [String], _ rows: [Update], isLater: Bool) -> PushPart {
    let properties = one.others.filter { names.contains($0.name) }
    let notes = rows.map { row in
      let seen = row.values.compactMapValues { $0.seen.map { [$0.time, Int64($0.writer)] } }
      return RowState.Note(
        by: number, cols: row.values.mapValues(\.stamp.time), seen: seen.isEmpty ? nil : seen,
        parts: parts(row.values)
      ).bytes
    }
    let assignments = properties.enumerated().map { ", \($1.column) = u.c\($0)" }.joined()
    return PushPart(
      kind: .update, count: rows.count, isLater: isLater, isChecked: true,
      parameters: [
        keys(rows.map(\.key)), numbers(rows.map(\.incarnation)),
        WireParameter(array: .jsonb, notes),
      ] + properties.map { column($0, rows.map(\.values)) },
      byteCount: byteCount(rows.map(\.values)),
      text: (
        "UPDATE \(one.rows) t SET _tarn_in = u.i\(assignments) FROM",
        " WHERE t.\(one.key.column) = u.k AND t._tarn_oid = u.o RETURNING"
          + " CASE WHEN t._tarn_xid = pg_current_xact_id() THEN t._tarn_oid END AS o"
      ), source: ("u", ["k", "o", "i"] + properties.indices.map { "c\($0)" }))
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

  /// The exact values and the names of elements that are stored next to columns.
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
