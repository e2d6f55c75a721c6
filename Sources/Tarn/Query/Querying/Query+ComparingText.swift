import Foundation
import TarnStore

/// A type of strings or bytes, or an optional of one.
public protocol _QueryText {}
extension String: _QueryText {}
extension Data: _QueryText {}
extension AnyRealmValue: _QueryText, _QueryComparable {}
extension Optional: _QueryText where Wrapped: _QueryText {}

/// A type of strings, or an optional of one.
public protocol _QueryString: _QueryText {}
extension String: _QueryString {}
extension AnyRealmValue: _QueryString {}
extension Optional: _QueryString where Wrapped: _QueryString {}

/// Bytes are compared exactly, so only strings take options.
extension Query where T: _Persistable & _QueryText {
  /// True if the property's value contains the text. An empty or nil text is never contained.
  public func contains(_ text: T) -> Query<Bool> { compare(.contains, constant(text)) }
  /// True if the property's value starts with the text; never for an empty or nil text.
  public func starts(with text: T) -> Query<Bool> { compare(.beginsWith, constant(text)) }
  /// True if the property's value ends with the text; never for an empty or nil text.
  public func ends(with text: T) -> Query<Bool> { compare(.endsWith, constant(text)) }
  /// True if the property's value equals the text.
  public func equals(_ text: T) -> Query<Bool> { compare(.equal, constant(text)) }
  /// True if the property's value differs from the text.
  public func notEquals(_ text: T) -> Query<Bool> { compare(.notEqual, constant(text)) }

  /// Like `contains`, with the value of another property.
  public func contains<U: _QueryText>(_ other: Query<U>) -> Query<Bool> {
    compare(.contains, with: other)
  }
  /// Like `starts(with:)`, with the value of another property.
  public func starts<U: _QueryText>(with other: Query<U>) -> Query<Bool> {
    compare(.beginsWith, with: other)
  }
  /// Like `ends(with:)`, with the value of another property.
  public func ends<U: _QueryText>(with other: Query<U>) -> Query<Bool> {
    compare(.endsWith, with: other)
  }
  /// Like `equals`, with the value of another property.
  public func equals<U: _QueryText>(_ other: Query<U>) -> Query<Bool> {
    compare(.equal, with: other)
  }
  /// Like `notEquals`, with the value of another property.
  public func notEquals<U: _QueryText>(_ other: Query<U>) -> Query<Bool> {
    compare(.notEqual, with: other)
  }
}

extension Query where T: _Persistable & _QueryString {
  /// True if the property's value contains the text under the options.
  public func contains(_ text: T, options: StringOptions) -> Query<Bool> {
    compare(.contains, constant(text), options)
  }
  /// True if the property's value starts with the text under the options.
  public func starts(with text: T, options: StringOptions) -> Query<Bool> {
    compare(.beginsWith, constant(text), options)
  }
  /// True if the property's value ends with the text under the options.
  public func ends(with text: T, options: StringOptions) -> Query<Bool> {
    compare(.endsWith, constant(text), options)
  }
  /// True if the property's value equals the text under the options.
  public func equals(_ text: T, options: StringOptions) -> Query<Bool> {
    compare(.equal, constant(text), options)
  }
  /// True if the property's value differs from the text under the options.
  public func notEquals(_ text: T, options: StringOptions) -> Query<Bool> {
    compare(.notEqual, constant(text), options)
  }

  /// Like `contains`, with the value of another property.
  public func contains<U: _QueryString>(_ other: Query<U>, options: StringOptions) -> Query<Bool> {
    compare(.contains, with: other, options)
  }
  /// Like `starts(with:)`, with the value of another property.
  public func starts<U: _QueryString>(
    with other: Query<U>, options: StringOptions
  ) -> Query<Bool> {
    compare(.beginsWith, with: other, options)
  }
  /// Like `ends(with:)`, with the value of another property.
  public func ends<U: _QueryString>(with other: Query<U>, options: StringOptions) -> Query<Bool> {
    compare(.endsWith, with: other, options)
  }
  /// Like `equals`, with the value of another property.
  public func equals<U: _QueryString>(_ other: Query<U>, options: StringOptions) -> Query<Bool> {
    compare(.equal, with: other, options)
  }
  /// Like `notEquals`, with the value of another property.
  public func notEquals<U: _QueryString>(
    _ other: Query<U>, options: StringOptions
  ) -> Query<Bool> {
    compare(.notEqual, with: other, options)
  }

  /// True if the whole value matches a pattern: `*` matches any characters, even none, `?` one
  /// character (a Unicode scalar), and a backslash makes the next character literal. Never true
  /// for a nil pattern.
  public func like(_ pattern: T, caseInsensitive: Bool = false) -> Query<Bool> {
    compare(.like, constant(pattern), caseInsensitive ? .caseInsensitive : [])
  }
  /// Like `like`, with the pattern in another property.
  public func like<U: _QueryString>(
    _ other: Query<U>, caseInsensitive: Bool = false
  ) -> Query<Bool> {
    compare(.like, with: other, caseInsensitive ? .caseInsensitive : [])
  }
}
