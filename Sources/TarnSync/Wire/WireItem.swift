import Foundation
import TarnStore
import TarnText

/// An element of a list or set, or a value of a map, as the text of its JSON. Equal elements have
/// the same text.
struct WireItem: Hashable, Sendable {
  let text: [UInt8]

  init(_ json: JSONValue) { text = JSONText.bytes(json) }
}

/// Converts elements of one type to JSON that a jsonb column keeps exactly, and back.
///
/// They are written as `tarn export` writes them. What jsonb loses is an object with a `$type`: a
/// NUL in a text, the sign of -0.0, and, in mixed values, that a large number was a double.
struct ItemCoder: Sendable {
  let type: ColumnType
  let isOptional: Bool

  private static let textType = "text"

  /// - Parameter value: neither a link nor a collection.
  func item(_ value: Value) -> WireItem { WireItem(json(value)) }

  private func json(_ value: Value) -> JSONValue {
    switch value {
    case .string(let text) where text.utf8.contains(0):
      let bytes = Data(text.utf8).base64EncodedString()
      return MixedJSON.typed(Self.textType, .string(bytes))
    case .double(let number) where number == 0 && number.sign == .minus:
      return MixedJSON.typed(ValueText.name(of: .double), .string("-0.0"))
    case .double(let number)
    where type == .any && number.isFinite && "\(number)".contains("e"):
      return MixedJSON.typed(ValueText.name(of: .double), .string("\(number)"))
    case .float(let number) where number == 0 && number.sign == .minus:
      return MixedJSON.typed(ValueText.name(of: .float), .string("-0.0"))
    default: return type == .any ? MixedJSON.any(scalar: value) : ValueText.json(value)
    }
  }

  /// The element of a JSON value that anybody may have written. What does not fit the type is null,
  /// or zero in a collection without nulls.
  func item(_ json: JSONValue) -> WireItem { item(value(json)) }

  func value(_ item: WireItem) -> Value {
    (try? JSONScanner.value(in: item.text)).map { value($0) } ?? absent
  }

  private var absent: Value { isOptional || type == .any ? .null : type.zero }

  private func value(_ json: JSONValue) -> Value {
    let found = typed(json) ?? (type == .any ? Self.plain(json) : ValueText.parse(json, as: type))
    guard let found, found != .null else { return absent }
    return found
  }

  /// The value of an object with a type.
  private func typed(_ json: JSONValue) -> Value? {
    guard case .string(let name)? = json[MixedJSON.typeKey], let inner = json["value"] else {
      return nil
    }
    if name == Self.textType {
      guard case .string(let base64) = inner, let data = Data(base64Encoded: base64) else {
        return nil
      }
      return String(validating: data, as: UTF8.self).map { .string($0) }
    }
    guard let own = ValueText.type(named: name), type == .any || type == own else { return nil }
    if case .string(let text) = inner { return ValueText.parse(text, as: own) }
    return ValueText.parse(inner, as: own)
  }

  private static func plain(_ json: JSONValue) -> Value? {
    switch json {
    case .null: .null
    case .bool(let flag): .bool(flag)
    case .integer(let number): .int(number)
    case .whole: ValueText.parse(json, as: .double)
    case .double(let number): .double(number)
    case .string(let text): .string(text)
    case .array, .object: nil
    }
  }
}
