import TarnStore

/// Encodings other than UTF-8, which are refused with the command that converts them.
package enum TextEncoding {
  /// The name of the encoding by the first bytes of an input; nil if they may be UTF-8.
  private static func name(of head: some Collection<UInt8>) -> String? {
    let bytes = Array(head.prefix(4))
    if bytes.starts(with: [0xff, 0xfe, 0, 0]) || bytes == [0, 0, 0xfe, 0xff] { return "UTF-32" }
    if bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff]) { return "UTF-16" }
    guard bytes.count == 4 else { return nil }
    // Letters of English, and marks, without a byte order mark.
    if bytes[0] != 0, bytes[1] == 0, bytes[2] != 0, bytes[3] == 0 { return "UTF-16LE" }
    if bytes[0] == 0, bytes[1] != 0, bytes[2] == 0, bytes[3] != 0 { return "UTF-16BE" }
    return nil
  }

  /// - Parameter head: the first bytes of an input.
  /// - Throws: for text in another encoding, and for archives.
  package static func check(
    _ head: some Collection<UInt8>, _ name: String
  ) throws(ToolError) {
    if let compression = Compression(head: head) {
      throw ToolError(
        "\(name) is compressed: give it to '\(compression.rawValue) -dc' first, or import it "
          + "without --batch")
    }
    if head.starts(with: [0x50, 0x4b, 0x03, 0x04]) {
      throw ToolError(
        "\(name) is a ZIP archive or a spreadsheet: unpack it, or save the sheet as CSV UTF-8")
    }
    if let encoding = Self.name(of: head) {
      throw ToolError("\(name) is \(encoding): '\(command(encoding, name))' converts it to UTF-8")
    }
  }

  /// Behind a message about bytes that are not UTF-8.
  package static let hint = "('iconv -f LATIN1 -t UTF-8' converts Latin-1)"

  private static func command(_ encoding: String, _ name: String) -> String {
    "iconv -f \(encoding) -t UTF-8" + (name == "standard input" ? "" : " \(name)")
  }
}
