extension RowReading {
  /// The value of a column that is neither a string nor data.
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
      trap("internal error: a \(path.type) read as a number")
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

  /// Calls `body` with the row at the end of a path's links, starting at its link `step`. Nil if
  /// one of them is nil.
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
