/// Blanks out what is not code: the text of comments and of string and character literals turns
/// into spaces, line ends stay, so that lines and columns still mean the same.
///
/// It understands nested block comments (Swift), raw and multi-line strings, interpolations with
/// strings inside, and C's character literals. It does not understand regular expression
/// literals, which this project does not use.
struct SourceMask {
  private let bytes: [UInt8]
  private let isC: Bool
  private var masked: [UInt8]
  private var place = 0

  /// The code of a source file, byte for byte as long as the file.
  static func code(of text: String, isC: Bool) -> String {
    var mask = SourceMask(bytes: Array(text.utf8), isC: isC)
    mask.run()
    return String(decoding: mask.masked, as: UTF8.self)
  }

  private init(bytes: [UInt8], isC: Bool) {
    self.bytes = bytes
    self.isC = isC
    masked = bytes
  }

  private func sees(_ text: String, at place: Int) -> Bool {
    let expected = text.utf8
    return place + expected.count <= bytes.count
      && bytes[place..<place + expected.count].elementsEqual(expected)
  }

  private mutating func blank(_ count: Int) {
    for index in place..<min(place + count, bytes.count) where bytes[index] != 0x0a {
      masked[index] = 0x20
    }
    place = min(place + count, bytes.count)
  }

  private mutating func run() {
    while place < bytes.count { step() }
  }

  /// Passes over one token's worth of anything.
  private mutating func step() {
    if sees("//", at: place) {
      while place < bytes.count, bytes[place] != 0x0a { blank(1) }
    } else if sees("/*", at: place) {
      blockComment()
    } else if sees("\"", at: place) || sees("#", at: place) {
      stringOrHash()
    } else if isC, sees("'", at: place) {
      characterLiteral()
    } else {
      place += 1
    }
  }

  private mutating func blockComment() {
    blank(2)
    var depth = 1
    while place < bytes.count, depth > 0 {
      if sees("*/", at: place) {
        depth -= 1
        blank(2)
      } else if !isC, sees("/*", at: place) {
        depth += 1
        blank(2)
      } else {
        blank(1)
      }
    }
  }

  private mutating func characterLiteral() {
    blank(1)
    while place < bytes.count, bytes[place] != 0x0a {
      if sees("\\", at: place) {
        blank(2)
      } else if sees("'", at: place) {
        blank(1)
        return
      } else {
        blank(1)
      }
    }
  }

  private mutating func stringOrHash() {
    var hashes = 0
    while !isC, sees("#", at: place + hashes) { hashes += 1 }
    guard sees("\"", at: place + hashes) else {
      place += max(1, hashes)
      return
    }
    let isMultiline = !isC && sees("\"\"\"", at: place + hashes)
    let quotes = isMultiline ? "\"\"\"" : "\""
    let fence = String(repeating: "#", count: hashes)
    blank(hashes + quotes.utf8.count)
    while place < bytes.count {
      if sees(quotes + fence, at: place) {
        blank(quotes.utf8.count + hashes)
        return
      }
      // A string that its line does not end is broken code; do not let it swallow the file.
      if !isMultiline, bytes[place] == 0x0a { return }
      if !isC, sees("\\\(fence)(", at: place) {
        blank(2 + hashes)
        interpolation()
      } else {
        blank(sees("\\\(fence)", at: place) ? 2 + hashes : 1)
      }
    }
  }

  private mutating func interpolation() {
    var depth = 1
    while place < bytes.count, depth > 0 {
      if sees("\"", at: place) || sees("#\"", at: place) {
        stringOrHash()
        continue
      }
      if sees("(", at: place) { depth += 1 }
      if sees(")", at: place) { depth -= 1 }
      blank(1)
    }
  }
}
