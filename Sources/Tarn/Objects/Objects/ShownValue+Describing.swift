import Foundation
import TarnStore

/// Any value can be shown: values that cannot be read here are not read, depth and length are
/// bounded, and only types of this library, Swift and Foundation describe themselves.
extension ShownValue {
  private static let elementsMax = 20
  private static let depthMax = 3

  init(_ value: Any?) {
    let content = value.flatMap { flattened($0) }
    self.init(
      text: content.map { Self.text($0, 0) },
      type: content.map { Self.shortened(Self.typeName($0)) })
  }

  /// For a value that cannot be examined.
  init(typeOf value: Any) {
    self.init(text: "…", type: Self.shortened("\(Swift.type(of: value))"))
  }

  private static func text(_ value: Any, _ depth: Int) -> String {
    if CheckedValue.fault(in: value) != nil { return "…" }
    let text: String
    switch value {
    case let object as ObjectBase: return "\(object._className) { … }"
    case let boxed as _BoxedValue:
      text = boxed.value.plain.map { self.text($0, depth) } ?? "nil"
    case let date as Date: text = self.text(of: date)
    case AnyRealmValue.date(let date): text = self.text(of: date)
    case AnyRealmValue.string(let string): text = shortened(string)
    case let string as String: text = shortened(string)
    case let value as [String: Any]:
      text = list(value.prefix(elementsMax).sorted { $0.key < $1.key }, value.count, depth) {
        entry in
        "\"\(shortened(entry.key))\": \(element(entry.value, depth + 1))"
      }
    case let values as [Any]:
      text = list(values.prefix(elementsMax), values.count, depth) { element($0, depth + 1) }
    default: text = describesItself(value) ? "\(value)" : "…"
    }
    return shortened(text)
  }

  private static func describesItself(_ value: Any) -> Bool {
    switch value {
    case is any BinaryInteger, is any BinaryFloatingPoint, is Bool, is Decimal, is Decimal128,
      is UUID, is ObjectId, is Data, is NSNumber, is NSNull, is URL, is any PersistableEnum,
      is any RealmCollection:
      true
    case let any as AnyRealmValue:
      switch any {
      case .object, .list, .dictionary: false
      default: true
      }
    default: false
    }
  }

  private static func element(_ value: Any, _ depth: Int) -> String {
    guard let content = flattened(value) else { return "nil" }
    let text = text(content, depth)
    return content is String ? "\"\(text)\"" : text
  }

  private static func list<C: Collection>(
    _ shown: C, _ count: Int, _ depth: Int, _ text: (C.Element) -> String
  ) -> String {
    if depth >= depthMax { return "[…]" }
    return "[\(shown.map(text).joined(separator: ", "))\(count > shown.count ? ", …" : "")]"
  }

  /// Foundation cannot format dates that are too far away.
  private static func text(of date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    return abs(seconds) < 1e11 ? "\(date)" : "\(seconds) seconds after 2001-01-01 00:00:00 +0000"
  }

  private static func typeName(_ value: Any) -> String {
    if let boxed = value as? _BoxedValue {
      return boxed.value.plain.map { typeName($0) } ?? "nil"
    }
    // Its own type is private to Foundation.
    let isNumber = Swift.type(of: value) is AnyObject.Type && value is NSNumber
    return isNumber ? "NSNumber" : "\(Swift.type(of: value))"
  }
}
