/// An `Optional`, for code that is generic over the wrapped type.
public protocol OptionalProtocol {
  /// The type without the optional.
  associatedtype Wrapped
  var _wrapped: Wrapped? { get }
}

extension Optional: OptionalProtocol {
  public var _wrapped: Wrapped? { self }
}

/// An optional of unknown type.
protocol OptionalValue {
  var content: Any? { get }
}

/// A value that may be an optional, without the optional.
func flattened(_ value: Any) -> Any? {
  guard let optional = value as? any OptionalValue else { return value }
  return optional.content
}

extension Optional: OptionalValue {
  var content: Any? {
    switch self {
    case .none: nil
    case .some(let value): flattened(value)
    }
  }
}
