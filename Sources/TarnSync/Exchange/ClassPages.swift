import TarnStore

/// Reads all rows of a class in pages by key: for a first copy, and for the census of a replica
/// that has to reconcile.
///
/// Each page is a separate short transaction, so that even the slowest network does not hold the
/// server's oldest snapshot. The pages have different times: a `Pull` from a position before the
/// first of them makes the whole exact.
struct ClassPages {
  private static let operation = "read a page of a class"
  let connection: ServerConnection
  let one: ExchangeClass
  /// The number of rows of a page.
  var size = 10_000

  /// - Parameter key: the last key of the page before; nil for the first page.
  /// - Returns: rows in the order of their keys; fewer than a page at the end.
  ///
  /// - Parameter condition: an SQL condition; nil for all rows.
  func rows(
    after key: Value?, where condition: SQLCondition? = nil
  ) throws(ServerError) -> RowReader.Page {
    let reader = RowReader(one)
    return try reader.page(page(reader.columns, after: key, condition))
  }

  /// The number of rows of each class that match its SQL condition, in one round trip.
  static func counts(
    _ classes: [(one: ExchangeClass, condition: SQLCondition)], _ connection: ServerConnection
  ) throws(ServerError) -> [Int] {
    let statements = classes.map { one, condition in
      var parameters: [WireParameter] = []
      let text = condition.text(adding: &parameters)
      return ServerConnection.Statement(
        "SELECT count(*) FROM \(one.rows) WHERE \(text)", parameters)
    }
    return try connection.binary(statements, for: operation).map { found in
      found.integer(0, 0).map { Int($0) } ?? 0
    }
  }

  /// The first page of each class, of the rows that match its SQL condition, in one round trip.
  static func firstPages(
    _ classes: [(one: ExchangeClass, condition: SQLCondition)], size: Int,
    _ connection: ServerConnection
  ) throws(ServerError) -> [RowReader.Page] {
    let statements = classes.map { one, condition in
      var pages = ClassPages(connection: connection, one: one)
      pages.size = size
      return pages.statement(RowReader(one).columns, after: nil, condition)
    }
    let found = try connection.binary(statements, for: operation)
    return zip(classes, found).map { RowReader($0.one).page($1) }
  }

  /// Requests the rows that `receive` returns, like `rows(after:where:)`.
  func begin(after key: Value?, where condition: SQLCondition) throws(ServerError) {
    let reader = RowReader(one)
    try connection.begin(
      statement(reader.columns, after: key, condition), for: Self.operation)
  }

  func receive() throws(ServerError) -> RowReader.Page {
    try RowReader(one).page(connection.receive(for: Self.operation))
  }

  /// The number of rows that match an SQL condition.
  func count(where condition: SQLCondition) throws(ServerError) -> Int {
    var parameters: [WireParameter] = []
    let rows = try connection.binary(
      "SELECT count(*) FROM \(one.rows) WHERE \(condition.text(adding: &parameters))", parameters,
      for: Self.operation)
    return rows.count == 0 ? 0 : Int(rows.integer(0, 0) ?? 0)
  }

  /// An object's key, incarnation and row version, which show whether a replica has it.
  struct Entry: Equatable {
    /// A key that cannot be read is kept as its bytes.
    let key: ElementKey
    let incarnation: Int64
    let version: Int64
    /// Why no replica can have the row.
    var fault: String?

    func unreadable(_ reason: String) -> RowReader.Unreadable {
      RowReader.Unreadable(
        key: WireValue(key.value)?.bytes ?? [], incarnation: incarnation, version: version,
        reason: reason)
    }
  }

  /// Like `rows(after:)`, without the values.
  func census(after key: Value?) throws(ServerError) -> [Entry] {
    let found = try page(
      "\(one.key.column)::\(one.key.wire.name), _tarn_oid, _tarn_xid::text::bigint", after: key,
      one.filter)
    var entries: [Entry] = []
    for row in 0..<found.count {
      guard let key = RowReader(one).key(found, row, at: 0),
        let incarnation = found.integer(row, 1), let version = found.integer(row, 2)
      else { throw ServerError(Self.operation, "a key of \(one.table) cannot be read") }
      var entry = Entry(key: ElementKey(key), incarnation: incarnation, version: version)
      entry.fault = RowReader(one).keyFault(found, row, at: 0)?.reason
      entries.append(entry)
    }
    return entries
  }

  /// The rows with these keys, for a replica that lacks them.
  ///
  /// - Parameter condition: an SQL condition; nil for all rows.
  func rows(
    with keys: [Value], where condition: SQLCondition? = nil
  ) throws(ServerError) -> RowReader.Page {
    let wire = WireParameter(array: one.key.wire, keys.map { WireValue($0)?.bytes })
    return try rows(one.key.column, wire, condition)
  }

  /// The rows with these incarnations, which no index finds.
  func rows(
    of incarnations: [Int64], where condition: SQLCondition? = nil
  ) throws(ServerError) -> RowReader.Page {
    let wire = WireParameter(array: .bigint, incarnations.map { WireValue(.int($0))?.bytes })
    return try rows("_tarn_oid", wire, condition)
  }

  private func rows(
    _ column: String, _ values: WireParameter, _ condition: SQLCondition?
  ) throws(ServerError) -> RowReader.Page {
    let reader = RowReader(one)
    var parameters = [values]
    let rest = condition.map { " AND \($0.text(adding: &parameters))" } ?? ""
    return try reader.page(
      connection.binary(
        "SELECT \(reader.columns) FROM \(one.rows) WHERE \(column) = ANY ($1)" + rest, parameters,
        for: Self.operation))
  }

  private func page(
    _ columns: String, after key: Value?, _ condition: SQLCondition?
  ) throws(ServerError) -> WireRows {
    try connection.binary([statement(columns, after: key, condition)], for: Self.operation)[0]
  }

  private func statement(
    _ columns: String, after key: Value?, _ condition: SQLCondition?
  ) -> ServerConnection.Statement {
    // By bytes, as here, even if an application's table is sorted differently.
    let order = one.key.column + (one.key.type == .string ? " COLLATE \"C\"" : "")
    let bytes = key.flatMap { WireValue($0)?.bytes }
    var parameters = bytes.map { [WireParameter(one.key.wire, $0)] } ?? []
    let conditions =
      (bytes == nil ? [] : ["\(order) > $1"])
      + (condition.map { [$0.text(adding: &parameters)] } ?? [])
    let rows = conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
    return ServerConnection.Statement(
      """
      SELECT \(columns) FROM \(one.rows)\(rows)
      ORDER BY \(order) LIMIT \(size)
      """, parameters)
  }
}
