/// Formats separate, quote and escape with ASCII characters, and their readers compare bytes. A
/// `Character` may have more: a comma before U+0301 is another character than a comma, and so is a
/// CR before an LF. So these functions compare bytes.
extension StringProtocol {
  /// The string with replacements for some ASCII characters.
  ///
  /// - Parameter replacement: returns the replacement of an ASCII character; nil to keep it.
  package func replacingASCII(_ replacement: (Unicode.Scalar) -> String?) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8.count)
    for byte in utf8 {
      if byte < 0x80, let other = replacement(Unicode.Scalar(byte)) {
        bytes += other.utf8
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The string with a replacement for an ASCII character.
  package func replacingASCII(_ character: Unicode.Scalar, with other: String) -> String {
    replacingASCII { $0 == character ? other : nil }
  }

  /// The parts between ASCII characters, as `split` returns them.
  package func splitASCII(
    _ separator: Unicode.Scalar, maxSplits: Int = .max, omittingEmpty: Bool = true
  ) -> [SubSequence] {
    let byte = UInt8(ascii: separator)
    var (parts, start): ([SubSequence], Index) = ([], startIndex)
    for place in utf8.indices where utf8[place] == byte && parts.count < maxSplits {
      if place > start || !omittingEmpty { parts.append(self[start..<place]) }
      start = utf8.index(after: place)
    }
    if start < endIndex || !omittingEmpty { parts.append(self[start...]) }
    return parts
  }

  /// The position of the first ASCII character of this kind.
  package func firstASCII(_ character: Unicode.Scalar) -> Index? {
    utf8.firstIndex(of: UInt8(ascii: character))
  }

  /// Whether its bytes begin with those of another string.
  package func beginsWithBytes(of other: String) -> Bool { utf8.starts(with: other.utf8) }

  /// Whether its bytes end with those of another string.
  package func endsWithBytes(of other: String) -> Bool {
    utf8.reversed().starts(with: other.utf8.reversed())
  }

  /// The rest after the bytes of another string; nil if the string does not begin with them.
  package func rest(afterBytesOf other: String) -> SubSequence? {
    guard beginsWithBytes(of: other) else { return nil }
    return self[utf8.index(startIndex, offsetBy: other.utf8.count)...]
  }

  /// The parts before and after the first ASCII character of this kind; nil without one.
  package func partsAroundASCII(
    _ character: Unicode.Scalar
  ) -> (before: SubSequence, behind: SubSequence)? {
    firstASCII(character).map { (self[..<$0], self[utf8.index(after: $0)...]) }
  }
}

extension StringProtocol where UTF8View: BidirectionalCollection {
  /// The position of the last ASCII character of this kind.
  package func lastASCII(_ character: Unicode.Scalar) -> Index? {
    utf8.lastIndex(of: UInt8(ascii: character))
  }

  /// Without ASCII spaces and tabs at both ends; with `lineEnds` also without line ends.
  package func trimmingASCII(lineEnds: Bool = false) -> SubSequence {
    func isSpace(_ byte: UInt8) -> Bool {
      byte == 0x20 || byte == 0x09 || lineEnds && (byte == 0x0a || byte == 0x0d)
    }
    var (start, end) = (startIndex, endIndex)
    while start < end, isSpace(utf8[start]) { start = utf8.index(after: start) }
    while start < end, isSpace(utf8[utf8.index(before: end)]) { end = utf8.index(before: end) }
    return self[start..<end]
  }
}
