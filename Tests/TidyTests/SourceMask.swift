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
  private var position = 0

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

  private func sees(_ text: String, at position: Int) -> Bool {
    let expected = text.utf8
    return position + expected.count <= bytes.count
      && bytes[position..<position + expected.count].elementsEqual(expected)
  }

  private mutating func blank(_ count: Int) {
    for index in position..<min(position + count, bytes.count) where bytes[index] != 0x0a {
      masked[index] = 0x20
    }
    position = min(position + count, bytes.count)
  }

  private mutating func run() {
    while position < bytes.count { step() }
  }

  /// Passes over one token's worth of anything.
  private mutating func step() {
    if sees("//", at: position) {
      while position < bytes.count, bytes[position] != 0x0a { blank(1) }
    } else if sees("/*", at: position) {
      blockComment()
    } else if sees("\"", at: position) || sees("#", at: position) {
      stringOrHash()
    } else if isC, sees("'", at: position) {
      characterLiteral()
    } else {
      position += 1
    }
  }

  private mutating func blockComment() {
    blank(2)
    var depth = 1
    while position < bytes.count, depth > 0 {
      if sees("*/", at: position) {
        depth -= 1
        blank(2)
      } else if !isC, sees("/*", at: position) {
        depth += 1
        blank(2)
      } else {
        blank(1)
      }
    }
  }

  private mutating func characterLiteral() {
    blank(1)
    while position < bytes.count, bytes[position] != 0x0a {
      if sees("\\", at: position) {
        blank(2)
      } else if sees("'", at: position) {
        blank(1)
        return
      } else {
        blank(1)
      }
    }
  }

  private mutating func stringOrHash() {
    var hashes = 0
    while !isC, sees("#", at: position + hashes) { hashes += 1 }
    guard sees("\"", at: position + hashes) else {
      position += max(1, hashes)
      return
    }
    let isMultiline = !isC && sees("\"\"\"", at: position + hashes)
    let quotes = isMultiline ? "\"\"\"" : "\""
    let fence = String(repeating: "#", count: hashes)
    blank(hashes + quotes.utf8.count)
    while position < bytes.count {
      if sees(quotes + fence, at: position) {
        blank(quotes.utf8.count + hashes)
        return
      }
      // A string that its line does not end is broken code; do not let it swallow the file.
      if !isMultiline, bytes[position] == 0x0a { return }
      if !isC, sees("\\\(fence)(", at: position) {
        blank(2 + hashes)
        interpolation()
      } else {
        blank(sees("\\\(fence)", at: position) ? 2 + hashes : 1)
      }
    }
  }

  private mutating func interpolation() {
    var depth = 1
    while position < bytes.count, depth > 0 {
      if sees("\"", at: position) || sees("#\"", at: position) {
        stringOrHash()
        continue
      }
      if sees("(", at: position) { depth += 1 }
      if sees(")", at: position) { depth -= 1 }
      blank(1)
    }
  }
}
