import TarnStore
import TarnText

/// A value of the server, or a part of one, that a property cannot hold unchanged.
struct ValueFault: Hashable, Sendable {
  enum Kind: UInt8, Sendable {
    /// The property cannot hold it, and keeps its former value.
    case leftOut
    /// A number with more digits than a decimal can have.
    case rounded
  }

  let kind: Kind
  /// The position within its property: `[3].zip`; empty for the whole value.
  private(set) var path: String
  let reason: String

  init(_ kind: Kind, path: String = "", _ reason: String) {
    (self.kind, self.path, self.reason) = (kind, path, reason)
  }

  /// A fault of a value that is left out.
  init(_ reason: String) { self.init(.leftOut, reason) }

  static let rounded = ValueFault(
    .rounded, "it has more than \(DecimalNumber.digitsMax) digits, and is rounded here")

  static let outOfRange = ValueFault("it is out of the range of a decimal")

  static func objectID(_ count: Int) -> ValueFault {
    ValueFault("an object id has 12 bytes, and this value has \(count)")
  }

  /// - Parameter type: the type of a property, whose zero reads as the first case of an enum; nil
  ///   for an element of a collection.
  /// - Returns: nil for a value that the program's type can hold.
  static func outside(
    _ domain: ValueDomain, _ value: Value, ofProperty type: ColumnType?
  ) -> ValueFault? {
    if domain.contains(value) { return nil }
    let shown = shown(ValueText.json(value))
    switch domain {
    case .integers(let range):
      let bits = Int64.bitWidth - (range.upperBound.magnitude).leadingZeroBitCount + 1
      return ValueFault(
        "\(shown) is out of the range of Int\(bits) (\(range.lowerBound) to \(range.upperBound))")
    case .values:
      if value == type?.zero { return nil }
      return ValueFault("\(shown) is none of the cases of the property")
    }
  }

  /// A JSON value that does not fit the type.
  static func misfit(_ json: JSONValue, _ type: ColumnType) -> ValueFault {
    let isNumber =
      switch json {
      case .integer, .whole, .double, .number: true
      default: false
      }
    let name = ValueText.name(of: type)
    if isNumber, [.int, .float, .double, .decimal].contains(type) {
      return ValueFault("\(shown(json)) is out of the range of \(name)")
    }
    return ValueFault("\(shown(json)) is not of type \(name)")
  }

  /// JSON with another shape than a collection.
  static func shape(_ json: JSONValue, _ kind: CollectionKind) -> ValueFault {
    ValueFault("\(shown(json)) is not \(kind == .map ? "an object" : "an array")")
  }

  /// JSON, shortened to a few characters.
  static func shown(_ json: JSONValue) -> String {
    switch json {
    case .array: "an array"
    case .object:
      switch json[MixedJSON.typeKey] {
      case .string(let name)?: "an object with the $type \(cut(name))"
      default: "an object"
      }
    default: cut(JSONText.text(json))
    }
  }

  private static func cut(_ text: String) -> String {
    text.unicodeScalars.count > 40
      ? String(String.UnicodeScalarView(text.unicodeScalars.prefix(40))) + "…" : text
  }
}

extension [ValueFault] {
  /// Adds a step to the paths of the faults found since there were `count` of them.
  mutating func place(_ step: @autoclosure () -> String, since count: Int) {
    if self.count == count { return }
    let step = step()
    for index in count..<self.count {
      let fault = self[index]
      self[index] = ValueFault(fault.kind, path: step + fault.path, fault.reason)
    }
  }
}
