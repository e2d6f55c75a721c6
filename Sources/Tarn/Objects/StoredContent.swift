/// A value as it is read by its name: with the type that is stored, so that the program's class
/// makes no difference.
///
/// - Returns: the value without optionals, the raw value of an enum, the stored value of a custom
///   type, the content of an `AnyRealmValue`; nil for nil.
func storedContent(of value: Any) -> Any? {
  guard let content = flattened(value) else { return nil }
  switch content {
  case let value as AnyRealmValue: return value.content
  case let value as any PersistableEnum: return value.rawValue
  case let value as any FailableCustomPersistable: return storedContent(of: value.persistableValue)
  default: return content
  }
}

extension AnyRealmValue {
  /// The value that it holds; nil for `.none`.
  fileprivate var content: Any? {
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
