extension ColumnType {
  /// The default where null is not allowed; null for links and mixed values, which have no such
  /// default.
  package var zero: Value {
    switch self {
    case .int: .int(0)
    case .bool: .bool(false)
    case .string: .string("")
    case .data: .data([])
    case .date: .date(Timestamp(seconds: 0, nanoseconds: 0))
    case .float: .float(0)
    case .double: .double(0)
    case .objectID: .objectID(Bytes12(high: 0, low: 0))
    case .uuid: .uuid(Bytes16(high: 0, low: 0))
    case .decimal: .decimal(DecimalNumber(0).cell)
    case .link, .any: .null
    }
  }
}
