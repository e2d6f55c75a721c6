import TarnStore
import TestSupport
import Testing

@Suite struct UTF8TextTests {
  @Test func `bytes are text exactly if the standard library says so`() {
    var random = SeededRandom(seed: 1)
    let pieces: [[UInt8]] = [
      [], [0], [0x41], Array("Zoë".utf8), Array("𝄞e\u{301}".utf8), Array("\u{feff}".utf8),
      [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xff], [0x80], [0xe2, 0x82],
    ]
    var invalid = 0
    for _ in 0..<2_000 {
      let valid = random.chance(50)
      let bytes = (0...random.below(8))
        .flatMap { _ in pieces[random.below(valid ? 6 : pieces.count)] }
      let expected = String(validating: bytes, as: UTF8.self)
      if expected == nil { invalid += 1 }
      #expect(String(utf8: bytes).map { Array($0.utf8) } == expected.map { Array($0.utf8) })
    }
    #expect(invalid > 500)
    #expect(String(utf8: []) == "")
    #expect(String(utf8: UnsafeRawBufferPointer(start: nil, count: 0)) == "")
  }
}
