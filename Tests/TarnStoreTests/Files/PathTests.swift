import TestSupport
import Testing

@testable import TarnStore

/// Paths of any bytes as Strings.
@Suite struct PathTests {
  private func text(_ bytes: [UInt8]) -> String {
    (bytes + [0]).map { CChar(bitPattern: $0) }.withUnsafeBufferPointer {
      String(path: $0.baseAddress!)
    }
  }

  private func bytes(_ text: String) -> [UInt8] {
    text.withPath { path in
      var bytes: [UInt8] = []
      var next = path
      while next.pointee != 0 {
        bytes.append(UInt8(bitPattern: next.pointee))
        next += 1
      }
      return bytes
    }
  }

  @Test func textIsAsItIs() {
    for path in ["", "a/b.tarn", "café/😀", "e\u{301}"] {
      #expect(text(Array(path.utf8)).utf8.elementsEqual(path.utf8))
      #expect(bytes(path) == Array(path.utf8))
      #expect(!path.escapesBytes)
    }
  }

  @Test func otherBytesAreEscaped() {
    #expect(text([0x63, 0xe9]) == "c\u{10ffe9}")
    // Half of a character, a surrogate, and what an escape looks like.
    for path: [UInt8] in [
      [0xc3], [0xc3, 0x2f, 0xa9], [0xed, 0xa0, 0x80], [0xf4, 0x8f, 0xbf, 0xa9], [0xff, 0xfe],
    ] {
      #expect(text(path).escapesBytes)
      #expect(bytes(text(path)) == path)
    }
  }

  @Test func eachPathHasAStringOfItsOwn() {
    var random = SeededRandom(seed: 1)
    let starts: [UInt8] = [0xf4, 0x8f, 0xbe, 0xbf, 0xc3, 0xa9, 0x61, 0x80]
    var known: [String: [UInt8]] = [:]
    for _ in 0..<20_000 {
      let path = (0..<random.below(6)).map { _ in
        random.chance(80) ? starts[random.below(starts.count)] : UInt8(random.below(255) + 1)
      }
      let text = text(path)
      #expect(bytes(text) == path)
      #expect(known.updateValue(path, forKey: text) ?? path == path)
    }
  }
}
