import Foundation

/// A terminal in raw mode that reports each key press, and an alternate screen to draw on; both are
/// restored at the end. Confined to one thread at a time.
package final class TerminalKeys {
  package enum Key: Equatable, Sendable {
    case up, down, pageUp, pageDown, home, end, quit
  }

  /// Written before the first frame, and after the last one.
  package static let enterScreen = "\u{1b}[?1049h\u{1b}[?25l"
  package static let leaveScreen = "\u{1b}[?25h\u{1b}[?1049l"

  package let descriptor: Int32
  private let former: termios

  /// Nil if the descriptor is not a terminal.
  package init?(descriptor: Int32) {
    var settings = termios()
    guard tcgetattr(descriptor, &settings) == 0 else { return nil }
    self.descriptor = descriptor
    former = settings
    // Signals stay enabled: Ctrl-C ends a tool as usual.
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
    withUnsafeMutableBytes(of: &settings.c_cc) { codes in
      codes[Int(VMIN)] = 0
      codes[Int(VTIME)] = 0
    }
    guard tcsetattr(descriptor, TCSANOW, &settings) == 0 else { return nil }
  }

  deinit {
    var settings = former
    tcsetattr(descriptor, TCSANOW, &settings)
  }

  /// The keys pressed so far, without waiting. Unknown keys are ignored.
  package func pressed() -> [Key] {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = read(descriptor, &bytes, bytes.count)
    return count > 0 ? Self.keys(Array(bytes[..<count])) : []
  }

  /// The keys in a terminal's bytes; an incomplete sequence is skipped.
  static func keys(_ bytes: [UInt8]) -> [Key] {
    var keys: [Key] = []
    var rest = bytes[...]
    while let first = rest.first {
      if let (sequence, key) = sequences.first(where: { rest.starts(with: $0.bytes) }) {
        keys.append(key)
        rest = rest.dropFirst(sequence.count)
        continue
      }
      rest = first == 0x1b ? afterUnknownSequence(rest) : rest.dropFirst()
    }
    return keys
  }

  private static func afterUnknownSequence(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let rest = bytes.dropFirst()
    guard rest.first == UInt8(ascii: "[") else { return rest }
    // A control sequence ends with the first byte from @ to ~.
    return rest.dropFirst().drop { !(0x40...0x7e).contains($0) }.dropFirst()
  }

  private static let names: [(text: String, key: Key)] = [
    ("\u{1b}[A", .up), ("\u{1b}OA", .up), ("k", .up),
    ("\u{1b}[B", .down), ("\u{1b}OB", .down), ("j", .down),
    ("\u{1b}[5~", .pageUp), ("b", .pageUp),
    ("\u{1b}[6~", .pageDown), (" ", .pageDown),
    ("\u{1b}[H", .home), ("\u{1b}OH", .home), ("\u{1b}[1~", .home), ("g", .home),
    ("\u{1b}[F", .end), ("\u{1b}OF", .end), ("\u{1b}[4~", .end), ("G", .end),
    ("q", .quit),
  ]
  private static let sequences = names.map { (bytes: Array($0.text.utf8), key: $0.key) }
}
