import Foundation
package import TarnStore

/// How the tools write the values of a store, and read them back. JSON and CSV lose nothing: an
/// export can be imported again. Data is base64, object ids are 24 hexadecimal digits. Decimals are
/// strings in JSON, because JSON numbers may lose digits that a double cannot represent.
package enum ValueText {
  // MARK: - Types

  /// The names of types in help, options and messages.
  package static let typeNames = [
    "int", "bool", "string", "data", "date", "float", "double", "decimal", "objectId", "uuid",
    "any",
  ]

  /// The type with that name, in any case; nil also for links, which need a target.
  package static func type(named name: String) -> ColumnType? {
    ColumnType.allCases.first { $0 != .link && self.name(of: $0).lowercased() == name.lowercased() }
  }

  package static func name(of type: ColumnType) -> String {
    type == .objectID ? "objectId" : "\(type)"
  }

  // MARK: - Writing

  package static func write(_ value: Value, to json: inout JSONText) {
    switch value {
    case .null: json.null()
    case .int(let value): json.integer(value)
    case .bool(let value): json.bool(value)
    case .float(let value): json.float(value)
    case .double(let value): json.double(value)
    case .link(let key), .object(_, let key): json.integer(key.rawValue)
    case .string(let text): json.string(text)
    case .data, .date, .objectID, .uuid, .decimal, .list, .map: json.string(text(value) ?? "")
    }
  }

  /// The value as `write` writes it.
  package static func json(_ value: Value) -> JSONValue {
    switch value {
    case .null: .null
    case .int(let value): .integer(value)
    case .bool(let value): .bool(value)
    case .float(let value):
      // The double whose digits are those of the float.
      value.isFinite
        ? .double(Double(value.description) ?? Double(value))
        : .string(JSONText.name(ofNonFinite: Double(value)))
    case .double(let value):
      value.isFinite ? .double(value) : .string(JSONText.name(ofNonFinite: value))
    case .link(let key), .object(_, let key): .integer(key.rawValue)
    case .string(let text): .string(text)
    case .data, .date, .objectID, .uuid, .decimal, .list, .map: .string(text(value) ?? "")
    }
  }

  /// The value as a field of CSV; nil for null.
  package static func text(_ value: Value) -> String? {
    switch value {
    case .null: nil
    case .int(let value): value.description
    case .bool(let value): value.description
    case .float(let value):
      value.isFinite ? value.description : JSONText.name(ofNonFinite: Double(value))
    case .double(let value):
      value.isFinite ? value.description : JSONText.name(ofNonFinite: value)
    case .string(let text): text
    case .data(let bytes): Data(bytes).base64EncodedString()
    case .date(let timestamp): ISODate.text(timestamp)
    case .objectID(let bytes): bytes.hexadecimal
    case .uuid(let bytes): bytes.uuidText
    case .link(let key), .object(_, let key): key.rawValue.description
    case .decimal(let cell): DecimalNumber(cell).text
    case .list(let id), .map(let id): "#\(id.rawValue)"
    }
  }

  // MARK: - Reading

  /// A value of that type from a field of CSV or a command line; nil if the text does not fit.
  package static func parse(_ text: String, as type: ColumnType) -> Value? {
    switch type {
    case .int: Int64(text).map { .int($0) }
    case .bool: Bool(spelling: text).map { .bool($0) }
    case .string: .string(text)
    case .data: Data(base64Encoded: text).map { .data(Array($0)) }
    case .date: Timestamp(iso8601: text).map { .date($0) }
    case .float: Float(text).flatMap { isInRange($0.isInfinite, text) ? .float($0) : nil }
    case .double: Double(text).flatMap { isInRange($0.isInfinite, text) ? .double($0) : nil }
    case .objectID: Bytes12(hexadecimal: text).map { .objectID($0) }
    case .uuid: Bytes16(uuidText: text).map { .uuid($0) }
    case .decimal:
      DecimalNumber(text: text).flatMap {
        isInRange($0.isInfinite, text) ? .decimal($0.cell) : nil
      }
    case .link, .any: nil
    }
  }

  /// False for digits that parse as infinity because the number is out of the type's range.
  private static func isInRange(_ isInfinite: Bool, _ text: String) -> Bool {
    !isInfinite || !text.utf8.contains { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
  }

  /// The integer of a number whose fraction is zero.
  private static func integer(_ text: String) -> Int64? {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].allSatisfy({ $0 == UInt8(ascii: "0") }) else { return nil }
    return Int64(String(decoding: parts[0], as: UTF8.self))
  }

  /// A value of that type from JSON, also null; nil if it is of another kind. A string column
  /// accepts any value, as it would be written.
  package static func parse(_ json: JSONValue, as type: ColumnType) -> Value? {
    if json == .null { return .null }
    switch (type, json) {
    case (.int, .integer(let value)): return .int(value)
    case (.int, .double(let value)): return Int64(exactly: value).map { .int($0) }
    case (.bool, .bool(let value)): return .bool(value)
    case (.bool, .integer(let value)) where 0...1 ~= value: return .bool(value == 1)
    case (.float, .integer(let value)): return .float(Float(value))
    case (.float, .double(let value)):
      let float = Float(value)
      return float.isFinite ? .float(float) : nil
    case (.double, .integer(let value)): return .double(Double(value))
    case (.double, .double(let value)): return .double(value)
    case (.float, .whole(let text)), (.double, .whole(let text)), (.decimal, .whole(let text)),
      (.float, .number(let text)), (.double, .number(let text)), (.decimal, .number(let text)):
      return parse(text, as: type)
    case (.int, .number(let text)): return integer(text).map { .int($0) }
    case (.decimal, .integer(let value)): return .decimal(DecimalNumber(value).cell)
    case (.decimal, .double(let value)): return .decimal(DecimalNumber(shortest: value).cell)
    case (.float, .string(let text)), (.double, .string(let text)):
      return JSONText.nonFinite(named: text) == nil ? nil : parse(text, as: type)
    case (.string, .string(let text)): return .string(text)
    case (.string, _):
      var written = JSONText()
      written.value(json)
      return .string(written.text)
    case (.bool, .string(let text)), (.data, .string(let text)), (.date, .string(let text)),
      (.objectID, .string(let text)),
      (.uuid, .string(let text)), (.decimal, .string(let text)):
      return parse(text, as: type)
    default: return nil
    }
  }
}
