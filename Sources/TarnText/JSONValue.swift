import TarnStore

/// A JSON value that keeps what Foundation's form loses: the order of an object's members, whether
/// a number was written as an integer, and every digit of an Int64.
package enum JSONValue: Equatable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// A whole number beyond the range of Int64, as written.
  case whole(String)
  /// A number with a fraction or an exponent.
  case double(Double)
  /// The same, as written, where a double would lose digits or is infinite: only from a scanner
  /// that keeps digits.
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([JSONMember])

  /// An object's member; the last one if a name occurs twice. Nil for anything else. Names are
  /// compared by their bytes: spellings of the same letters are other names.
  package subscript(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.last { $0.name.hasSameBytes(as: name) }?.value
  }

  /// Whether both have the same text: spellings of the same letters differ, and so do both zeros.
  package static func == (a: JSONValue, b: JSONValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
    case (.whole(let a), .whole(let b)), (.number(let a), .number(let b)),
      (.string(let a), .string(let b)):
      a.hasSameBytes(as: b)
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    default: false
    }
  }
}

/// A name and its value in an object.
package struct JSONMember: Equatable, Sendable {
  package let name: String
  package let value: JSONValue

  package init(_ name: String, _ value: JSONValue) {
    self.name = name
    self.value = value
  }

  package static func == (a: JSONMember, b: JSONMember) -> Bool {
    a.name.hasSameBytes(as: b.name) && a.value == b.value
  }
}

extension [JSONMember] {
  /// Why the members cannot all be properties of one object; nil if they can. Two spellings of the
  /// same letters are two names in JSON, and one property.
  package var faultAsProperties: String? {
    var isPlain = true
    for member in self {
      let bytes = member.name.utf8
      if bytes.isEmpty { return "a name is empty" }
      for byte in bytes {
        if byte == 0 { return "the name '\(member.name)' has a NUL" }
        if byte >= 0x80 { isPlain = false }
      }
    }
    if isPlain { return nil }
    var names: Set<String> = []
    return first { !names.insert($0.name).inserted }.map {
      "the name '\($0.name)' is given twice, in two spellings of the same letters"
    }
  }
}

/// Why bytes are not JSON, and where.
package struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
  package let message: String
  /// Bytes before the error, plus one.
  package let column: Int

  package var description: String { "\(message) at column \(column)" }
}
