import TarnStore

extension Query where T: PersistableEnum {
  /// The raw value of the enum, which is its stored value: `$0.mood.rawValue == "calm"`.
  public var rawValue: Query<T.RawValue> { retyped() }
}

extension Query where T: OptionalProtocol, T.Wrapped: PersistableEnum {
  /// The raw value of the enum, which is its stored value.
  public var rawValue: Query<T.Wrapped.RawValue?> { retyped() }
}

/// A collection of enums as the collection of their raw values: `$0.levels.rawValue.contains(1)`
/// is true if that is an element, `$0.levels.rawValue.contains(1..<3)` if all elements are within.
extension Query
where T: RealmCollection, T.Element: PersistableEnum, T.Element.RawValue: RealmCollectionValue {
  /// The collection of the raw values.
  public var rawValue: Query<List<T.Element.RawValue>> { retyped() }
}

extension Query
where
  T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: PersistableEnum,
  T.Element.Wrapped.RawValue: RealmCollectionValue
{
  /// The collection of the raw values.
  public var rawValue: Query<List<T.Element.Wrapped.RawValue?>> { retyped() }
}

extension Query
where T: RealmKeyedCollection, T.Value: PersistableEnum, T.Value.RawValue: RealmCollectionValue {
  /// The map of the raw values.
  public var rawValue: Query<Map<T.Key, T.Value.RawValue>> { retyped() }
}

extension Query
where
  T: RealmKeyedCollection, T.Value: OptionalProtocol, T.Value.Wrapped: PersistableEnum,
  T.Value.Wrapped.RawValue: RealmCollectionValue
{
  /// The map of the raw values.
  public var rawValue: Query<Map<T.Key, T.Value.Wrapped.RawValue?>> { retyped() }
}

extension Query where T: FailableCustomPersistable {
  /// The stored value: `$0.link.persistableValue.starts(with: "https")`. For a type stored as an
  /// embedded object, a property of that object.
  public var persistableValue: Query<T.PersistedType> { retyped() }
}

extension Query where T: OptionalProtocol, T.Wrapped: FailableCustomPersistable {
  /// The stored value.
  public var persistableValue: Query<T.Wrapped.PersistedType?> { retyped() }
}

/// A collection of a custom type as the collection of the stored values:
/// `$0.links.persistableValue.starts(with: "https")`.
extension Query
where
  T: RealmCollection, T.Element: FailableCustomPersistable,
  T.Element.PersistedType: RealmCollectionValue
{
  /// The collection of the stored values.
  public var persistableValue: Query<List<T.Element.PersistedType>> { retyped() }
}

extension Query
where
  T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: FailableCustomPersistable,
  T.Element.Wrapped.PersistedType: Hashable
{
  /// The collection of the stored values.
  public var persistableValue: Query<List<T.Element.Wrapped.PersistedType?>> {
    retyped()
  }
}

extension Query
where
  T: RealmKeyedCollection, T.Value: FailableCustomPersistable,
  T.Value.PersistedType: RealmCollectionValue
{
  /// The map of the stored values.
  public var persistableValue: Query<Map<T.Key, T.Value.PersistedType>> { retyped() }
}

extension Query
where
  T: RealmKeyedCollection, T.Value: OptionalProtocol, T.Value.Wrapped: FailableCustomPersistable,
  T.Value.Wrapped.PersistedType: Hashable
{
  /// The map of the stored values.
  public var persistableValue: Query<Map<T.Key, T.Value.Wrapped.PersistedType?>> { retyped() }
}

/// Conditions on the stored string of an enum or a custom type: `$0.mood.contains("al")`.
extension Query where T: _QueryStored, T._StoredType: _Persistable & _QueryText {
  private var stored: Query<T._StoredType> { retyped() }

  /// True if the stored value contains the text.
  public func contains(_ text: T._StoredType) -> Query<Bool> { stored.contains(text) }
  /// True if the stored value starts with the text.
  public func starts(with text: T._StoredType) -> Query<Bool> { stored.starts(with: text) }
  /// True if the stored value ends with the text.
  public func ends(with text: T._StoredType) -> Query<Bool> { stored.ends(with: text) }
  /// True if the stored value equals the text.
  public func equals(_ text: T._StoredType) -> Query<Bool> { stored.equals(text) }
  /// True if the stored value differs from the text.
  public func notEquals(_ text: T._StoredType) -> Query<Bool> { stored.notEquals(text) }
}

extension Query where T: _QueryStored, T._StoredType: _Persistable & _QueryString {
  /// True if the stored value contains the text under the options.
  public func contains(_ text: T._StoredType, options: StringOptions) -> Query<Bool> {
    stored.contains(text, options: options)
  }
  /// True if the stored value starts with the text under the options.
  public func starts(with text: T._StoredType, options: StringOptions) -> Query<Bool> {
    stored.starts(with: text, options: options)
  }
  /// True if the stored value ends with the text under the options.
  public func ends(with text: T._StoredType, options: StringOptions) -> Query<Bool> {
    stored.ends(with: text, options: options)
  }
  /// True if the stored value equals the text under the options.
  public func equals(_ text: T._StoredType, options: StringOptions) -> Query<Bool> {
    stored.equals(text, options: options)
  }
  /// True if the stored value differs from the text under the options.
  public func notEquals(_ text: T._StoredType, options: StringOptions) -> Query<Bool> {
    stored.notEquals(text, options: options)
  }
  /// True if the stored value matches the pattern.
  public func like(_ pattern: T._StoredType, caseInsensitive: Bool = false) -> Query<Bool> {
    stored.like(pattern, caseInsensitive: caseInsensitive)
  }
}
