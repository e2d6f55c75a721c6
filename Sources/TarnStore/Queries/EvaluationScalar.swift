/// A value without bytes of its own: any type but strings and data. Costs no allocation.
enum Scalar {
  case null
  /// Integers and the keys of links.
  case int(Int64)
  case bool(Bool)
  case double(Double)
  case decimal(DecimalNumber)
  case date(Timestamp)
  case bytes12(Bytes12)
  case bytes16(Bytes16)

  var isNull: Bool {
    if case .null = self { return true }
    return false
  }

  var isNaN: Bool {
    switch self {
    case .double(let value): value.isNaN
    case .decimal(let value): value.isNaN
    default: false
    }
  }

  /// Below, equal to or above zero in the one order of values: null, NaN, then by value. Both
  /// must be of comparable types.
  static func compare(_ a: Scalar, _ b: Scalar) -> Int {
    switch (a, b) {
    case (.null, .null): 0
    case (.null, _): -1
    case (_, .null): 1
    case (.int(let a), .int(let b)): order(a, b)
    case (.double(let a), .double(let b)): order(a.treeOrder, b.treeOrder)
    case (.int(let a), .double(let b)): b.isNaN ? 1 : compareExactly(a, b)
    case (.double(let a), .int(let b)): a.isNaN ? -1 : -compareExactly(b, a)
    case (.decimal(let a), .decimal(let b)): order(a.order, b.order)
    case (.decimal(let a), .int(let b)): order(a.order, DecimalNumber(b).order)
    case (.int(let a), .decimal(let b)): order(DecimalNumber(a).order, b.order)
    case (.decimal(let a), .double(let b)): a.compareExactly(b)
    case (.double(let a), .decimal(let b)): -b.compareExactly(a)
    case (.bool(let a), .bool(let b)): order(a ? 1 : 0, b ? 1 : 0)
    case (.date(let a), .date(let b)): order(a, b)
    case (.bytes12(let a), .bytes12(let b)): order(a, b)
    case (.bytes16(let a), .bytes16(let b)): order(a, b)
    default: trap("a bug in this package: values of different types compared")
    }
  }

  @inline(__always)
  private static func order<T: Comparable>(_ a: T, _ b: T) -> Int {
    a < b ? -1 : (b < a ? 1 : 0)
  }
}

extension RowReading {
  /// The value of any column but a string or data one.
  @inline(__always)
  func scalar(_ path: ColumnPath, _ slot: Int) -> Scalar {
    if path.isOptional && isNull(path.column, slot) { return .null }
    switch path.type {
    case .int, .link: return .int(int(path.column, slot))
    case .bool: return .bool(bool(path.column, slot))
    case .float: return .double(Double(float(path.column, slot)))
    case .double: return .double(double(path.column, slot))
    case .date: return .date(date(path.column, slot))
    case .objectID: return .bytes12(bytes12(path.column, slot))
    case .uuid: return .bytes16(bytes16(path.column, slot))
    case .decimal: return .decimal(DecimalNumber(bytes16(path.column, slot)))
    case .string, .data, .any:
      trap("a bug in this package: a \(path.type) read as a number")
    }
  }
}

extension RowSource {
  /// Calls `body` with the bytes of a string or data column, nil for null.
  @inline(__always)
  func withText<Rows: RowReading, R>(
    _ rows: Rows, _ slot: Int, _ path: ColumnPath,
    _ body: (UnsafeRawBufferPointer?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    switch try rows.bytes(path.column, slot) {
    case .inline(let bytes): return try unsafe body(bytes)
    case .null:
      return try unsafe body(
        path.isOptional ? nil : UnsafeRawBufferPointer(start: nil, count: 0))
    case .long:
      return try unsafe withLongValue(path.classID, rows.key(at: slot), path.column, body)
    }
  }

  /// Calls `body` with the row at the end of a path's links, from its link `step` on. Nil if one
  /// of them leads nowhere.
  func withTarget<Rows: RowReading, R>(
    _ rows: Rows, _ slot: Int, _ links: [LinkStep], from step: Int,
    _ body: (Self.Rows, Int) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    let link = links[step]
    if rows.isNull(link.column, slot) { return nil }
    let key = ObjectKey(rows.int(link.column, slot))
    if step + 1 == links.count { return try withRow(link.target, key, body) }
    let found = try withRow(link.target, key) { (rows, slot) throws(StorageError) -> R? in
      try withTarget(rows, slot, links, from: step + 1, body)
    }
    return found ?? nil
  }
}
