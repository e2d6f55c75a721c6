import TarnStore

/// The SQL in a file of the folder `SQL`, in sections with placeholders:
///
///     --: name
///     SELECT * FROM {{table}}
///
/// A section is the text up to the next line of that form. The files are part of the program
/// (`.embedInCode`), because a bundle of resources could be missing where it is installed.
struct SQLTemplates: Sendable {
  private enum Part: Sendable {
    case text(String)
    case placeholder(String)
  }

  private let sections: [String: [Part]]

  init(_ file: [UInt8]) {
    var texts: [(name: String, lines: [Substring])] = []
    var lines = String(decoding: file, as: UTF8.self).splitASCII("\n", omittingEmpty: false)
    // What follows the last line.
    if lines.last?.isEmpty == true { lines.removeLast() }
    for line in lines {
      if line.utf8.starts(with: "--: ".utf8) {
        texts.append((String(decoding: line.utf8.dropFirst(4), as: UTF8.self), []))
      } else {
        require(!texts.isEmpty, "internal error: SQL before the first section: \(line)")
        texts[texts.count - 1].lines.append(line)
      }
    }
    var sections: [String: [Part]] = [:]
    for (name, lines) in texts {
      require(sections[name] == nil, "internal error: the section '\(name)' of SQL is there twice")
      sections[name] = Self.parts(lines.joined(separator: "\n"))
    }
    self.sections = sections
  }

  /// The text of a section. Every placeholder needs a value; values are not searched for more
  /// placeholders.
  func text(_ section: String, _ values: [String: String] = [:]) -> String {
    guard let parts = sections[section] else {
      trap("internal error: there is no SQL '\(section)'")
    }
    var result = ""
    for part in parts {
      switch part {
      case .text(let text): result += text
      case .placeholder(let name):
        guard let value = values[name] else {
          trap("internal error: the SQL '\(section)' needs a value for {{\(name)}}")
        }
        result += value
      }
    }
    return result
  }

  private static func parts(_ text: String) -> [Part] {
    var parts: [Part] = []
    var rest = Array(text.utf8)[...]
    while let start = rest.firstRange(of: Array("{{".utf8)) {
      guard let end = rest[start.upperBound...].firstRange(of: Array("}}".utf8)) else { break }
      parts.append(.text(String(decoding: rest[..<start.lowerBound], as: UTF8.self)))
      let name = rest[start.upperBound..<end.lowerBound]
      parts.append(.placeholder(String(decoding: name, as: UTF8.self)))
      rest = rest[end.upperBound...]
    }
    parts.append(.text(String(decoding: rest, as: UTF8.self)))
    return parts
  }
}
