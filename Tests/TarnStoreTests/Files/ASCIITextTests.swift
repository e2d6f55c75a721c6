import TarnStore
import TestSupport
import Testing

/// Texts are taken apart by bytes, whatever stands beside a separator.
@Suite struct ASCIITextTests {
  private static let marks = [",", "'", "\\"]

  /// What a program does that has the bytes only.
  private func split(_ text: String, _ omits: Bool, _ most: Int) -> [[UInt8]] {
    Array(text.utf8).split(separator: 0x2c, maxSplits: most, omittingEmptySubsequences: omits)
      .map(Array.init)
  }

  @Test func `texts are split and replaced as bytes are`() {
    var random = SeededRandom(seed: 5)
    for _ in 0..<2_000 {
      let text = HostileTexts.random(&random, marks: Self.marks)
      for omits in [true, false] {
        for most in [1, .max] {
          let parts = text.splitASCII(",", maxSplits: most, omittingEmpty: omits)
          #expect(
            parts.map { Array($0.utf8) } == split(text, omits, most), "\(text.debugDescription)")
        }
      }
      let doubled = text.utf8.flatMap { $0 == 0x27 ? [0x27, 0x27] : [$0] }
      #expect(Array(text.replacingASCII("'", with: "''").utf8) == doubled)
      let first = text.firstASCII(",").map { text.utf8.distance(from: text.startIndex, to: $0) }
      let last = text.lastASCII(",").map { text.utf8.distance(from: text.startIndex, to: $0) }
      #expect(first == Array(text.utf8).firstIndex(of: 0x2c))
      #expect(last == Array(text.utf8).lastIndex(of: 0x2c))
    }
  }

  @Test func `the beginning and the end are those of the bytes`() {
    #expect("/\u{301}a".beginsWithBytes(of: "/"))
    #expect("a\u{600}.d".endsWithBytes(of: ".d"))
    #expect(!"e\u{301}".beginsWithBytes(of: "\u{e9}"))
    #expect(!"a".beginsWithBytes(of: "ab"))
    #expect(" \t a \r\n".trimmingASCII(lineEnds: true) == "a")
    #expect(" a \n".trimmingASCII() == "a \n")
    #expect(" \u{301} ".trimmingASCII() == "\u{301}")
    #expect("".trimmingASCII() == "")
  }
}
