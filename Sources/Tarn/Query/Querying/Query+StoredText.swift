import TarnStore

// Conditions on the stored string of an enum or a custom type whose other side has the same type:
// `$0.mood.like(.calm)`, `$0.link.starts(with: $0.otherLink)`. The compiler prefers the forms with
// the stored type, which literals mean.

extension Query where T: _Persistable & _QueryStored, T._StoredType: _Persistable & _QueryText {
  /// True if the stored value contains that of the argument.
  @_disfavoredOverload
  public func contains(_ value: T) -> Query<Bool> { compare(.contains, constant(value)) }
  /// True if the stored value starts with that of the argument.
  @_disfavoredOverload
  public func starts(with value: T) -> Query<Bool> { compare(.beginsWith, constant(value)) }
  /// True if the stored value ends with that of the argument.
  @_disfavoredOverload
  public func ends(with value: T) -> Query<Bool> { compare(.endsWith, constant(value)) }
  /// True if the stored value equals that of the argument.
  @_disfavoredOverload
  public func equals(_ value: T) -> Query<Bool> { compare(.equal, constant(value)) }
  /// True if the stored value differs from that of the argument.
  @_disfavoredOverload
  public func notEquals(_ value: T) -> Query<Bool> { compare(.notEqual, constant(value)) }

  /// Like `contains`, with the value of another property.
  public func contains<U: _QueryStored>(_ other: Query<U>) -> Query<Bool>
  where U._StoredType: _QueryText { compare(.contains, with: other) }
  /// Like `starts(with:)`, with the value of another property.
  public func starts<U: _QueryStored>(with other: Query<U>) -> Query<Bool>
  where U._StoredType: _QueryText { compare(.beginsWith, with: other) }
  /// Like `ends(with:)`, with the value of another property.
  public func ends<U: _QueryStored>(with other: Query<U>) -> Query<Bool>
  where U._StoredType: _QueryText { compare(.endsWith, with: other) }
}

extension Query where T: _Persistable & _QueryStored, T._StoredType: _Persistable & _QueryString {
  /// True if the stored value contains that of the argument under the options.
  @_disfavoredOverload
  public func contains(_ value: T, options: StringOptions) -> Query<Bool> {
    compare(.contains, constant(value), options)
  }
  /// True if the stored value starts with that of the argument under the options.
  @_disfavoredOverload
  public func starts(with value: T, options: StringOptions) -> Query<Bool> {
    compare(.beginsWith, constant(value), options)
  }
  /// True if the stored value ends with that of the argument under the options.
  @_disfavoredOverload
  public func ends(with value: T, options: StringOptions) -> Query<Bool> {
    compare(.endsWith, constant(value), options)
  }
  /// True if the stored value equals that of the argument under the options.
  @_disfavoredOverload
  public func equals(_ value: T, options: StringOptions) -> Query<Bool> {
    compare(.equal, constant(value), options)
  }
  /// True if the stored value differs from that of the argument under the options.
  @_disfavoredOverload
  public func notEquals(_ value: T, options: StringOptions) -> Query<Bool> {
    compare(.notEqual, constant(value), options)
  }
  /// True if the stored value matches the pattern that is stored for the argument.
  @_disfavoredOverload
  public func like(_ pattern: T, caseInsensitive: Bool = false) -> Query<Bool> {
    compare(.like, constant(pattern), caseInsensitive ? .caseInsensitive : [])
  }
}

/// Conditions on some element of a collection of enums or custom types. `contains` without options
/// tests whether the argument is an element.
extension Query
where
  T: RealmCollection, T.Element: _Persistable & _QueryStored,
  T.Element._StoredType: _Persistable & _QueryText
{
  /// True if the stored value of some element starts with that of the argument.
  public func starts(with value: T.Element) -> Query<Bool> {
    some.compare(.beginsWith, constant(value))
  }
  /// True if the stored value of some element ends with that of the argument.
  public func ends(with value: T.Element) -> Query<Bool> {
    some.compare(.endsWith, constant(value))
  }
  /// True if some element equals the argument.
  public func equals(_ value: T.Element) -> Query<Bool> { some.compare(.equal, constant(value)) }
  /// True if some element differs from the argument.
  public func notEquals(_ value: T.Element) -> Query<Bool> {
    some.compare(.notEqual, constant(value))
  }
}

extension Query
where
  T: RealmCollection, T.Element: _Persistable & _QueryStored,
  T.Element._StoredType: _Persistable & _QueryString
{
  /// True if the stored value of some element contains that of the argument under the options.
  public func contains(_ value: T.Element, options: StringOptions) -> Query<Bool> {
    some.compare(.contains, constant(value), options)
  }
  /// True if the stored value of some element starts with that of the argument under the options.
  public func starts(with value: T.Element, options: StringOptions) -> Query<Bool> {
    some.compare(.beginsWith, constant(value), options)
  }
  /// True if the stored value of some element ends with that of the argument under the options.
  public func ends(with value: T.Element, options: StringOptions) -> Query<Bool> {
    some.compare(.endsWith, constant(value), options)
  }
  /// True if some element equals the argument under the options.
  public func equals(_ value: T.Element, options: StringOptions) -> Query<Bool> {
    some.compare(.equal, constant(value), options)
  }
  /// True if some element differs from the argument under the options.
  public func notEquals(_ value: T.Element, options: StringOptions) -> Query<Bool> {
    some.compare(.notEqual, constant(value), options)
  }
  /// True if the stored value of some element matches the pattern that is stored for the argument.
  public func like(_ pattern: T.Element, caseInsensitive: Bool = false) -> Query<Bool> {
    some.compare(.like, constant(pattern), caseInsensitive ? .caseInsensitive : [])
  }
}
