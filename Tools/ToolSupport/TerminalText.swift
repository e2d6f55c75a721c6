/// Escapes control characters in text that is written to a terminal.
enum TerminalText {
  /// The text with control characters and marks that change the direction of writing as `\\u001b`,
  /// which JSON reads back. Line feeds and tabs stay.
  ///
  /// - Parameter keepsStyles: whether the sequences of `Terminal.styled` also stay.
  static func harmless(_ bytes: [UInt8], keepsStyles: Bool) -> [UInt8] {
    // Every unsafe character is one of these bytes or begins with one.
    let isSuspect = bytes.contains { byte in
      byte < 0x20 && byte != 0x0a && byte != 0x09 || byte == 0x7f || byte == 0xc2 || byte == 0xe2
    }
    guard isSuspect else { return bytes }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var rest = Substring(String(decoding: bytes, as: UTF8.self)).unicodeScalars
    while let scalar = rest.first {
      if keepsStyles, let style = style(at: rest) {
        result.append(contentsOf: String(style).utf8)
        rest = rest[style.endIndex...]
        continue
      }
      if scalar != "\n", scalar != "\t", isUnsafe(scalar) {
        let digits = String(scalar.value, radix: 16)
        result.append(
          contentsOf: ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
      } else {
        result.append(contentsOf: String(scalar).utf8)
      }
      rest.removeFirst()
    }
    return result
  }

  /// A sequence at the start that only changes the style: `ESC [ 1;31 m`.
  private static func style(at text: Substring.UnicodeScalarView) -> Substring? {
    guard text.starts(with: ["\u{1b}", "["]) else { return nil }
    let end = text.dropFirst(2).firstIndex { !("0"..."9" ~= $0) && $0 != ";" }
    guard let end, text[end] == "m" else { return nil }
    return Substring(text[...end])
  }
}
