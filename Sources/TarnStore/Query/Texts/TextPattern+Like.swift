extension TextPattern {
  private static let (star, question, backslash) = (
    UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "\\")
  )

  /// Whether the whole string matches the pattern: `*` matches any string, also an empty one, `?`
  /// one character (a Unicode scalar), and a backslash makes the next character literal.
  ///
  /// Only the last `*` is ever retried, so the time is at most the product of the lengths.
  static func isLike(_ text: UnsafeRawBufferPointer, _ pattern: UnsafeRawBufferPointer) -> Bool {
    var (position, wanted) = (0, 0)
    /// After the last `*`, and where the string continues if `*` matches the same characters as
    /// before.
    var retry: (wanted: Int, position: Int)?
    while position < text.count {
      if wanted < pattern.count {
        let sought = unsafe pattern[wanted]
        if sought == star {
          wanted += 1
          retry = (wanted, position)
          continue
        }
        if sought == question {
          unsafe position = next(position, in: text)
          wanted += 1
          continue
        }
        let isEscape = sought == backslash && wanted + 1 < pattern.count
        if unsafe text[position] == (isEscape ? pattern[wanted + 1] : sought) {
          position += 1
          wanted += isEscape ? 2 : 1
          continue
        }
      }
      guard let last = retry else { return false }
      unsafe position = next(last.position, in: text)
      wanted = last.wanted
      retry = (wanted, position)
    }
    while wanted < pattern.count, unsafe pattern[wanted] == star { wanted += 1 }
    return wanted == pattern.count
  }

  /// The start of the character after the one at a position.
  private static func next(_ position: Int, in text: UnsafeRawBufferPointer) -> Int {
    var next = position + 1
    while next < text.count, unsafe text[next] & 0xc0 == 0x80 { next += 1 }
    return next
  }

  /// The literal prefix of every matching string.
  static func literalPrefix(ofPattern pattern: [UInt8]) -> [UInt8] {
    var prefix: [UInt8] = []
    var position = 0
    while position < pattern.count, pattern[position] != star, pattern[position] != question {
      if pattern[position] == backslash, position + 1 < pattern.count { position += 1 }
      prefix.append(pattern[position])
      position += 1
    }
    return prefix
  }
}
