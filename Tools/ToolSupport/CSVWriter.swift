/// Writes CSV (RFC 4180) into bytes: quotes only fields that need it, writes nothing for null and
/// `""` for the empty string, so that `CSVReader` reads the same values back.
package struct CSVWriter {
  /// The bytes written since the last `removeAll()`.
  package private(set) var bytes: [UInt8] = []
  private let separator: UInt8
  private let lineEnd: [UInt8]

  /// - Parameter crlf: whether lines end with CRLF, as the standard says; Unix tools expect LF.
  package init(separator: UInt8 = UInt8(ascii: ","), crlf: Bool = false) {
    self.separator = separator
    lineEnd = crlf ? [0x0d, 0x0a] : [0x0a]
  }

  /// The bytes written, as a String.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Removes the bytes written and keeps the capacity.
  package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Writes the header. A single name in which a reader would find separators is quoted, and so is
  /// a byte order mark.
  package mutating func writeHeader(_ names: [String]) {
    let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]
    if names.count == 1, CSVDialect.isSeparatorLine(names[0]) {
      bytes.append(contentsOf: Array("sep=".utf8) + [separator] + lineEnd)
    }
    for (index, name) in names.enumerated() {
      if index > 0 { bytes.append(separator) }
      let isMistakable = names.count == 1 && CSVDialect.isMistakable(name)
      write(name, isQuoted: isMistakable || name.utf8.starts(with: byteOrderMark))
    }
    bytes.append(contentsOf: lineEnd)
  }

  /// Writes a record.
  package mutating func write(_ fields: [String?]) {
    for (index, field) in fields.enumerated() {
      if index > 0 { bytes.append(separator) }
      if let field { write(field) }
    }
    bytes.append(contentsOf: lineEnd)
  }

  private mutating func write(_ field: String, isQuoted: Bool = false) {
    let quote = UInt8(ascii: "\"")
    let needsQuotes =
      isQuoted || field.isEmpty
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
