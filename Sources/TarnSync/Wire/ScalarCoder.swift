import Foundation
import TarnStore
import TarnText

/// Converts single values to JSON that a jsonb column keeps exactly, and back.
///
/// They are written as by `tarn export`. Values that jsonb cannot hold are objects with a `$type`:
/// a text with a NUL, -0.0, and a large double in a mixed value.
enum ScalarCoder {
  private static let textType = "text"

  /// - Parameter value: neither a link nor a collection.
  static func json(_ value: Value, as type: ColumnType) -> JSONValue {
    switch value {
    case .string(let text) where text.utf8.contains(0):
      let bytes = Data(text.utf8).base64EncodedString()
      return MixedJSON.typed(textType, .string(bytes))
    case .double(let number) where number == 0 && number.sign == .minus:
      return MixedJSON.typed(ValueText.name(of: .double), .string("-0.0"))
    case .double(let number)
    where type == .any && number.isFinite && "\(number)".firstASCII("e") != nil:
      return MixedJSON.typed(ValueText.name(of: .double), .string("\(number)"))
    case .float(let number) where number == 0 && number.sign == .minus:
      return MixedJSON.typed(ValueText.name(of: .float), .string("-0.0"))
    default: return type == .any ? MixedJSON.any(scalar: value) : ValueText.json(value)
    }
  }

  /// The value of JSON that any program may have written; nil if it does not fit the type.
  static func value(_ json: JSONValue, as type: ColumnType) -> Value? {
    if let name = json[MixedJSON.typeKey] { return typed(name, json["value"], type) }
    return type == .any ? plain(json) : parse(json, as: type)
  }

  private static func typed(
    _ name: JSONValue, _ inner: JSONValue?, _ type: ColumnType
  ) -> Value? {
    guard case .string(let name) = name, let inner else { return nil }
    if name == textType {
      guard type == .string || type == .any, case .string(let base64) = inner,
        let data = Data(base64Encoded: base64)
      else { return nil }
      return String(validating: data, as: UTF8.self).map { .string($0) }
    }
    guard let own = ValueText.type(named: name), type == .any || type == own else { return nil }
    if case .string(let text) = inner { return ValueText.parse(text, as: own) }
    return parse(inner, as: own)
  }

  /// A number, a Boolean or an array is not a string.
  private static func parse(_ json: JSONValue, as type: ColumnType) -> Value? {
    if type == .string {
      switch json {
      case .null, .string: break
      default: return nil
      }
    }
    return ValueText.parse(json, as: type)
  }

  /// Whether a number has more digits than a decimal, and is rounded.
  static func isRounded(_ json: JSONValue) -> Bool {
    switch json {
    case .whole(let text), .number(let text), .string(let text):
      DecimalNumber.parse(text)?.isExact == false
    case .object: json["value"].map { isRounded($0) } ?? false
    default: false
    }
  }

  /// The same for a mixed value, whose strings are not numbers.
  static func isRounded(mixed json: JSONValue) -> Bool {
    switch json {
    case .whole, .number: return isRounded(json)
    case .object:
      guard case .string(let name)? = json[MixedJSON.typeKey],
        ValueText.type(named: name) == .decimal
      else { return false }
      return isRounded(json)
    default: return false
    }
  }

  private static func plain(_ json: JSONValue) -> Value? {
    switch json {
    case .null: .null
    case .bool(let flag): .bool(flag)
    case .integer(let number): .int(number)
    // A double would change it.
    case .whole, .number: ValueText.parse(json, as: .decimal)
    case .double(let number): .double(number)
    case .string(let text): .string(text)
    case .array, .object: nil
    }
  }
}
