/// Names and paths of names as text: `mother.age`.
///
/// A name can be written in back quotes, and must be if it contains a separator: `` `a.b`.age ``
/// has two names. A back quote within the quotes is doubled. An unpaired back quote is part of a
/// name, as are quotes around a part of one.
package enum PathText {
  private static let quote = UInt8(ascii: "`")
  private static let dot: Unicode.Scalar = "."

  /// The names of a path, between its dots.
  package static func names(in text: String) -> [String] {
    parts(of: text, separatedBy: dot).map(name)
  }

  /// The path of these names, which `names(in:)` reads back.
  package static func text(of names: some Sequence<String>) -> String {
    names.lazy.map { name in
      name.utf8.contains { $0 == quote || $0 == UInt8(ascii: ".") } ? quoted(name) : name
    }.joined(separator: ".")
  }

  /// The parts between separators outside of quotes, as they are written.
  ///
  /// - Parameter separator: an ASCII character.
  package static func parts(
    of text: String, separatedBy separator: Unicode.Scalar
  ) -> [Substring] {
    var parts: [Substring] = []
    var next: Substring? = text[...]
    while let text = next {
      let (part, rest) = first(of: text, before: separator)
      parts.append(part)
      next = rest
    }
    return parts
  }

  /// The first name of a path, and the path after its dot.
  package static func first(of path: Substring) -> (name: String, rest: Substring?) {
    let (part, rest) = first(of: path, before: dot)
    return (name(part), rest)
  }

  /// The first of the `parts`, and the rest after the separator.
  package static func first(
    of text: Substring, before separator: Unicode.Scalar
  ) -> (part: Substring, rest: Substring?) {
    let bytes = text.utf8
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let next = bytes.index(after: index)
      if bytes[index] == UInt8(ascii: separator) { return (text[..<index], text[next...]) }
      let end = bytes[index] == quote ? bytes[next...].firstIndex(of: quote) : nil
      index = end.map { bytes.index(after: $0) } ?? next
    }
    return (text, nil)
  }

  /// The name that a part denotes.
  package static func name(_ part: some StringProtocol) -> String {
    let bytes = Array(part.utf8)
    guard bytes.count >= 2, bytes.first == quote, bytes.last == quote else { return String(part) }
    var name: [UInt8] = []
    var rest = bytes.dropFirst().dropLast()
    while let byte = rest.popFirst() {
      if byte == quote, rest.popFirst() != quote { return String(part) }
      name.append(byte)
    }
    return String(decoding: name, as: UTF8.self)
  }

  package static func quoted(_ name: String) -> String {
    let quote = "`"
    var result = quote
    for scalar in name.unicodeScalars {
      result.unicodeScalars.append(scalar)
      if scalar == "`" { result += quote }
    }
    return result + quote
  }

  /// The message for an unknown first name that, together with some of the next ones, is a known
  /// name with dots: how to write that. Nil for others.
  package static func advice(
    for names: some Sequence<String>, among known: some Sequence<String>
  ) -> String? {
    let written = names.joined(separator: ".")
    let meant = known.filter { name in
      name.utf8.contains(UInt8(ascii: ".")) && (written + ".").utf8.starts(with: (name + ".").utf8)
    }
    return meant.max { $0.utf8.count < $1.utf8.count }.map {
      "write the name '\($0)' in back quotes: \(quoted($0))"
    }
  }
}

/// How long a path of names may be.
///
/// Observers keep, for each step of a path, all links before it; and some code follows the steps by
/// recursion.
package enum PathLimit {
  package static let namesMax = 256

  /// The error message for a path with that many names; nil if it is short enough.
  package static func objection(toNames count: Int) -> String? {
    guard count > namesMax else { return nil }
    return "a key path may have at most \(namesMax) names, and this one has \(count)"
  }

  static func check(_ path: Path) throws(PredicateError) {
    if let objection = objection(toNames: path.count) { throw PredicateError(objection) }
  }
}
