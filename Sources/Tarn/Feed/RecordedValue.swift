public import Foundation
package import TarnStore

/// A property's value at one version, as data: it needs no Realm, keeps no version of the file, and
/// never changes.
///
/// Values are equal if they have the same type and the same data. `Codable`, so that they can be
/// stored or sent; equal values give equal bytes if the encoder sorts its keys.
public indirect enum RecordedValue: Hashable, Sendable, Codable {
  /// Nil.
  case none
  case int(Int)
  case bool(Bool)
  case float(Float)
  case double(Double)
  case string(String)
  case data(Data)
  case date(Date)
  case objectId(ObjectId)
  case decimal128(Decimal128)
  case uuid(UUID)
  /// A link to an object, which may not exist any more.
  case object(ObjectIdentity)
  /// An embedded object with its properties.
  case embedded([String: RecordedValue])
  /// A list; of links, embedded objects and nested collections as well.
  case list([RecordedValue])
  /// A set, in its order.
  case set([RecordedValue])
  /// A map.
  case dictionary([String: RecordedValue])

  /// The value as an `AnyRealmValue`; nil for links, embedded objects and collections.
  public var anyValue: AnyRealmValue? {
    switch self {
    case .none: AnyRealmValue.none
    case .int(let value): .int(value)
    case .bool(let value): .bool(value)
    case .float(let value): .float(value)
    case .double(let value): .double(value)
    case .string(let value): .string(value)
    case .data(let value): .data(value)
    case .date(let value): .date(value)
    case .objectId(let value): .objectId(value)
    case .decimal128(let value): .decimal128(value)
    case .uuid(let value): .uuid(value)
    case .object, .embedded, .list, .set, .dictionary: nil
    }
  }

  /// The value as a property's type, such as `value.value(as: String.self)`; nil if it has another
  /// type.
  public func value<T>(as type: T.Type = T.self) -> T? {
    switch self {
    case .none, .embedded, .list, .set, .dictionary: nil
    case .int(let value): value as? T
    case .bool(let value): value as? T
    case .float(let value): value as? T
    case .double(let value): value as? T
    case .string(let value): value as? T
    case .data(let value): value as? T
    case .date(let value): value as? T
    case .objectId(let value): value as? T
    case .decimal128(let value): value as? T
    case .uuid(let value): value as? T
    case .object(let value): value as? T
    }
  }

  /// The value as it is stored; nil for links, embedded objects and collections.
  package var storedValue: Value? { anyValue.map { $0._box().value } }

  /// Nil for a value that refers to other rows.
  init?(scalar value: Value) {
    switch AnyRealmValue._unbox(_BoxedValue(value)) {
    case .int(let value)?: self = .int(value)
    case .bool(let value)?: self = .bool(value)
    case .float(let value)?: self = .float(value)
    case .double(let value)?: self = .double(value)
    case .string(let value)?: self = .string(value)
    case .data(let value)?: self = .data(value)
    case .date(let value)?: self = .date(value)
    case .objectId(let value)?: self = .objectId(value)
    case .decimal128(let value)?: self = .decimal128(value)
    case .uuid(let value)?: self = .uuid(value)
    case AnyRealmValue.none?:
      guard case .null = value else { return nil }
      self = .none
    case .object?, .dictionary?, .list?, nil: return nil
    }
  }
}
