import Foundation

/// The target of a descriptor: a terminal with a width and colours, or a file or pipe that gets
/// plain text.
package struct Terminal: Sendable {
  package let isTerminal: Bool
  /// Whether `styled` adds colours: only on a terminal that is not dumb, and not if the environment
  /// sets NO_COLOR to a non-empty value; `--color always` overrides both.
  package let usesColor: Bool
  private let descriptor: Int32
  private let fallbackWidth: Int
  private let environment: [String: String]

  package init(
    descriptor: Int32, environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    self.init(
      descriptor: descriptor, isTerminal: isatty(descriptor) == 1, environment: environment)
  }

  init(descriptor: Int32, isTerminal: Bool, environment: [String: String]) {
    self.descriptor = descriptor
    self.environment = environment
    self.isTerminal = isTerminal
    let refused = !(environment["NO_COLOR"] ?? "").isEmpty || environment["TERM"] == "dumb"
    usesColor = isTerminal && !refused
    fallbackWidth = environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } ?? 80
  }

  package static var standardOutput: Terminal { Terminal(descriptor: STDOUT_FILENO) }
  package static var standardError: Terminal { Terminal(descriptor: STDERR_FILENO) }

  /// Applies `--color`: `always` writes as to a terminal, `never` without colours, anything else
  /// leaves it unchanged.
  package func colored(_ choice: String) -> Terminal {
    switch choice {
    case "always":
      Terminal(
        descriptor: descriptor, isTerminal: true,
        environment: environment.filter { $0.key != "NO_COLOR" && $0.key != "TERM" })
    case "never":
      Terminal(
        descriptor: descriptor, isTerminal: isTerminal,
        environment: environment.merging(["NO_COLOR": "1"]) { $1 })
    default: self
    }
  }

  /// Current columns: the window's, otherwise COLUMNS, otherwise 80.
  package var width: Int {
    var size = winsize()
    if isTerminal, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
      return Int(size.ws_col)
    }
    return fallbackWidth
  }

  /// Current lines: the window's, otherwise LINES, otherwise 24.
  package var height: Int {
    var size = winsize()
    if isTerminal, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0 {
      return Int(size.ws_row)
    }
    return environment["LINES"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } ?? 24
  }

  /// The same without colours.
  package var plain: Terminal { colored("never") }

  /// A text style, by its SGR number.
  package enum Style: Int, Sendable {
    case bold = 1
    case dim = 2
    case red = 31
    case green = 32
    case yellow = 33
    case blue = 34
    case magenta = 35
    case cyan = 36
  }

  /// The text with styles if this terminal supports them. It must be `printable` already.
  package func styled(_ text: String, _ styles: Style...) -> String {
    guard usesColor, !text.isEmpty, !styles.isEmpty else { return text }
    let codes = styles.map { String($0.rawValue) }.joined(separator: ";")
    return "\u{1b}[\(codes)m\(text)\u{1b}[0m"
  }
}

/// A progress line on standard error that erases itself at the end. Without a terminal it writes
/// nothing. Confined to one thread at a time.
package struct ProgressBar: ~Copyable {
  private let label: String
  private let total: Int64
  private let terminal: Terminal
  private let start = ContinuousClock.now
  private var drawn: ContinuousClock.Instant?

  /// - Parameter total: the value that `update` counts up to; 0 if unknown.
  package init(_ label: String, total: Int64, terminal: Terminal = .standardError) {
    self.label = label
    self.total = total
    self.terminal = terminal
  }

  /// Redraws the line, at most ten times a second; cheap enough to call for every record.
  package mutating func update(_ done: Int64) {
    guard terminal.isTerminal else { return }
    let now = ContinuousClock.now
    if let drawn, now - drawn < .milliseconds(100) { return }
    drawn = now
    let line = Self.line(
      label, done: done, total: total, elapsed: (now - start).seconds, width: terminal.width)
    put("\r\u{1b}[K" + line)
  }

  deinit {
    if drawn != nil { Self.write("\r\u{1b}[K") }
  }

  private func put(_ text: String) { Self.write(text) }

  private static func write(_ text: String) {
    // A progress bar is not worth an error.
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }

  /// One line, at most one cell narrower than the terminal, to leave room for a cursor.
  static func line(
    _ label: String, done: Int64, total: Int64, elapsed: Double, width: Int
  ) -> String {
    guard total > 0 else { return truncated("\(label) \(done)", toWidth: width - 1) }
    let share = min(1, max(0, Double(done) / Double(total)))
    let percent = padded("\(Int(share * 100))%", toWidth: 4, toRight: true)
    var tail = " \(percent)"
    if share > 0, share < 1, elapsed >= 1 {
      tail += " \(clockText(elapsed / share - elapsed)) left"
    }
    let room = width - 1 - displayWidth(label) - displayWidth(tail) - 1
    guard room >= 10 else { return truncated(label + tail, toWidth: width - 1) }
    let cells = min(40, room)
    let full = Int((share * Double(cells)).rounded())
    let bar = String(repeating: "█", count: full) + String(repeating: "░", count: cells - full)
    return "\(label) \(bar)\(tail)"
  }
}

/// Seconds as `12 s`, `3:05` or `1:02:03`.
func clockText(_ seconds: Double) -> String {
  let whole = Int(seconds.rounded(.up))
  if whole < 60 { return "\(whole) s" }
  func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
  if whole < 3600 { return "\(whole / 60):\(two(whole % 60))" }
  return "\(whole / 3600):\(two(whole / 60 % 60)):\(two(whole % 60))"
}

extension Duration {
  /// The duration in seconds, rounded to a Double.
  package var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}
