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
