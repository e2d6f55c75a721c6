/// A value before a commit, as a change record has it.
package enum FormerValue: Hashable, Sendable {
  /// A nested list or map keeps the id that it had.
  case value(Value)
  /// A string or data stored apart from the record of that version.
  case long(Version, number: UInt32, byteCount: Int, isString: Bool)

  /// A longer string or data is stored apart.
  static let inlineBytesMax = 256

  /// The bytes of a value that must be stored apart; nil for others.
  var longBytes: (bytes: [UInt8], isString: Bool)? {
    switch self {
    case .value(.string(let text)) where text.utf8.count > Self.inlineBytesMax:
      (Array(text.utf8), true)
    case .value(.data(let bytes)) where bytes.count > Self.inlineBytesMax: (bytes, false)
    case .value, .long: nil
    }
  }

  /// The value itself; a long one is read.
  package func resolved(in transaction: ReadTransaction) throws(StorageError) -> Value {
    switch self {
    case .value(let value): return value
    case .long(let version, let number, let byteCount, let isString):
      var cursor = try Cursor(transaction)
      let bytes = try Pieces.former(version, number).read(byteCount: byteCount, &cursor)
      return isString ? .string(String(decoding: bytes, as: UTF8.self)) : .data(bytes)
    }
  }
}
