import TarnText

/// Reads CSV (RFC 4180): a header, then records with as many fields; quoted fields may contain
/// separators, doubled quotes and line ends. Lines end with LF, CRLF or CR, also mixed. An empty
/// field without quotes is null, `""` is the empty string. A column without a name is called
/// `column1` by its position.
///
/// A malformed record is returned as a bad one with the number of its first line. Reading continues
/// after the line where the error was found.
package final class CSVReader {
  /// The underlying lines, for positions and progress.
  package let lines: LineReader
  /// The names in the first record.
  package let header: [String]
  private let separator: UInt8

  /// Reads the header.
  /// - Throws: also if the header is missing or malformed, or has a name twice.
  package convenience init(
    _ lines: LineReader, separator: UInt8 = UInt8(ascii: ",")
  ) throws(ToolError) {
    try self.init(lines, CSVDialect(separator: separator))
  }

  package init(_ lines: LineReader, _ dialect: CSVDialect) throws(ToolError) {
    lines.endsAtReturns = true
    self.lines = lines
    separator = dialect.separator
    if dialect.hasSeparatorLine { _ = try lines.next() }
    guard let first = try Self.record(lines, dialect.separator) else {
      throw ToolError("\(lines.name): the file is empty; a header is missing")
    }
    switch first {
    case .bad(let reason, let line): throw ToolError("\(lines.name): line \(line): \(reason)")
    case .record(let fields, let line):
      guard fields != [nil] else {
        throw ToolError("\(lines.name): line \(line) is empty; a header is missing")
      }
      header = Self.named(fields)
      if let number = header.firstIndex(where: { $0.utf8.contains(0) }) {
        throw ToolError("\(lines.name): line \(line): the name of column \(number + 1) has a NUL")
      }
      if let twice = Self.repeated(header) {
        throw ToolError("\(lines.name): line \(line): two columns are called '\(twice)'")
      }
    }
  }

  /// The next record, its fields in the header's order, nil for null; nil at the end.
  package func next() throws(ToolError) -> InputItem<[String?]>? {
    while let item = try Self.record(lines, separator) {
      guard case .record(let fields, let line) = item else { return item }
      // An empty line is skipped, unless it is a record of a single null field.
      if fields == [nil], header.count > 1 { continue }
      if fields.count != header.count {
        return .bad("\(fields.count) fields, but the header has \(header.count)", line: line)
      }
      return item
    }
    return nil
  }

  /// The header's names; those that are empty by their position.
  private static func named(_ fields: [String?]) -> [String] {
    let known = Set(fields.compactMap { $0 })
    return fields.enumerated().map { index, name in
      if let name, !name.isEmpty { return name }
      var name = "column\(index + 1)"
      while known.contains(name) { name += "_" }
      return name
    }
  }

  private static func repeated(_ names: [String]) -> String? {
    var seen: Set<String> = []
    return names.first { !seen.insert($0).inserted }
  }

  private static func record(
    _ lines: LineReader, _ separator: UInt8
  ) throws(ToolError) -> InputItem<[String?]>? {
    guard let line = try lines.next() else { return nil }
    let number = lines.lineNumber
    if indexOf(UInt8(ascii: "\""), in: line) == nil {
      return plain(line, separator, number)
    }
    var parser = QuotedRecord(separator: separator)
    parser.read(line)
    while parser.isOpen {
      let lineEnd = lines.lineEnd
      guard let more = try lines.next() else {
        return .bad("a closing quote is missing", line: number)
      }
      parser.add(lineEnd)
      parser.read(more)
    }
    return parser.result(line: number)
  }

  /// A record without quotes, the common case.
  private static func plain(
    _ line: UnsafeRawBufferPointer, _ separator: UInt8, _ number: Int
  ) -> InputItem<[String?]> {
    var fields: [String?] = []
    var start = 0
    while true {
      let rest = UnsafeRawBufferPointer(rebasing: line[start...])
      let length = indexOf(separator, in: rest) ?? rest.count
      if length == 0 {
        fields.append(nil)
      } else if let text = validText(rest[..<length]) {
        fields.append(text)
      } else {
        return .bad("field \(fields.count + 1) is not UTF-8 \(TextEncoding.hint)", line: number)
      }
      if length == rest.count { return .record(fields, line: number) }
      start += length + 1
    }
  }
}

/// A record with quotes, read byte by byte.
private struct QuotedRecord {
  private enum State { case start, plain, quoted, quoteInQuoted }

  let separator: UInt8
  private var state = State.start
  private var field: [UInt8] = []
  private var fields: [String?] = []
  private var fault: String?

  init(separator: UInt8) { self.separator = separator }

  /// Whether a quoted field continues in the next line. An error ends the record at its line.
  var isOpen: Bool { state == .quoted && fault == nil }

  /// Adds a line end inside a quoted field.
  mutating func add(_ lineEnd: [UInt8]) { field += lineEnd }

  mutating func read(_ line: UnsafeRawBufferPointer) {
    for byte in line where fault == nil { step(byte) }
  }

  private mutating func step(_ byte: UInt8) {
    let quote = UInt8(ascii: "\"")
    switch state {
    case .quoted:
      if byte == quote { state = .quoteInQuoted } else { field.append(byte) }
    case .quoteInQuoted where byte == quote:
      field.append(byte)
      state = .quoted
    case .start where byte == quote: state = .quoted
    case _ where byte == separator: finish()
    case .quoteInQuoted: fault = "text after the closing quote of field \(fields.count + 1)"
    case .start, .plain:
      if byte == quote { fault = "a quote inside the unquoted field \(fields.count + 1)" }
      field.append(byte)
      state = .plain
    }
  }

  private mutating func finish() {
    if state == .start {
      fields.append(nil)
    } else if let text = String(validating: field, as: UTF8.self) {
      fields.append(text)
    } else {
      fault = "field \(fields.count + 1) is not UTF-8 \(TextEncoding.hint)"
    }
    field.removeAll(keepingCapacity: true)
    state = .start
  }

  mutating func result(line: Int) -> InputItem<[String?]> {
    if fault == nil { finish() }
    return fault.map { .bad($0, line: line) } ?? .record(fields, line: line)
  }
}
