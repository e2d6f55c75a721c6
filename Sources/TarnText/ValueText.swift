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
  ///
  /// - Parameter rounding: whether a number that the type does not hold becomes the nearest one.
  ///   Otherwise it does not fit; see `WrittenNumber`.
  package static func parse(
    _ text: String, as type: ColumnType, rounding: Bool = true
  ) -> Value? {
    switch type {
    case .int: (Int64(text) ?? whole(text)).map { .int($0) }
    case .bool: Bool(spelling: text).map { .bool($0) }
    case .string: .string(text)
    case .data: Data(base64Encoded: text).map { .data(Array($0)) }
    case .date: Timestamp(iso8601: text).map { .date($0) }
    case .float:
      Float(text).flatMap { value in
        fits(text, value.isFinite) { rounding || $0.isHeld(by: value) } ? .float(value) : nil
      }
    case .double:
      Double(text).flatMap { value in
        fits(text, value.isFinite) { rounding || $0.isHeld(by: value) } ? .double(value) : nil
      }
    case .objectID: Bytes12(hexadecimal: text).map { .objectID($0) }
    case .uuid: Bytes16(uuidText: text).map { .uuid($0) }
    case .decimal:
      DecimalNumber.parse(text).flatMap { value, isExact in
        fits(text, value.isFinite) { _ in rounding || isExact } ? .decimal(value.cell) : nil
      }
    case .link, .any: nil
    }
  }

  /// The integer that a number with an exponent or a fraction of zeros is, as in JSON.
  private static func whole(_ text: String) -> Int64? {
    guard let last = text.utf8.last, 0x30...0x39 ~= last else { return nil }
    return WrittenNumber(text)?.integer
  }

  /// Whether a text may be read as a number: one of the names that are not finite, or digits that
  /// the number holds. Swift and C read more, such as `0x1p3` and `nan(0x5)`.
  ///
  /// - Parameter isFinite: false if the number is out of the type's range, or none.
  private static func fits(
    _ text: String, _ isFinite: Bool, _ holds: (WrittenNumber) -> Bool
  ) -> Bool {
    if let written = WrittenNumber(text) { return isFinite && holds(written) }
    return namesOfNonFinite.contains(
      (text.rest(afterBytesOf: "-") ?? text.rest(afterBytesOf: "+") ?? text[...]).lowercased())
  }

  private static let namesOfNonFinite: Set<String> = ["nan", "inf", "infinity"]

  /// A value of that type from JSON, also null; nil if it is of another kind. A string column
  /// accepts any value, as it would be written.
  ///
  /// - Parameter rounding: as above.
  package static func parse(
    _ json: JSONValue, as type: ColumnType, rounding: Bool = true
  ) -> Value? {
    if json == .null { return .null }
    switch (type, json) {
    case (.int, .integer(let value)): return .int(value)
    // The shortest digits are those of the JSON; the double may be next to an integer.
    case (.int, .double(let value)):
      return WrittenNumber("\(value)")?.integer.map { .int($0) }
    case (.bool, .bool(let value)): return .bool(value)
    case (.bool, .integer(let value)) where 0...1 ~= value: return .bool(value == 1)
    case (.float, .integer(let value)), (.double, .integer(let value)):
      return parse("\(value)", as: type, rounding: rounding)
    case (.float, .double(let value)):
      return parse("\(value)", as: type, rounding: rounding)
    case (.double, .double(let value)): return .double(value)
    case (.float, .whole(let text)), (.double, .whole(let text)), (.decimal, .whole(let text)),
      (.float, .number(let text)), (.double, .number(let text)), (.decimal, .number(let text)):
      return parse(text, as: type, rounding: rounding)
    case (.int, .number(let text)): return WrittenNumber(text)?.integer.map { .int($0) }
    case (.decimal, .integer(let value)): return .decimal(DecimalNumber(value).cell)
    case (.decimal, .double(let value)): return .decimal(DecimalNumber(shortest: value).cell)
    case (.float, .string(let text)), (.double, .string(let text)):
      return JSONText.nonFinite(named: text) == nil
        ? nil : parse(text, as: type, rounding: rounding)
    case (.string, .string(let text)): return .string(text)
    case (.string, _):
      var written = JSONText()
      written.value(json)
      return .string(written.text)
    case (.bool, .string(let text)), (.data, .string(let text)), (.date, .string(let text)),
      (.objectID, .string(let text)),
      (.uuid, .string(let text)), (.decimal, .string(let text)):
      return parse(text, as: type, rounding: rounding)
    default: return nil
    }
  }
}
