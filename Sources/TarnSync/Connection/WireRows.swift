internal import CPostgres
internal import TarnStore

/// The rows of a statement, in the binary format.
@safe final class WireRows {
  private let result: OpaquePointer?
  /// The number of rows.
  let count: Int

  /// The number of rows that the statement wrote.
  let written: Int

  /// Owns the result.
  init(_ result: OpaquePointer?) {
    unsafe self.result = result
    count = Int(unsafe PQntuples(result))
    written = unsafe PQcmdTuples(result).flatMap { unsafe Int(String(cString: $0)) } ?? 0
  }

  deinit { unsafe PQclear(result) }

  /// A value's bytes; nil for null. Traps if the row or column is out of bounds.
  subscript(_ row: Int, _ column: Int) -> [UInt8]? {
    unsafe bytes(row, column).map { unsafe Array($0) }
  }

  /// The bytes within the result, which must outlive them.
  private func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
    require((0..<count).contains(row), "a row that the server did not send")
    let (row, column) = (Int32(row), Int32(column))
    let length = Int(unsafe PQgetlength(result, row, column))
    if length == 0, unsafe PQgetisnull(result, row, column) != 0 { return nil }
    guard let start = unsafe PQgetvalue(result, row, column) else { return nil }
    return unsafe UnsafeRawBufferPointer(start: start, count: length)
  }

  /// The values of columns with text.
  var texts: [[String?]] {
    let width = Int(unsafe PQnfields(result))
    return (0..<count).map { row in
      (0..<width).map { column in self[row, column].map { String(decoding: $0, as: UTF8.self) } }
    }
  }

  /// A value of a type that can be decoded from the bytes alone; nil for null, and for bytes that
  /// do not fit the type.
  func value(_ row: Int, _ column: Int, _ type: ColumnType) -> Value? {
    unsafe bytes(row, column).flatMap { unsafe WireValue.value($0, type) }
  }

  /// Whether a numeric has no more digits than a decimal, judged by its length.
  func hasShortNumber(_ row: Int, _ column: Int) -> Bool {
    unsafe bytes(row, column).map { unsafe PostgresNumeric.isShort($0) } ?? true
  }

  func isNull(_ row: Int, _ column: Int) -> Bool { unsafe bytes(row, column) == nil }

  /// The length of a value in bytes; 0 for null.
  func byteCount(_ row: Int, _ column: Int) -> Int { unsafe bytes(row, column)?.count ?? 0 }

  /// A bigint; nil for null and other types.
  func integer(_ row: Int, _ column: Int) -> Int64? {
    unsafe bytes(row, column).flatMap { unsafe WireValue.number($0) }
  }
}
