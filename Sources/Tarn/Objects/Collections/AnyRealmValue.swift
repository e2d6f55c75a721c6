public import Foundation
import TarnStore

/// A mixed value: one of any type that a property can have. The type can differ from object to
/// object, and can change.
///
///     class Setting: Object {
///       @Persisted(primaryKey: true) var name: String
///       @Persisted var value: AnyRealmValue
///     }
///     setting.value = .string("dark")
///     setting.value = .fromArray([1, "two", ["three": 3.0]])
///
/// Lists and maps within a value are live like any others, and may hold further ones, up to a
/// hundred levels deep. A list or map is copied when it is stored. When an object is deleted,
/// values that hold it become `.none`; sets lose it.
public enum AnyRealmValue {
  /// Nothing.
  case none
  /// An integer of any width.
  case int(Int)
  /// A Boolean.
  case bool(Bool)
  /// A single-precision number.
  case float(Float)
  /// A double-precision number.
  case double(Double)
  /// A string.
  case string(String)
  /// Bytes.
  case data(Data)
  /// A point in time.
  case date(Date)
  /// An object of any class but embedded ones.
  case object(Object)
  /// A twelve-byte identifier.
  case objectId(ObjectId)
  /// A decimal number.
  case decimal128(Decimal128)
  /// A UUID.
  case uuid(UUID)
  /// A map of values under keys.
  case dictionary(Map<String, AnyRealmValue>)
  /// A list of values.
  case list(List<AnyRealmValue>)
}

extension AnyRealmValue {
  /// The number, if the value is an integer.
  public var intValue: Int? { if case .int(let value) = self { value } else { nil } }
  /// The value, if it is a `Bool`.
  public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The number, if the value is a `Float`.
  public var floatValue: Float? { if case .float(let value) = self { value } else { nil } }
  /// The number, if the value is a `Double`.
  public var doubleValue: Double? { if case .double(let value) = self { value } else { nil } }
  /// The string, if the value is one.
  public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
  /// The bytes, if the value is data.
  public var dataValue: Data? { if case .data(let value) = self { value } else { nil } }
  /// The point in time, if the value is one.
  public var dateValue: Date? { if case .date(let value) = self { value } else { nil } }
  /// The identifier, if the value is an `ObjectId`.
  public var objectIdValue: ObjectId? { if case .objectId(let value) = self { value } else { nil } }
  /// The number, if the value is a decimal.
  public var decimal128Value: Decimal128? {
    if case .decimal128(let value) = self { value } else { nil }
  }
  /// The UUID, if the value is one.
  public var uuidValue: UUID? { if case .uuid(let value) = self { value } else { nil } }
  /// The map, if the value is one.
  public var dictionaryValue: Map<String, AnyRealmValue>? {
    if case .dictionary(let value) = self { value } else { nil }
  }
  /// The list, if the value is one.
  public var listValue: List<AnyRealmValue>? {
    if case .list(let value) = self { value } else { nil }
  }
  /// The object, if the value is one of that class.
  public func object<T: Object>(_ type: T.Type) -> T? {
    if case .object(let value) = self { value as? T } else { nil }
  }
  /// The object with its properties by name, of any class; nil if the value is not an object, or is
  /// an unmanaged one.
  public var dynamicObject: DynamicObject? {
    guard case .object(let object) = self else { return nil }
    return object as? DynamicObject ?? object._core?.dynamicObject(for: object)
  }

  /// A map of these values.
  public static func fromDictionary(_ values: [String: AnyRealmValue]) -> AnyRealmValue {
    let map = Map<String, AnyRealmValue>()
    for (key, value) in values { map[key] = value }
    return .dictionary(map)
  }

  /// A list of these values.
  public static func fromArray(_ values: [AnyRealmValue]) -> AnyRealmValue {
    let list = List<AnyRealmValue>()
    list.append(objectsIn: values)
    return .list(list)
  }
}

extension AnyRealmValue: Hashable {
  /// True for equal values of the same kind: an integer never equals a `Double`. Objects compare by
  /// `==`, lists and maps like other lists and maps.
  public static func == (a: AnyRealmValue, b: AnyRealmValue) -> Bool {
    switch (a, b) {
    case (.none, .none): true
    case (.int(let a), .int(let b)): a == b
    case (.bool(let a), .bool(let b)): a == b
    case (.float(let a), .float(let b)): a == b
    case (.double(let a), .double(let b)): a == b
    case (.string(let a), .string(let b)): a == b
    case (.data(let a), .data(let b)): a == b
    case (.date(let a), .date(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    case (.objectId(let a), .objectId(let b)): a == b
    case (.decimal128(let a), .decimal128(let b)): a == b
    case (.uuid(let a), .uuid(let b)): a == b
    case (.dictionary(let a), .dictionary(let b)): a == b
    case (.list(let a), .list(let b)): a == b
    default: false
    }
  }

  /// Lists and maps contribute only their kind, because their elements may change.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .none: hasher.combine(0)
    case .int(let value): hasher.combine(value)
    case .bool(let value): hasher.combine(value)
    case .float(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value)
    case .string(let value): hasher.combine(value)
    case .data(let value): hasher.combine(value)
    case .date(let value): hasher.combine(value)
    case .object(let value): hasher.combine(value)
    case .objectId(let value): hasher.combine(value)
    case .decimal128(let value): hasher.combine(value)
    case .uuid(let value): hasher.combine(value)
    case .dictionary: hasher.combine(1)
    case .list: hasher.combine(2)
    }
  }
}

extension AnyRealmValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// An integer.
  public init(integerLiteral value: Int) { self = .int(value) }
  /// A double-precision number.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// A Boolean.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Nothing.
  public init(nilLiteral: ()) { self = .none }
  /// A list.
  public init(arrayLiteral elements: AnyRealmValue...) { self = .fromArray(elements) }
  /// A map. Traps for a key that is given twice.
  public init(dictionaryLiteral elements: (String, AnyRealmValue)...) {
    let map = Map<String, AnyRealmValue>()
    map.insert(unique: elements)
    self = .dictionary(map)
  }
}

extension AnyRealmValue: _StoredAsOther {
  /// The value that it holds; nil for `.none`.
  public var _storedContent: Any? {
    switch self {
    case .none: nil
    case .int(let value): value
    case .bool(let value): value
    case .float(let value): value
    case .double(let value): value
    case .string(let value): value
    case .data(let value): value
    case .date(let value): value
    case .object(let value): value
    case .objectId(let value): value
    case .decimal128(let value): value
    case .uuid(let value): value
    case .dictionary(let value): value
    case .list(let value): value
    }
  }
}

extension AnyRealmValue: Dumped {
  func append(to dump: inout TextDump) {
    dump.append(value: self)
  }
}

@available(*, unavailable, message: "it may hold an object: pass the value in it")
extension AnyRealmValue: Sendable {}

extension AnyRealmValue: VariantValue {
  var leadsToObjects: Bool {
    switch self {
    case .object, .list, .dictionary: true
    default: false
    }
  }
}
