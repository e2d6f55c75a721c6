extension Results: Encodable where Element: Encodable {
  /// Encodes the elements as an array.
  public func encode(to encoder: any Encoder) throws {
    try encoder.encode(elementsOf: self)
  }
}

extension AnyRealmCollection: Encodable where Element: Encodable {
  /// Encodes the elements as an array.
  public func encode(to encoder: any Encoder) throws {
    try encoder.encode(elementsOf: self)
  }
}
