/// The tokens of a predicate string.
enum PredicateToken: Equatable {
  /// A word that is not reserved.
  case name(String)
  /// A name in back quotes, or a word after `#`: always a name.
  case quotedName(String)
  /// A reserved word, in upper case.
  case keyword(String)
  case value(Value)
  /// Operators and brackets.
  case symbol(String)
  /// A placeholder for the next argument; the text after the `%`.
  case placeholder(String)
  case end
}

/// Splits a predicate string into tokens, one at a time.
struct PredicateLexer {
  private static let symbols = [
    "&&", "||", "==", "!=", "<>", "<=", "=<", ">=", "=>", "=", "<", ">", "!", "(", ")", "{", "}",
    "[", "]", ",", ".", "$",
  ]

  /// The longest ones first.
  private static let placeholders = [
    "lld", "lli", "llu", "ld", "li", "lu", "lf", "@", "K", "d", "i", "u", "f",
  ]

  private static let nameQuote = UInt8(ascii: "`")

  private let bytes: [UInt8]
  private var position = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  func error(at byteOffset: Int, _ message: String) -> PredicateSyntaxError {
    let before = String(decoding: bytes[..<byteOffset], as: UTF8.self)
    return PredicateSyntaxError(offset: before.count, message: message)
  }

  /// The next token and the byte where it starts.
  mutating func next() throws(PredicateSyntaxError) -> (token: PredicateToken, start: Int) {
    while let byte = peek(), byte == 32 || (9...13).contains(byte) { position += 1 }
    let start = position
    guard let byte = peek() else { return (.end, start) }
    if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
      return (.value(.string(try string())), start)
    }
    if PredicateWord.isDigit(byte)
      || (byte == UInt8(ascii: "-") && peek(1).map(PredicateWord.isDigit) == true)
    {
      return (.value(try number()), start)
    }
    if byte == UInt8(ascii: "X") || byte == UInt8(ascii: "x"), peek(1) == UInt8(ascii: "'") {
      return (.value(try data()), start)
    }
    if byte == UInt8(ascii: "#") {
      position += 1
      guard let name = word() else { throw error(at: position, "expected a name after '#'") }
      return (.quotedName(name), start)
    }
    if byte == Self.nameQuote { return (.quotedName(try quotedName()), start) }
    if byte == UInt8(ascii: "%") { return (try placeholder(), start) }
    if byte == UInt8(ascii: "@") {
      position += 1
      return (.symbol("@" + (word() ?? "")), start)
    }
    if let name = word() {
      let upper = name.uppercased()
      return (PredicateWord.reserved.contains(upper) ? .keyword(upper) : .name(name), start)
    }
    for symbol in Self.symbols where bytes[position...].starts(with: symbol.utf8) {
      position += symbol.utf8.count
      return (.symbol(symbol), start)
    }
    let meant = ["&": ": write && or AND", "|": ": write || or OR"]
    let found = String(Unicode.Scalar(byte))
    throw error(at: start, "'\(found)' has no meaning here\(meant[found] ?? "")")
  }

  private func peek(_ distance: Int = 0) -> UInt8? {
    position + distance < bytes.count ? bytes[position + distance] : nil
  }

  private mutating func word() -> String? {
    let start = position
    while let byte = peek(), PredicateWord.isPart(byte) { position += 1 }
    return start == position ? nil : String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func placeholder() throws(PredicateSyntaxError) -> PredicateToken {
    let start = position
    position += 1
    for kind in Self.placeholders where bytes[position...].starts(with: kind.utf8) {
      position += kind.utf8.count
      if let byte = peek(), PredicateWord.isPart(byte) { break }
      return .placeholder(kind)
    }
    throw error(
      at: start, "unknown placeholder: use %@, %K, %d, %i, %u, %ld, %lld or %f followed by a space")
  }

  private mutating func number() throws(PredicateSyntaxError) -> Value {
    let start = position
    if peek() == UInt8(ascii: "-") { position += 1 }
    if peek() == UInt8(ascii: "0"), peek(1).map({ $0 | 0x20 }) == UInt8(ascii: "x") {
      return try hexadecimalNumber(start)
    }
    while let byte = peek(), PredicateWord.isDigit(byte) { position += 1 }
    var isInteger = true
    if peek() == UInt8(ascii: "."), peek(1).map(PredicateWord.isDigit) == true {
      isInteger = false
      position += 1
      while let byte = peek(), PredicateWord.isDigit(byte) { position += 1 }
    }
    if peek().map({ $0 | 0x20 }) == UInt8(ascii: "e") {
      let sign = peek(1) == UInt8(ascii: "-") || peek(1) == UInt8(ascii: "+") ? 1 : 0
      if peek(1 + sign).map(PredicateWord.isDigit) == true {
        isInteger = false
        position += 1 + sign
        while let byte = peek(), PredicateWord.isDigit(byte) { position += 1 }
      }
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if let byte = peek(), PredicateWord.isPart(byte) {
      throw error(at: position, "expected a space or an operator after the number \(text)")
    }
    if isInteger, let value = Int64(text) { return .int(value) }
    guard let number = Self.number(text, isInteger: isInteger) else {
      throw error(at: start, "\(text) \(Self.mistake(isInteger))")
    }
    return number
  }

  /// A double if it prints as the number is written; a decimal if a double would lose digits. Nil
  /// if both would.
  static func number(_ text: String, isInteger: Bool) -> Value? {
    guard let double = Double(text), let written = DecimalNumber.parse(text) else { return nil }
    if written.isExact, DecimalNumber(shortest: double).order != written.value.order {
      return .decimal(written.value.cell)
    }
    let isHeld = written.isExact || WrittenNumber(text)?.isHeld(by: double) == true
    return isInteger && !written.isExact || !isHeld || double.isInfinite ? nil : .double(double)
  }

  private static func mistake(_ isInteger: Bool) -> String {
    isInteger
      ? "has more digits than a number can have"
      : "has more digits than a number can have, or is out of the range of numbers"
  }

  private mutating func hexadecimalNumber(_ start: Int) throws(PredicateSyntaxError) -> Value {
    position += 2
    let text = word() ?? ""
    guard let magnitude = UInt64(hexadecimal: Array(text.utf8)[...]),
      let value = bytes[start] == UInt8(ascii: "-")
        ? Int64(exactly: magnitude).map({ -$0 }) : Int64(exactly: magnitude)
    else { throw error(at: start, "expected a hexadecimal number of at most 64 bits") }
    return .int(value)
  }

  private mutating func data() throws(PredicateSyntaxError) -> Value {
    let start = position
    position += 2
    var result: [UInt8] = []
    while let high = peek().flatMap(UInt64.nibble), let low = peek(1).flatMap(UInt64.nibble) {
      result.append(UInt8(high << 4 | low))
      position += 2
    }
    guard peek() == UInt8(ascii: "'") else {
      throw error(at: start, "expected pairs of hexadecimal digits between X' and '")
    }
    position += 1
    return .data(result)
  }

  private mutating func quotedName() throws(PredicateSyntaxError) -> String {
    let start = position
    position += 1
    var name: [UInt8] = []
    while let byte = peek() {
      position += 1
      if byte == Self.nameQuote {
        guard peek() == Self.nameQuote else { return String(decoding: name, as: UTF8.self) }
        position += 1
      }
      name.append(byte)
    }
    throw error(at: start, "the name that starts here has no closing back quote")
  }

  private mutating func string() throws(PredicateSyntaxError) -> String {
    let start = position
    let quote = bytes[position]
    position += 1
    var result: [UInt8] = []
    while let byte = peek() {
      position += 1
      if byte == quote { return String(decoding: result, as: UTF8.self) }
      if byte == UInt8(ascii: "\\") {
        result += try escape()
      } else {
        result.append(byte)
      }
    }
    throw error(at: start, "the string that starts here has no closing quote")
  }

  /// The character after a backslash.
  private mutating func escape() throws(PredicateSyntaxError) -> [UInt8] {
    let start = position - 1
    guard let byte = peek() else { return [] }
    position += 1
    switch Unicode.Scalar(byte) {
    case "\"", "'", "\\", "/": return [byte]
    case "n": return [10]
    case "r": return [13]
    case "t": return [9]
    case "u":
      guard let scalar = scalar() else {
        throw error(
          at: start,
          "expected four hexadecimal digits of a character after \\u, or two such escapes that "
            + "are a surrogate pair")
      }
      return Array(String(Character(scalar)).utf8)
    default: throw error(at: start, "unknown escape: use \\\\, \\\", \\', \\n, \\r, \\t or \\uXXXX")
    }
  }

  /// The character of the escape at the position, which may be two, as in JSON.
  private mutating func scalar() -> Unicode.Scalar? {
    guard let first = unit() else { return nil }
    guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
    for mark in "\\u".utf8 {
      guard peek() == mark else { return nil }
      position += 1
    }
    guard let second = unit(), UTF16.isTrailSurrogate(second) else { return nil }
    return Unicode.Scalar(0x10000 + UInt32(first & 0x3ff) << 10 + UInt32(second & 0x3ff))
  }

  private mutating func unit() -> UInt16? {
    let digits = bytes[position...].prefix(4)
    guard digits.count == 4, let code = UInt64(hexadecimal: digits) else { return nil }
    position += 4
    return UInt16(code)
  }
}

/// An error in a predicate string, and its position.
package struct PredicateSyntaxError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The number of characters before the error.
  package var offset: Int
  /// A sentence: what was expected, and what was found.
  package var message: String

  package init(offset: Int, message: String) {
    self.offset = offset
    self.message = message
  }

  package var description: String { "character \(offset + 1): \(message)" }
}

extension PredicateSyntaxError {
  /// The same error, with the spelling of a name that needs back quotes and has none.
  ///
  /// - Parameter names: the names of the existing properties.
  package func advising(on names: some Sequence<String>, in text: String) -> PredicateSyntaxError {
    let characters = Array(text)
    let meant = names.filter { name in
      let name = Array(name)
      guard !name.isEmpty, !PredicateWord.isWord(String(name)) else { return false }
      return (max(0, offset - name.count)...offset).contains { start in
        characters.dropFirst(start).starts(with: name)
      }
    }
    guard let name = meant.max(by: { $0.count < $1.count }),
      !message.contains(PathText.quoted(name))
    else { return self }
    return PredicateSyntaxError(
      offset: offset,
      message: "\(message); write the name '\(name)' in back quotes: \(PathText.quoted(name))")
  }
}
