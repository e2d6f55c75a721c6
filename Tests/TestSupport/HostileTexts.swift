/// Texts in which a mark of a format, such as a quote, is beside scalars that join it to one
/// `Character`: code that looks at characters does not see the mark.
package enum HostileTexts {
  /// Scalars that join what is before or behind them, by each rule of Unicode; and line ends.
  private static let joining: [Unicode.Scalar] = [
    "\u{301}", "\u{200c}", "\u{200d}", "\u{fe0f}", "\u{600}", "\u{110bd}", "\u{903}", "\u{e33}",
    "\u{20e3}", "\u{1f3fb}", "\u{1f1e6}", "\u{e0020}", "\u{1100}", "\r", "\n",
  ]

  /// - Parameters:
  ///   - marks: the scalars and texts that the format gives a meaning.
  ///   - bytesMax: how long it may be.
  /// - Returns: a text without NUL that is not empty.
  package static func random(
    _ random: inout SeededRandom, marks: [String], bytesMax: Int = 200
  ) -> String {
    var text = ""
    let count = 1 + random.below(8)
    repeat {
      let next: String =
        switch random.below(10) {
        case 0..<4: random.pick(marks)
        case 4..<8: String(random.pick(joining))
        case 8: random.pick(["a", "b", "E", "U&", "1", " ", "or"])
        default: String(scalar(random.below(0x110000)))
        }
      if text.utf8.count + next.utf8.count > bytesMax { break }
      text += next
    } while text.unicodeScalars.count < count
    return text.isEmpty ? "x" : text
  }

  private static func scalar(_ number: Int) -> Unicode.Scalar {
    number == 0 ? "x" : Unicode.Scalar(UInt32(number)) ?? "\u{301}"
  }

  /// A text for each scalar but NUL, in which it is before and behind each of some marks.
  package static func beside(_ marks: [String]) -> some Sequence<String> {
    (1..<0x110000).lazy.compactMap { Unicode.Scalar(UInt32($0)) }.map { scalar in
      marks.reduce("\(scalar)") { $0 + $1 + "\(scalar)" }
    }
  }
}
