/// The value for messages: 2, not int(2). See `predicateText` for a form that can be parsed.
extension Value: CustomStringConvertible {
  package var description: String {
    switch self {
    case .null: "nil"
    case .string(let text): text
    case .bool(let value): value ? "true" : "false"
    case .data(let bytes): "\(bytes.count) bytes"
    case .date(let date): date.iso8601
    case .objectID(let id): id.hexadecimal
    case .uuid(let uuid): uuid.uuidText
    case .decimal(let cell): DecimalNumber(cell).text
    case .link(let key), .object(_, let key): "object \(key.rawValue)"
    case .list: "a list"
    case .map: "a map"
    case .int(let value): String(value)
    case .float(let value): "\(Double(value))"
    case .double(let value): "\(value)"
    }
  }
}

extension Value {
  /// The value as a literal of the predicate language. Dates, ids and UUIDs are quoted strings,
  /// links the target's key; the type of the property distinguishes them from strings and integers.
  package var predicateText: String {
    switch self {
    case .null: "NULL"
    case .int(let value): String(value)
    case .bool(let value): value ? "TRUE" : "FALSE"
    case .float(let value): Self.floatingText(Double(value))
    case .double(let value): Self.floatingText(value)
    case .string(let text): Self.quoted(text)
    case .data(let bytes): "X'" + bytes.map { Self.hexadecimal(UInt64($0), 2) }.joined() + "'"
    case .date(let date): "\"\(date.iso8601)\""
    case .objectID(let id): "\"\(id.hexadecimal)\""
    case .uuid(let uuid): "\"\(uuid.uuidText)\""
    case .link(let key), .object(_, let key): String(key.rawValue)
    case .decimal(let cell): Self.decimalText(DecimalNumber(cell))
    case .list(let id), .map(let id): "#\(id.rawValue)"
    }
  }

  /// Numbers that are not finite are texts, which the type of the property makes numbers.
  private static func floatingText(_ value: Double) -> String {
    if value.isFinite { return "\(value)" }
    return value.isNaN ? "\"NaN\"" : value < 0 ? "\"-Infinity\"" : "\"Infinity\""
  }

  private static func decimalText(_ value: DecimalNumber) -> String {
    let text = value.text
    guard value.isFinite else { return "\"\(text)\"" }
    // Not an integer, which would be exact even when compared with a double.
    return Int64(text) == nil ? text : text + ".0"
  }

  static func hexadecimal(_ value: UInt64, _ digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case "\0"..<" ": result += "\\u" + hexadecimal(UInt64(scalar.value), 4)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
