import TarnStore

/// The field separator of a CSV file, found in its first lines.
package struct CSVDialect: Equatable, Sendable {
  package let separator: UInt8
  /// Whether the first line names the separator, as spreadsheets write it: `sep=;`.
  package let hasSeparatorLine: Bool

  /// Separators that are accepted by default, the first one that fits.
  private static let usual = [",", ";", "\t", "|"].map { UInt8(ascii: $0) }

  private static let firstLine = Array("sep=".utf8)

  package init(separator: UInt8) {
    self.separator = separator
    hasSeparatorLine = false
  }

  /// - Parameters:
  ///   - head: the first lines; the last one may be incomplete.
  ///   - isWhole: whether these are all lines.
  ///   - name: the input's name in messages.
  /// - Throws: if another separator seems to be used: one column for everything is never intended.
  package init(
    of head: some Collection<UInt8>, isWhole: Bool, _ name: String
  ) throws(ToolError) {
    let bytes = Array(
      head.starts(with: [0xef, 0xbb, 0xbf]) ? head.dropFirst(3) : head.dropFirst(0))
    if let named = Self.named(bytes) {
      (separator, hasSeparatorLine) = (named, true)
      return
    }
    hasSeparatorLine = false
    let records = Self.records(bytes, isWhole)
    let consistent = Self.usual.first { Self.isConsistent($0, records) }
    let present = Self.usual.first { records.first?[$0] ?? 0 > 0 }
    separator = consistent ?? present ?? UInt8(ascii: ",")
    guard consistent == nil, present == nil, let other = Self.other(records) else { return }
    let shown = other < 0x21 ? "\\x\(other < 16 ? "0" : "")\(String(other, radix: 16))" : nil
    throw ToolError(
      "\(name): the lines have one column, and seem to be separated by "
        + "'\(shown ?? String(Unicode.Scalar(other)))'; give --delimiter with the character, or "
        + "--delimiter , if it is one column")
  }

  /// The separator in a first line `sep=;`.
  private static func named(_ bytes: [UInt8]) -> UInt8? {
    let line = bytes.prefix { $0 != 0x0a && $0 != 0x0d }
    let text = line.first == UInt8(ascii: "\"") ? line.dropFirst().dropLast() : line[...]
    guard text.count == 5, text.starts(with: firstLine) else { return nil }
    return text.last
  }

  /// How often each ASCII character that may separate is in each record, outside of quotes.
  private static func records(_ bytes: [UInt8], _ isWhole: Bool) -> [[UInt8: Int]] {
    var records: [[UInt8: Int]] = []
    var (counts, isQuoted, isEmpty): ([UInt8: Int], Bool, Bool) = ([:], false, true)
    for byte in bytes {
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      if !isQuoted, byte == 0x0a || byte == 0x0d {
        if !isEmpty { records.append(counts) }
        (counts, isEmpty) = ([:], true)
        continue
      }
      isEmpty = false
      if !isQuoted, usual.contains(byte) || others.contains(byte) { counts[byte, default: 0] += 1 }
    }
    if isWhole, !isEmpty { records.append(counts) }
    return records
  }

  private static func isConsistent(_ byte: UInt8, _ records: [[UInt8: Int]]) -> Bool {
    guard let first = records.first?[byte] else { return false }
    return records.allSatisfy { $0[byte] == first }
  }

  /// Whether a reader could take the only name of a header for several.
  static func isMistakable(_ name: String) -> Bool {
    name.utf8.contains { usual.contains($0) || others.contains($0) }
  }

  /// Whether the only name of a header has the form of a line that names the separator, which
  /// quotes do not change.
  static func isSeparatorLine(_ name: String) -> Bool {
    name.utf8.count == 5 && name.utf8.starts(with: firstLine)
  }

  /// Separators that some programs write.
  private static let others = Set(
    Array(":^~#/ ".utf8) + Array(0x01...0x08) + [0x0b, 0x0c] + Array(0x0e...0x1f))

  private static func other(_ records: [[UInt8: Int]]) -> UInt8? {
    if records.count < 2 { return nil }
    return others.sorted().last { byte in
      // Many names contain one space.
      isConsistent(byte, records) && (byte != 0x20 || records[0][byte] ?? 0 > 1)
    }
  }
}
