/// Writes CSV (RFC 4180) into bytes: quotes only where a field needs them, nothing for null,
/// `""` for the empty text, so that what `CSVReader` reads back is what was written.
package struct CSVWriter {
  /// What is written and not yet taken.
  package private(set) var bytes: [UInt8] = []
  private let separator: UInt8
  private let lineEnd: [UInt8]

  /// - Parameter crlf: whether lines end as the standard has it; the tools of Unix want LF.
  package init(separator: UInt8 = UInt8(ascii: ","), crlf: Bool = false) {
    self.separator = separator
    lineEnd = crlf ? [0x0d, 0x0a] : [0x0a]
  }

  /// What is written, as a String.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Forgets what is written and keeps the room for more.
  package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Writes a record, the header among them.
  package mutating func write(_ fields: [String?]) {
    for (index, field) in fields.enumerated() {
      if index > 0 { bytes.append(separator) }
      if let field { write(field) }
    }
    bytes.append(contentsOf: lineEnd)
  }

  private mutating func write(_ field: String) {
    let quote = UInt8(ascii: "\"")
    let needsQuotes =
      field.isEmpty
      || field.utf8.contains { $0 == quote || $0 == separator || $0 == 0x0a || $0 == 0x0d }
    guard needsQuotes else {
      bytes.append(contentsOf: field.utf8)
      return
    }
    bytes.append(quote)
    for byte in field.utf8 {
      if byte == quote { bytes.append(quote) }
      bytes.append(byte)
    }
    bytes.append(quote)
  }
}
