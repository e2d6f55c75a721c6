import TarnStore

// The width of text on a terminal, and escaping of text that would control the terminal.

/// The number of terminal cells of a text: 2 for wide East Asian letters and emoji, 0 for combining
/// marks, 1 for other letters. Control characters count as 0.
package func displayWidth(_ text: String) -> Int {
  // The common case, without a loop over letters.
  if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return text.utf8.count }
  return text.reduce(0) { $0 + displayWidth($1) }
}

/// The number of terminal cells of one grapheme.
package func displayWidth(_ letter: Character) -> Int {
  var width = 0
  for scalar in letter.unicodeScalars {
    // A variation selector for emoji presentation makes a narrow character wide.
    if scalar.value == 0xfe0f { width = max(width, 2) }
    width = max(width, cellWidth(scalar))
  }
  return width
}

private func cellWidth(_ scalar: Unicode.Scalar) -> Int {
  switch scalar.properties.generalCategory {
  case .nonspacingMark, .enclosingMark, .control, .format: return 0
  default: break
  }
  if wideRanges.contains(where: { $0.contains(scalar.value) }) { return 2 }
  return scalar.properties.isEmojiPresentation ? 2 : 1
}

/// The blocks that Unicode calls wide or full-width.
private let wideRanges: [ClosedRange<UInt32>] = [
  0x1100...0x115f, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0x9fff,
  0xa000...0xa4cf, 0xa960...0xa97f, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f,
  0xff01...0xff60, 0xffe0...0xffe6, 0x1b000...0x1b2ff, 0x20000...0x3fffd,
]

/// Text from a file, made safe for a terminal and for one line: control characters, including the
/// escape character, become `\n`, `\t` or `\u{1b}`, and so do marks that change the direction of
/// writing. A byte of a path that is not UTF-8 becomes `\xe9`.
package func printable(_ text: String) -> String {
  if !text.unicodeScalars.contains(where: isUnsafe) { return text }
  var result = ""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\n": result += "\\n"
    case "\r": result += "\\r"
    case "\t": result += "\\t"
    case _ where String.escapedByte(scalar) != nil:
      result += "\\x" + String(scalar.value & 0xff, radix: 16)
    case _ where isUnsafe(scalar): result += "\\u{\(String(scalar.value, radix: 16))}"
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result
}

/// The same for a text of several lines; line feeds stay, and a tab is two spaces.
package func printableLines(_ text: String) -> String {
  text.replacingASCII("\t", with: "  ").splitASCII("\n", omittingEmpty: false)
    .map { printable(String($0)) }.joined(separator: "\n")
}

/// Whether a terminal would interpret the scalar instead of showing it.
func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  case 0..<0x20, 0x7f..<0xa0, 0x2028, 0x2029, 0x202a...0x202e, 0x2066...0x2069: return true
  default: return String.escapedByte(scalar) != nil
  }
}

/// The text cut to a width, with an ellipsis in the last cell if it was cut.
package func truncated(_ text: String, toWidth width: Int) -> String {
  if width <= 0 { return "" }
  if displayWidth(text) <= width { return text }
  var result = ""
  var used = 0
  for letter in text {
    let next = displayWidth(letter)
    if used + next > width - 1 { break }
    result.append(letter)
    used += next
  }
  return result + "…"
}

/// The text padded with spaces to a width, on the right or, with `toRight`, on the left.
package func padded(_ text: String, toWidth width: Int, toRight: Bool = false) -> String {
  let space = String(repeating: " ", count: max(0, width - displayWidth(text)))
  return toRight ? space + text : text + space
}
