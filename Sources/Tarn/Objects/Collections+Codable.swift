// JSON and the like, in and out of collections. Objects that belong to a Realm are encoded as their
// unmanaged copies.

import Foundation

extension UnkeyedEncodingContainer {
  mutating func encode<S: Sequence>(elementsOf elements: S) throws
  where S.Element: Encodable {
    for element in elements { try encode(encodable(element)) }
  }
}

extension List: Decodable where Element: Decodable {
  /// Decodes an unmanaged list from an array.
  public convenience init(from decoder: any Decoder) throws {
    self.init()
    append(objectsIn: try [Element](from: decoder))
  }
}

extension List: Encodable where Element: Encodable {
  /// Encodes the elements as an array.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode(elementsOf: self)
  }
}

extension MutableSet: Decodable where Element: Decodable {
  /// Decodes an unmanaged set from an array; equal elements become one.
  public convenience init(from decoder: any Decoder) throws {
    self.init()
    insert(objectsIn: try [Element](from: decoder))
  }
}

extension MutableSet: Encodable where Element: Encodable {
  /// Encodes the elements as an array, in the set's order.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode(elementsOf: self)
  }
}

extension Map: Decodable where Value: Decodable {
  /// Decodes an unmanaged map from a JSON object.
  ///
  /// - Throws: `DecodingError.dataCorrupted` for a key that no map can have.
  public convenience init(from decoder: any Decoder) throws {
    self.init()
    // As a dictionary in a container, whose keys no strategy of the coder changes.
    for (key, value) in try decoder.singleValueContainer().decode([String: Value].self) {
      guard Self.canHold(key) else {
        throw DecodingError.dataCorrupted(
          DecodingError.Context(
            codingPath: decoder.codingPath,
            debugDescription: "The key '\(key)' contains '.' or starts with '$'."))
      }
      updateValue(value, forKey: Key(_mapKey: key))
    }
  }
}

extension Map: Encodable where Value: Encodable {
  /// Encodes the values under their keys.
  ///
  /// - Throws: `EncodingError.invalidValue` for a map with two keys that are two spellings of the
  ///   same letters, because coders take them for one.
  public func encode(to encoder: any Encoder) throws {
    var values: [String: Value] = [:]
    for entry in self {
      guard values.updateValue(encodable(entry.value), forKey: entry.key._mapKey) == nil else {
        throw EncodingError.invalidValue(
          self,
          EncodingError.Context(
            codingPath: encoder.codingPath,
            debugDescription:
              "The map has the key '\(entry.key._mapKey)' in two spellings that are "
              + "equal to Swift. Rename one of them."))
      }
    }
    var container = encoder.singleValueContainer()
    try container.encode(values)
  }
}

extension AnyRealmValue: Codable {
  /// Decodes JSON values: null, Booleans, integers, other numbers as `Double`, strings, arrays and
  /// objects. A whole number that neither `Int` nor `Double` has exactly is a `Decimal128`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .none
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int.self) {
      self = .int(value)
    } else if let value = try? container.decode(Double.self) {
      self = Self.exact(value, container)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let values = try? container.decode([AnyRealmValue].self) {
      self = .fromArray(values)
    } else {
      self = .fromDictionary(try container.decode([String: AnyRealmValue].self))
    }
  }

  /// A number as it is, or with the digits that a `Double` loses of a whole one.
  private static func exact(
    _ value: Double, _ container: any SingleValueDecodingContainer
  ) -> AnyRealmValue {
    guard value.magnitude >= 0x1p63, let whole = try? container.decode(Decimal.self),
      whole != Decimal(string: "\(value)"), let decimal = try? Decimal128(string: whole.description)
    else { return .double(value) }
    return .decimal128(decimal)
  }

  /// Encodes the value as its type does. The type itself is not encoded: a `Date` comes back as
  /// whatever dates are in that format, a decimal as a string.
  ///
  /// - Throws: `EncodingError.invalidValue` for an object.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .none: try container.encodeNil()
    case .int(let value): try container.encode(value)
    case .bool(let value): try container.encode(value)
    case .float(let value): try container.encode(value)
    case .double(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .data(let value): try container.encode(value)
    case .date(let value): try container.encode(value)
    case .objectId(let value): try container.encode(value)
    case .decimal128(let value): try container.encode(value)
    case .uuid(let value): try container.encode(value)
    case .list(let values): try container.encode(values)
    case .dictionary(let values): try container.encode(values)
    case .object(let object):
      throw EncodingError.invalidValue(
        object,
        EncodingError.Context(
          codingPath: encoder.codingPath,
          debugDescription: "A value that is an object cannot be encoded."))
    }
  }
}
