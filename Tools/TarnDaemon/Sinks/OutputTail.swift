import Foundation

/// What an output has after its last line feed, and so what has to be done before a line can be
/// appended. Nothing that others wrote is cut off.
struct OutputTail: Equatable {
  enum Kind: Equatable {
    /// Nothing: the file is empty, or ends with a line feed.
    case none
    /// The beginning of a line of the daemon's, which a death cut off: its batch comes again.
    case cut
    /// A line that lacks its line feed: of others, or a whole one of the daemon's.
    case whole
    /// The file does not consist of lines: a store, for example.
    case data
  }

  private static let blockBytes = 1 << 16
  /// Each line of the daemon's begins so, and goes on with two strings and a comma.
  private static let beginning = Array(#"{"watch":""#.utf8)

  let kind: Kind
  /// Where it begins.
  let start: off_t

  init(of descriptor: Int32) {
    let size = lseek(descriptor, 0, SEEK_END)
    let head = Self.block(descriptor, 0, ..<size)
    if head.prefix(4_096).contains(0) {
      (kind, start) = (.data, 0)
      return
    }
    start = Self.endOfLines(descriptor, size)
    let tail = Self.block(descriptor, start, ..<size)
    if tail.isEmpty {
      kind = .none
    } else if tail[0] == 0, head.starts(with: Self.beginning) {
      // A power cut may leave zeros in place of written bytes.
      kind = Self.isZero(descriptor, start..<size) ? .cut : .whole
    } else if Self.beginsAsOurs(tail) {
      kind = Self.isWhole(descriptor, start..<size) ? .whole : .cut
    } else {
      kind = .whole
    }
  }

  private static func block(
    _ descriptor: Int32, _ start: off_t, _ end: PartialRangeUpTo<off_t>
  ) -> [UInt8] {
    let wanted = min(off_t(blockBytes), max(0, end.upperBound - start))
    var bytes = [UInt8](repeating: 0, count: Int(wanted))
    let count = pread(descriptor, &bytes, bytes.count, start)
    return Array(bytes.prefix(max(0, count)))
  }

  /// The place after the last line feed.
  private static func endOfLines(_ descriptor: Int32, _ size: off_t) -> off_t {
    var end = size
    while end > 0 {
      let start = max(0, end - off_t(blockBytes))
      let bytes = block(descriptor, start, ..<end)
      if let last = bytes.lastIndex(of: 0x0a) { return start + off_t(last) + 1 }
      end = start
    }
    return 0
  }

  private static func isZero(_ descriptor: Int32, _ range: Range<off_t>) -> Bool {
    for place in stride(from: range.lowerBound, to: range.upperBound, by: blockBytes)
    where block(descriptor, place, ..<range.upperBound).contains(where: { $0 != 0 }) {
      return false
    }
    return true
  }

  /// Whether it is `{"watch":"NAME","file":"PATH",` and more.
  static func beginsAsOurs(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    func skip(_ text: some Collection<UInt8>) -> Bool {
      guard rest.starts(with: text) else { return false }
      rest = rest.dropFirst(text.count)
      return true
    }
    /// Goes behind the quote that ends a string.
    func skipString() -> Bool {
      while let byte = rest.popFirst() {
        switch byte {
        case UInt8(ascii: "\""): return true
        case UInt8(ascii: "\\"): _ = rest.popFirst()
        case ..<0x20: return false
        default: break
        }
      }
      return false
    }
    return skip(beginning) && skipString() && skip(#","file":""#.utf8) && skipString()
      && skip(",".utf8)
  }

  /// Whether the object that begins there ends at the end of the file.
  private static func isWhole(_ descriptor: Int32, _ range: Range<off_t>) -> Bool {
    var (depth, isString, isEscaped) = (0, false, false)
    for place in stride(from: range.lowerBound, to: range.upperBound, by: blockBytes) {
      for byte in block(descriptor, place, ..<range.upperBound) {
        if isEscaped {
          isEscaped = false
        } else if isString {
          isEscaped = byte == UInt8(ascii: "\\")
          isString = byte != UInt8(ascii: "\"")
        } else {
          switch byte {
          case UInt8(ascii: "\""): isString = true
          case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
          case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
          default: break
          }
        }
      }
    }
    return depth == 0 && !isString
  }
}
