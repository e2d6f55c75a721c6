import TarnStore

/// Reads rows of a class with their state.
struct RowReader {
  /// A row for a replica. Its values are decoded at their first use.
  struct Row {
    let key: ElementKey
    let incarnation: Int64
    /// The last transaction that wrote it.
    let version: Int64
    /// The stamp of columns without their own one.
    fileprivate let stamp: Stamp
    fileprivate let stamps: [StoredText: Stamp]
    fileprivate let parts: [StoredText: (stamp: Stamp, bytes: [UInt8])]
    fileprivate let rows: WireRows
    fileprivate let row: Int

    /// When a property was last written.
    func stamp(of property: ExchangeClass.Property) -> Stamp {
      stamps.isEmpty ? stamp : stamps[StoredText(property.name)] ?? stamp
    }

    /// The time of the last write, in microseconds since 1970.
    var latest: Int64 { stamps.values.reduce(stamp.time) { max($0, $1.time) } }

    /// The value as the server sent it; nil for null.
    func wire(_ property: ExchangeClass.Property) -> WireValue? {
      rows[row, RowReader.first + property.place].map { bytes in
        let value = WireValue(bytes, exact: exact(property))
        return property.contents == nil ? value.confirmed(property.type) : value
      }
    }

    /// A value without parts; nil for null, and for one that does not fit the type.
    func value(_ property: ExchangeClass.Property) -> Value? {
      if exact(property) != nil { return wire(property)?.value(property.type) }
      return rows.value(row, RowReader.first + property.place, property.type)
    }

    /// Whether the server stores some values more exactly than in their columns.
    var hasParts: Bool { !parts.isEmpty }

    /// The same for a row without such values.
    func value(_ column: Column) -> Value? {
      rows.value(row, RowReader.first + column.place, column.type)
    }

    /// The exact value. If the stamps differ, SQL has written the column since. A trigger or the
    /// type of the column may also have changed a value without parts.
    private func exact(_ property: ExchangeClass.Property) -> [UInt8]? {
      if parts.isEmpty { return nil }
      return parts[StoredText(property.name)].flatMap {
        $0.stamp == stamp(of: property) ? $0.bytes : nil
      }
    }

    /// Why a property without parts cannot hold the value unchanged; nil if it can.
    func fault(_ property: ExchangeClass.Property) -> ValueFault? {
      let column = RowReader.first + property.place
      if rows.isNull(row, column) { return nil }
      if let domain = property.domain {
        return value(property).flatMap { .outside(domain, $0, ofProperty: property.type) }
      }
      if exact(property) != nil { return nil }
      switch property.type {
      case .objectID:
        let count = rows.byteCount(row, column)
        return count == 12 ? nil : .objectID(count)
      case .decimal:
        if rows.hasShortNumber(row, column) { return nil }
        guard let parsed = rows[row, column].flatMap({ PostgresNumeric.parsed($0) }) else {
          return .outOfRange
        }
        return parsed.isExact ? nil : .rounded
      default: return nil
      }
    }

    /// The size of its values.
    func byteCount(_ one: ExchangeClass) -> Int {
      let exact = parts.values.reduce(0) { $0 + $1.bytes.count }
      return one.others.reduce(exact) { $0 + rows.byteCount(row, RowReader.first + $1.place) }
    }
  }

  /// A row that a replica cannot have: its key is invalid here, or its state was not written by
  /// Tarn.
  struct Unreadable {
    /// The key as the server sent it.
    let key: [UInt8]
    let incarnation: Int64
    let version: Int64
    let reason: String
  }

  /// The rows of a statement, and those of them that a replica cannot have.
  struct Page {
    fileprivate(set) var rows: [Row] = []
    fileprivate(set) var unreadable: [Unreadable] = []
    /// The last row's key; one that cannot be read is kept as its bytes.
    fileprivate(set) var lastKey: Value?

    var count: Int { rows.count + unreadable.count }
  }

  /// A column without parts.
  struct Column {
    /// Its index among the columns other than the key.
    let place: Int
    let type: ColumnType

    init(_ property: ExchangeClass.Property) {
      (place, type) = (property.place, property.type)
    }
  }

  /// The column of the first property other than the key.
  private static let first = 7

  private let one: ExchangeClass

  init(_ one: ExchangeClass) { self.one = one }

  /// The columns that a statement selects.
  var columns: String {
    let properties = ([one.key] + one.others).map { "\($0.column)::\($0.wire.name)" }
    return
      "_tarn_xid::text::bigint, _tarn_oid, _tarn_at, _tarn_by::bigint, _tarn_cols, _tarn_parts, "
      + properties.joined(separator: ", ")
  }

  /// The size of a row in bytes, in SQL: of long values without reading them, of jsonb as stored.
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
    /// - Returns: nil for a row that a replica cannot have.
    func row(_ place: Int) -> Row? { reader.row(rows, place) }
    func unreadable(_ place: Int) -> Unreadable? { reader.unreadable(rows, place) }
  }

  func page(_ found: WireRows) -> Page {
    var page = Page()
    page.rows.reserveCapacity(found.count)
    for place in 0..<found.count {
      if let row = row(found, place) {
        page.rows.append(row)
      } else if let row = unreadable(found, place) {
        page.unreadable.append(row)
      }
    }
    if found.count > 0 { page.lastKey = key(found, found.count - 1, at: 6) }
    return page
  }

  /// The primary key of a row; one that cannot be read is returned as its bytes.
  func key(_ rows: WireRows, _ row: Int, at column: Int) -> Value? {
    rows.value(row, column, one.key.type) ?? rows[row, column].map { .data($0) }
  }

  fileprivate func unreadable(_ rows: WireRows, _ row: Int) -> Unreadable? {
    // Columns with the state are never null.
    guard let version = rows.integer(row, 0), let incarnation = rows.integer(row, 1) else {
      return nil
    }
    let fault = keyFault(rows, row, at: 6)
    return Unreadable(
      key: rows[row, 6] ?? [], incarnation: incarnation, version: version,
      reason: fault?.reason ?? "its columns _tarn_cols and _tarn_parts have been changed")
  }

  /// Why no object here can have the primary key of a row; nil if one can.
  func keyFault(_ rows: WireRows, _ row: Int, at column: Int) -> ValueFault? {
    guard let key = rows.value(row, column, one.key.type) else {
      return .objectID(rows.byteCount(row, column))
    }
    return one.key.domain.flatMap { .outside($0, key, ofProperty: one.key.type) }
  }

  fileprivate func row(_ rows: WireRows, _ row: Int) -> Row? {
    guard let version = rows.integer(row, 0), let incarnation = rows.integer(row, 1),
      let at = rows.integer(row, 2),
      let by = rows.integer(row, 3), let writer = UInt32(exactly: by),
      let stamps = RowState.stamps(rows[row, 4]), let parts = RowState.parts(rows[row, 5]),
      let key = rows.value(row, 6, one.key.type),
      one.key.domain == nil || keyFault(rows, row, at: 6) == nil
    else { return nil }
    return Row(
      key: ElementKey(key), incarnation: incarnation, version: version,
      stamp: Stamp(at, by: writer), stamps: stamps, parts: parts, rows: rows, row: row)
  }
}
