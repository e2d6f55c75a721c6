// Encoding and decoding collections, as JSON and similar formats. Objects that belong to a Realm
// are encoded as their unmanaged copies.

import Foundation
import TarnStore

extension Encoder {
  /// Encodes elements as an array.
  func encode(elementsOf elements: some Sequence<some Encodable>) throws {
    var container = unkeyedContainer()
    for element in elements { try container.encode(encodable(element)) }
  }
}

extension List: Decodable where Element: Decodable {
  /// Decodes an unmanaged list from an array.
  public convenience init(from decoder: any Decoder) throws {
    self.init()
    append(objectsIn: try decoder.storable([Element](from: decoder)))
  }
}

extension List: Encodable where Element: Encodable {
  /// Encodes the elements as an array.
  public func encode(to encoder: any Encoder) throws {
    try encoder.encode(elementsOf: self)
  }
}

extension MutableSet: Decodable where Element: Decodable {
  /// Decodes an unmanaged set from an array; equal elements become one.
  public convenience init(from decoder: any Decoder) throws {
    self.init()
    insert(objectsIn: try decoder.storable([Element](from: decoder)))
  }
}

extension MutableSet: Encodable where Element: Encodable {
  /// Encodes the elements as an array, in the set's order.
  public func encode(to encoder: any Encoder) throws {
    try encoder.encode(elementsOf: self)
  }
}

extension Map: Decodable where Value: Decodable {
  /// Decodes an unmanaged map from a JSON object.
  public convenience init(from decoder: any Decoder) throws {
    self.init()
    // As a dictionary in a container, whose keys no strategy of the coder changes.
    for (key, value) in try decoder.singleValueContainer().decode([String: Value].self) {
      updateValue(try decoder.storable(value), forKey: Key(_mapKey: key))
    }
  }
}

extension Map: Encodable where Value: Encodable {
  /// Encodes the values under their keys.
  ///
  /// - Throws: `EncodingError.invalidValue` for a map with two keys that are two spellings of the
  ///   same letters, because coders treat them as one.
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
  /// objects. A whole number that neither `Int` nor `Double` holds exactly is a `Decimal128`.
  ///
  /// - Throws: `DecodingError.dataCorrupted` for arrays and objects that are nested more than a
  ///   hundred levels deep.
  public init(from decoder: any Decoder) throws {
    let decoded = try DecodedValue(from: decoder)
    guard decoded.depth <= SequencePlace.depthMax else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: decoder.codingPath,
          debugDescription: "Lists and maps within values may be up to \(SequencePlace.depthMax) "
            + "deep, and these are \(decoded.depth) deep."))
    }
    self = decoded.value
  }

  /// Encodes the value as its type does. The type itself is not encoded: a `Date` is decoded as the
  /// format's type for dates, a decimal as a string.
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

/// An `AnyRealmValue`, and how deep its lists and maps are nested: 0 for any other value.
private struct DecodedValue: Decodable {
  let value: AnyRealmValue
  let depth: Int

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let single = Self.single(container) {
      (value, depth) = (single, 0)
    } else if let values = try? container.decode([DecodedValue].self) {
      value = .fromArray(values.map(\.value))
      depth = 1 + (values.lazy.map(\.depth).max() ?? 0)
    } else {
      let values = try container.decode([String: DecodedValue].self)
      value = .fromDictionary(values.mapValues(\.value))
      depth = 1 + (values.lazy.map(\.value.depth).max() ?? 0)
    }
  }

  private static func single(_ container: any SingleValueDecodingContainer) -> AnyRealmValue? {
    if container.decodeNil() { return AnyRealmValue.none }
    if let value = try? container.decode(Bool.self) { return .bool(value) }
    if let value = try? container.decode(Int.self) { return .int(value) }
    if let value = try? container.decode(Double.self) { return exact(value, container) }
    return (try? container.decode(String.self)).map { .string($0) }
  }

  /// A number, or the digits of a whole number that a `Double` cannot hold.
  private static func exact(
    _ value: Double, _ container: any SingleValueDecodingContainer
  ) -> AnyRealmValue {
    guard value.magnitude >= 0x1p63, let whole = try? container.decode(Decimal.self),
      whole != Decimal(string: "\(value)"),
      let decimal = try? Decimal128(string: whole.description)
    else { return .double(value) }
    return .decimal128(decimal)
  }
}

extension Decoder {
  /// Returns the decoded value. Throws for a date that no Realm can store, and for an array with
  /// one.
  /// one.
  func storable<Value>(_ value: Value) throws -> Value {
    let dates: [Date?]
    switch Value.self {
    case is Date.Type, is Date?.Type: dates = [value as? Date]
    case is [Date].Type: dates = value as? [Date] ?? []
    case is [Date?].Type: dates = value as? [Date?] ?? []
    default: return value
    }
    for case let date? in dates where !date.isStorable {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: codingPath,
          debugDescription: "A Date must be finite and within 292 billion years to be stored: "
            + "\(date.timeIntervalSinceReferenceDate)"))
    }
    return value
  }
}

// Models with the compiler's `Codable` conformance: each property is encoded under its name. Values
// go through containers, because coders have their own forms of dates and data.

extension Persisted: Decodable where Value: _Persistable & Decodable {
  /// Decodes the value of an unmanaged object's property.
  ///
  /// - Throws: the errors of the value's type, and `DecodingError.dataCorrupted` for a date that no
  ///   Realm can store.
  public init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer().decode(Value.self)
    self.init(try decoder.storable(value), flags: 0)
  }
}

extension Persisted: Encodable where Value: _Persistable & Encodable {
  /// Encodes the value of an unmanaged object's property.
  ///
  /// - Throws: `EncodingError.invalidValue` for a managed object: its values are in its row, not
  ///   here. Encode `object.detached()`, or a collection of objects, which detaches them itself.
  public func encode(to encoder: any Encoder) throws {
    guard let value = _value else {
      // A value of an unmanaged object is created when it is first read.
      guard _column == .max else {
        throw EncodingError.invalidValue(
          self,
          EncodingError.Context(
            codingPath: encoder.codingPath,
            debugDescription:
              "A managed object cannot be encoded property by property, because its class is not "
              + "known to the compiler. Encode its detached()."))
      }
      return try encode(Value._default(), to: encoder)
    }
    // An unmanaged object may link to managed ones.
    try encode(Value.self is any _Linking.Type ? encodable(value) : value, to: encoder)
  }

  private func encode(_ value: Value, to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

extension KeyedDecodingContainer {
  /// A property that may be nil may be missing.
  public func decode<Value: Decodable & _OptionalPersistable>(
    _ type: Persisted<Value?>.Type, forKey key: Key
  ) throws -> Persisted<Value?> {
    try decodeIfPresent(type, forKey: key) ?? Persisted(wrappedValue: nil)
  }

  /// A collection that is missing, or null, is empty.
  public func decode<Value: Decodable & _CollectionProperty>(
    _ type: Persisted<Value>.Type, forKey key: Key
  ) throws -> Persisted<Value> {
    try decodeIfPresent(type, forKey: key) ?? Persisted()
  }
}
