import TarnStore

/// The reason why libpq could not connect, in its form with all details: "FATAL: 28P01: …". Only
/// this text contains the code of a refused login.
struct ConnectFailure: Error {
  let state: String
  let message: String

  /// Whether the server has refused the login, so that another server of the cluster would, too.
  var isFinal: Bool { ServerRefusal(state) == .login }

  /// - Parameter asksForPassword: whether the server requires a password and libpq has none.
  init(_ text: String, asksForPassword: Bool = false) {
    var lines = text.splitASCII("\n", omittingEmpty: false).map(String.init)
    var state = ""
    for index in lines.indices {
      guard let (code, rest) = Self.taken(lines[index]) else { continue }
      lines[index] = rest
      if state.isEmpty { state = code }
    }
    // The position in the server's source code.
    if !state.isEmpty { lines.removeAll { $0.beginsWithBytes(of: "LOCATION:") } }
    while lines.last?.isEmpty == true { lines.removeLast() }
    self.state = state.isEmpty && asksForPassword ? "28P01" : state
    message = lines.joined(separator: "\n")
  }

  /// The code of a line, and the line without it.
  private static func taken(_ line: String) -> (String, String)? {
    let bytes = Array(line.utf8)
    let mark = Array(":  ".utf8)
    guard bytes.count > 10 else { return nil }
    for start in 0..<bytes.count - 9 where Array(bytes[start..<start + 3]) == mark {
      let code = bytes[start + 3..<start + 8]
      let isCode = code.allSatisfy { (48...57).contains($0) || (65...90).contains($0) }
      guard isCode, bytes[start + 8] == UInt8(ascii: ":"), bytes[start + 9] == 32 else { continue }
      let rest = bytes[..<(start + 3)] + bytes[(start + 10)...]
      return (String(decoding: code, as: UTF8.self), String(decoding: rest, as: UTF8.self))
    }
    return nil
  }
}
