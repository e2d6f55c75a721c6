import TarnStore

/// Reads rows of a class with their state.
struct RowReader {
  /// A row as a replica takes it. Its values are decoded when they are asked for.
  struct Row {
    let key: ElementKey
    let incarnation: Int64
    /// The last transaction that wrote it.
    let version: Int64
    /// That of the columns that have none of their own.
    fileprivate let stamp: Stamp
    fileprivate let stamps: [String: Stamp]
    fileprivate let parts: [String: (stamp: Stamp, bytes: [UInt8])]
    fileprivate let rows: WireRows
    fileprivate let row: Int

    /// When a property was last written.
    func stamp(of property: ExchangeClass.Property) -> Stamp {
      stamps.isEmpty ? stamp : stamps[property.name] ?? stamp
    }

    /// The time of the last write, in microseconds since 1970.
    var latest: Int64 { stamps.values.reduce(stamp.time) { max($0, $1.time) } }

    /// As the server has it; nil for null.
    func wire(_ property: ExchangeClass.Property) -> WireValue? {
      rows[row, RowReader.first + property.place].map { WireValue($0, exact: exact(property)) }
    }

    /// A value without parts; nil for null, and for one that does not fit the type.
    func value(_ property: ExchangeClass.Property) -> Value? {
      if exact(property) != nil { return wire(property)?.value(property.type) }
      return rows.value(row, RowReader.first + property.place, property.type)
    }

    /// Whether the server keeps some values more exactly than in their columns.
    var hasParts: Bool { !parts.isEmpty }

    /// The same for a row without such values.
    func value(_ column: Column) -> Value? {
      rows.value(row, RowReader.first + column.place, column.type)
    }

    /// SQL has written the column since, if the stamps differ.
    private func exact(_ property: ExchangeClass.Property) -> [UInt8]? {
      if parts.isEmpty { return nil }
      return parts[property.name].flatMap { $0.stamp == stamp(of: property) ? $0.bytes : nil }
    }

    /// The size of its values.
    func byteCount(_ one: ExchangeClass) -> Int {
      let exact = parts.values.reduce(0) { $0 + $1.bytes.count }
      return one.others.reduce(exact) { $0 + rows.byteCount(row, RowReader.first + $1.place) }
    }
  }

  /// A column without parts.
  struct Column {
    /// Its place among those other than the key.
    let place: Int
    let type: ColumnType

    init(_ property: ExchangeClass.Property) {
      (place, type) = (property.place, property.type)
    }
  }

  /// The column of the first property other than the key.
  private static let first = 7

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
      let key = rows.value(row, 6, one.key.type)
    else {
      throw ServerError(
        operation, "a row of \(one.table) has a state that replicas cannot read",
        hint: "Run 'tarn server status'.")
    }
    return Row(
      key: ElementKey(key), incarnation: incarnation, version: version,
      stamp: Stamp(at, by: writer), stamps: stamps, parts: parts, rows: rows, row: row)
  }
}
