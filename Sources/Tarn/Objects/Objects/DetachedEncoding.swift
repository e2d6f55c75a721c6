public import Foundation

// Where the compiler knows that an object is encoded, a managed one is encoded as its detached
// copy.
//
// A wrapper is encoded without its object, so a managed object cannot be encoded property by
// property, and nothing in `Encodable` is called before that. These overloads are chosen for values
// whose type is known to be a class of objects. In code that is generic over `Encodable` they are
// not, and encoding throws an error with advice. Containers without keys cannot have such
// overloads: those are protocols, whose own requirements are always preferred.

/// Objects in encoded form: managed ones as their copies.
struct DetachedEncoding<Value: Encodable>: Encodable {
  let value: Value

  func encode(to encoder: any Encoder) throws { try encodable(value).encode(to: encoder) }
}

/// The value to encode: for a managed object its unmanaged copy.
func encodable<Value>(_ value: Value) -> Value {
  guard let object = value as? ObjectBase, unsafe object._context != nil else { return value }
  return object.detached() as! Value
}

extension JSONEncoder {
  /// Encodes an object, a managed one as its `detached()` copy. Traps for an invalidated object,
  /// and for a managed one on another thread than its Realm's.
  public func encode<Value: ObjectBase & Encodable>(_ value: Value) throws -> Data {
    try encode(DetachedEncoding(value: value))
  }

  /// Encodes objects, managed ones as their `detached()` copies. Traps as for a single one.
  public func encode<Value: ObjectBase & Encodable>(_ values: [Value]) throws -> Data {
    try encode(values.map { DetachedEncoding(value: $0) })
  }
}

extension PropertyListEncoder {
  /// Encodes an object, a managed one as its `detached()` copy. Traps for an invalidated object,
  /// and for a managed one on another thread than its Realm's.
  public func encode<Value: ObjectBase & Encodable>(_ value: Value) throws -> Data {
    try encode(DetachedEncoding(value: value))
  }

  /// Encodes objects, managed ones as their `detached()` copies. Traps as for a single one.
  public func encode<Value: ObjectBase & Encodable>(_ values: [Value]) throws -> Data {
    try encode(values.map { DetachedEncoding(value: $0) })
  }
}

// The compiler's own `encode(to:)` of a type with objects calls these.
extension KeyedEncodingContainer {
  /// Encodes an object, a managed one as its `detached()` copy. Traps for an invalidated object,
  /// and for a managed one on another thread than its Realm's.
  public mutating func encode<Value: ObjectBase & Encodable>(
    _ value: Value, forKey key: Key
  ) throws {
    try encode(DetachedEncoding(value: value), forKey: key)
  }

  /// Encodes an object, if there is one, like `encode(_:forKey:)`.
  public mutating func encodeIfPresent<Value: ObjectBase & Encodable>(
    _ value: Value?, forKey key: Key
  ) throws {
    try encodeIfPresent(value.map { DetachedEncoding(value: $0) }, forKey: key)
  }

  /// Encodes objects, managed ones as their `detached()` copies. Traps as for a single one.
  public mutating func encode<Value: ObjectBase & Encodable>(
    _ values: [Value], forKey key: Key
  ) throws {
    try encode(values.map { DetachedEncoding(value: $0) }, forKey: key)
  }
}
