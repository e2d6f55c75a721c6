/// A value that is stored as another one: an enum, a custom type, or an `AnyRealmValue`.
public protocol _StoredAsOther {
  /// The stored value; nil for nil.
  var _storedContent: Any? { get }
}

/// A value as it is read by name: with its stored type, so that the program's class makes no
/// difference.
///
/// - Returns: the value without optionals, the raw value of an enum, the stored value of a custom
///   type, the content of an `AnyRealmValue`; nil for nil.
func storedContent(of value: Any) -> Any? {
  guard let content = flattened(value) else { return nil }
  if let other = content as? any _StoredAsOther { return other._storedContent }
  return content
}
