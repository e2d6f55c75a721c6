import TarnStore

/// Reads rows of a class with their state.
struct RowReader {
  /// A row as a replica takes it.
  struct Row {
    let key: ElementKey
    let object: ObjectRow<WireValue?>
    /// The last transaction that wrote it.
    let version: Int64

    /// The size of its values.
    var byteCount: Int {
      object.values.values.reduce(0) { sum, property in
        guard case .single(let value) = property.content else { return sum }
        return sum + (value.map { $0.bytes.count + ($0.exact?.count ?? 0) } ?? 0)
      }
    }
  }

  private let one: ExchangeClass
  private let operation: String

  init(_ one: ExchangeClass, _ operation: String) {
    self.one = one
    self.operation = operation
  }

  /// The columns that a statement selects.
  var columns: String {
    let properties = ([one.key] + one.others).map { "\($0.column)::\($0.wire.name)" }
    return
      "_tarn_xid::text::bigint, _tarn_oid, _tarn_at, _tarn_by::bigint, _tarn_cols, _tarn_parts, "
      + properties.joined(separator: ", ")
  }

  /// The size of a row in bytes, for statements: of long values without reading them, of jsonb as
  /// it is stored.
  var size: String {
    let long = others.map { property in
      switch property.wire {
      case .text, .bytea: "coalesce(octet_length(\(property.column)), 0)"
      case .jsonb, .numeric: "coalesce(pg_column_size(\(property.column)), 0)"
      default: "8"
      }
    }
    return (["60", "coalesce(pg_column_size(_tarn_parts), 0)"] + long).joined(separator: " + ")
  }

  private var others: [ExchangeClass.Property] { one.others }

  /// Rows as the server sent them.
  struct Found {
    private let rows: WireRows
    private let reader: RowReader

    init(_ rows: WireRows, _ reader: RowReader) {
      self.rows = rows
      self.reader = reader
    }

    var count: Int { rows.count }
    func incarnation(_ place: Int) -> Int64? { rows.integer(place, 1) }
    func row(_ place: Int) throws(ServerError) -> Row { try reader.row(rows, place) }
  }

  /// - Throws: `ServerError` for a row with a state that is not Tarn's.
  func rows(_ found: WireRows) throws(ServerError) -> [Row] {
    var rows: [Row] = []
    rows.reserveCapacity(found.count)
    for place in 0..<found.count { rows.append(try row(found, place)) }
    return rows
  }

  fileprivate func row(_ rows: WireRows, _ row: Int) throws(ServerError) -> Row {
    guard let version = rows.integer(row, 0), let incarnation = rows.integer(row, 1),
      let at = rows.integer(row, 2),
      let by = rows.integer(row, 3), let writer = UInt32(exactly: by),
      let stamps = RowState.stamps(rows[row, 4]), let parts = RowState.parts(rows[row, 5]),
      let key = rows[row, 6].flatMap({ WireValue($0).value(one.key.type) })
    else {
      throw ServerError(
        operation, "a row of \(one.table) has a state that replicas cannot read",
        hint: "Run 'tarn server status'.")
    }
    var values: [String: ObjectRow<WireValue?>.Property] = [:]
    for (index, property) in one.others.enumerated() {
      let stamp = stamps[property.name] ?? Stamp(at, by: writer)
      // SQL has written the column since, if the stamps differ.
      let exact = parts[property.name].flatMap { $0.stamp == stamp ? $0.bytes : nil }
      let value = rows[row, 7 + index].map { WireValue($0, exact: exact) }
      values[property.name] = .init(.single(value), stamp)
    }
    return Row(
      key: ElementKey(key), object: ObjectRow(incarnation: incarnation, values: values),
      version: version)
  }
}
