/// Parses one JSON text (RFC 8259) from bytes: strict, of limited depth, without copying the input.
/// The strings "NaN", "Infinity" and "-Infinity" stay strings.
package struct JSONScanner {
  private static let depthMax = 512

  private let bytes: UnsafeRawBufferPointer
  private let keepsDigits: Bool
  private let refusesRepeatedNames: Bool
  private var position = 0
  private var depth = 0

  /// The only value in the bytes, which may have white space around it.
  ///
  /// - Parameter keepsDigits: whether numbers that a double does not hold keep all digits.
  ///   Otherwise they are rounded, and numbers out of its range are errors.
  package static func value(
    in bytes: UnsafeRawBufferPointer, keepingDigits keepsDigits: Bool = false
  ) throws(JSONError) -> JSONValue {
    try value(JSONScanner(bytes: bytes, keepsDigits: keepsDigits, refusesRepeatedNames: false))
  }

  /// The only value in the bytes, of which nothing is left out: digits are kept, and a name that an
  /// object has twice is an error.
  package static func exactValue(in bytes: UnsafeRawBufferPointer) throws(JSONError) -> JSONValue {
    try value(JSONScanner(bytes: bytes, keepsDigits: true, refusesRepeatedNames: true))
  }

  private static func value(_ start: JSONScanner) throws(JSONError) -> JSONValue {
    var scanner = start
    scanner.skipSpace()
    let value = try scanner.value()
    scanner.skipSpace()
    if scanner.next != nil { throw scanner.error("unexpected text after the value") }
    return value
  }

  /// The only value in a text.
  package static func value(in text: String) throws(JSONError) -> JSONValue {
    try value(in: Array(text.utf8))
  }

  /// The only value in the bytes, as above.
  package static func value(
    in bytes: [UInt8], keepingDigits keepsDigits: Bool = false
  ) throws(JSONError) -> JSONValue {
    try reading(bytes) { raw throws(JSONError) in try value(in: raw, keepingDigits: keepsDigits) }
  }

  /// The only value in the bytes, of which nothing is left out, as above.
  package static func exactValue(in bytes: [UInt8]) throws(JSONError) -> JSONValue {
    try reading(bytes) { raw throws(JSONError) in try exactValue(in: raw) }
  }

  private static func reading(
    _ bytes: [UInt8], _ read: (UnsafeRawBufferPointer) throws(JSONError) -> JSONValue
  ) throws(JSONError) -> JSONValue {
    let result = bytes.withUnsafeBytes { raw -> Result<JSONValue, JSONError> in
      do throws(JSONError) {
        return .success(try read(raw))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private init(bytes: UnsafeRawBufferPointer, keepsDigits: Bool, refusesRepeatedNames: Bool) {
    self.bytes = bytes
    self.keepsDigits = keepsDigits
    self.refusesRepeatedNames = refusesRepeatedNames
  }

  private func error(_ message: String, at position: Int? = nil) -> JSONError {
    JSONError(message: message, column: (position ?? self.position) + 1)
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d {
      position += 1
    }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    position += 1
    return true
  }

  private mutating func value() throws(JSONError) -> JSONValue {
    guard let byte = next else { throw error("a value is missing") }
    switch byte {
    case UInt8(ascii: "{"): return try object()
    case UInt8(ascii: "["): return try array()
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: throw error("not a value")
    }
  }

  private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONError)
    -> JSONValue
  {
    let start = position
    for index in 0..<word.utf8CodeUnitCount {
      guard take(word.utf8Start[index]) else { throw error("not a value", at: start) }
    }
    return value
  }

  private mutating func enter() throws(JSONError) {
    position += 1
    depth += 1
    if depth > Self.depthMax { throw error("nested deeper than \(Self.depthMax) levels") }
    skipSpace()
  }

  private mutating func array() throws(JSONError) -> JSONValue {
    try enter()
    defer { depth -= 1 }
    var items: [JSONValue] = []
    if take(UInt8(ascii: "]")) { return .array(items) }
    while true {
      skipSpace()
      items.append(try value())
      skipSpace()
      if take(UInt8(ascii: "]")) { return .array(items) }
      guard take(UInt8(ascii: ",")) else { throw error("',' or ']' is missing") }
    }
  }

  private mutating func object() throws(JSONError) -> JSONValue {
    try enter()
    defer { depth -= 1 }
    var members: [JSONMember] = []
    var names = MetNames()
    if take(UInt8(ascii: "}")) { return .object(members) }
    while true {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw error("a name in quotes is missing") }
      let start = position
      let name = try string()
      if refusesRepeatedNames, !names.isNew(name, among: members) {
        throw error("the name '\(name.prefix(40))' is given twice, the second time", at: start)
      }
      skipSpace()
      guard take(UInt8(ascii: ":")) else { throw error("':' is missing") }
      skipSpace()
      members.append(JSONMember(name, try value()))
      skipSpace()
      if take(UInt8(ascii: "}")) { return .object(members) }
      guard take(UInt8(ascii: ",")) else { throw error("',' or '}' is missing") }
    }
  }
}

/// Finds a name that an object has twice.
private struct MetNames {
  /// So many are compared one by one.
  private static let fewMax = 16

  /// The bytes of all names, once there are more.
  private var many: Set<[UInt8]> = []

  mutating func isNew(_ name: String, among members: [JSONMember]) -> Bool {
    if members.count < Self.fewMax { return !members.contains { $0.name.hasSameBytes(as: name) } }
    if many.isEmpty { many = Set(members.map { Array($0.name.utf8) }) }
    return many.insert(Array(name.utf8)).inserted
  }
}

// MARK: - Numbers

extension JSONScanner {
  private static func isDigit(_ byte: UInt8?) -> Bool {
    byte.map { $0 >= 0x30 && $0 <= 0x39 } ?? false
  }

  private mutating func digits() throws(JSONError) {
    guard Self.isDigit(next) else { throw error("a digit is missing") }
    while Self.isDigit(next) { position += 1 }
  }

  private mutating func number() throws(JSONError) -> JSONValue {
    let start = position
    _ = take(UInt8(ascii: "-"))
    if take(UInt8(ascii: "0")) {
      if Self.isDigit(next) { throw error("a number begins with 0") }
    } else {
      try digits()
    }
    var isWhole = true
    if take(UInt8(ascii: ".")) {
      isWhole = false
      try digits()
    }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      isWhole = false
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      try digits()
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isWhole, text != "-0", let integer = Int64(text) { return .integer(integer) }
    if keepsDigits, text != "-0" {
      if isWhole { return .whole(text) }
      if !Self.isExact(bytes[start..<position], Double(text)) { return .number(text) }
    }
    guard let double = Double(text), double.isFinite else {
      throw error("a number out of the range of Double", at: start)
    }
    // Only a Double can represent minus zero.
    return isWhole && text != "-0" ? .whole(text) : .double(double)
  }
}

extension JSONScanner {
  /// Whether the shortest digits of a double are those of a number.
  private static func isExact(
    _ number: Slice<UnsafeRawBufferPointer>, _ double: Double?
  ) -> Bool {
    var digits = 0
    for byte in number {
      if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") { break }
      if isDigit(byte), digits > 0 || byte != UInt8(ascii: "0") { digits += 1 }
    }
    if digits == 0 { return true }
    guard let double, double.isFinite else { return false }
    // Numbers with up to that many digits have different doubles.
    return digits <= 15 && double.magnitude >= .leastNormalMagnitude
  }
}

// MARK: - Strings

extension JSONScanner {
  private mutating func string() throws(JSONError) -> String {
    position += 1
    let start = position
    while let byte = next {
      if byte == UInt8(ascii: "\"") {
        defer { position += 1 }
        return try text(bytes[start..<position], start)
      }
      if byte == UInt8(ascii: "\\") { return try escapedString(from: start) }
      if byte < 0x20 { throw error("a control character in a string") }
      position += 1
    }
    throw error("a string does not end", at: start - 1)
  }

  private func text(
    _ bytes: Slice<UnsafeRawBufferPointer>, _ start: Int
  ) throws(JSONError) -> String {
    guard let text = validText(bytes) else { throw error("a string is not UTF-8", at: start) }
    return text
  }

  private mutating func escapedString(from start: Int) throws(JSONError) -> String {
    var decoded = Array(bytes[start..<position])
    while let byte = next {
      position += 1
      if byte == UInt8(ascii: "\"") {
        guard let text = String(utf8: decoded) else {
          throw error("a string is not UTF-8", at: start)
        }
        return text
      }
      if byte == UInt8(ascii: "\\") {
        decoded.append(contentsOf: String(try escape()).utf8)
      } else if byte < 0x20 {
        throw error("a control character in a string", at: position - 1)
      } else {
        decoded.append(byte)
      }
    }
    throw error("a string does not end", at: start - 1)
  }

  private mutating func escape() throws(JSONError) -> Unicode.Scalar {
    guard let byte = next else { throw error("a string does not end") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{c}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicodeEscape()
    default: throw error("unknown escape sequence", at: position - 1)
    }
  }

  private mutating func unicodeEscape() throws(JSONError) -> Unicode.Scalar {
    let start = position - 2
    let first = try codeUnit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard first < 0xdc00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
      throw error("half of a surrogate pair", at: start)
    }
    let second = try codeUnit()
    guard (0xdc00...0xdfff).contains(second) else {
      throw error("half of a surrogate pair", at: start)
    }
    let value = 0x10000 + (UInt32(first) - 0xd800) << 10 + (UInt32(second) - 0xdc00)
    return Unicode.Scalar(value)!
  }

  private mutating func codeUnit() throws(JSONError) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw error("four hexadecimal digits are missing")
      }
      unit = unit << 4 | UInt16(digit)
      position += 1
    }
    return unit
  }
}

/// The bytes as a string, or nil if they are not UTF-8.
package func validText(_ bytes: Slice<UnsafeRawBufferPointer>) -> String? {
  String(utf8: UnsafeRawBufferPointer(rebasing: bytes))
}
