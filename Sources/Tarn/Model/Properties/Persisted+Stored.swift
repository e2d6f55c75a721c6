import TarnStore

// Indexes and primary keys: the stored type decides.

extension Persisted where Value: FailableCustomPersistable, Value.PersistedType: _Indexable {
  /// A property with an index over the stored values.
  @inlinable public init(indexed: Bool) {
    self.init(nil, flags: indexed ? _PropertyFlags.indexed : 0)
  }
  /// A property with an index over the stored values, and a default.
  @inlinable public init(wrappedValue: Value, indexed: Bool) {
    self.init(wrappedValue, flags: indexed ? _PropertyFlags.indexed : 0)
  }
}

extension Persisted
where
  Value: OptionalProtocol, Value.Wrapped: FailableCustomPersistable,
  Value.Wrapped.PersistedType: _Indexable
{
  /// A property with an index over the stored values.
  @inlinable public init(indexed: Bool) {
    self.init(nil, flags: indexed ? _PropertyFlags.indexed : 0)
  }
  /// A property with an index over the stored values, and a default.
  @inlinable public init(wrappedValue: Value, indexed: Bool) {
    self.init(wrappedValue, flags: indexed ? _PropertyFlags.indexed : 0)
  }
}

extension Persisted where Value: PersistableEnum, Value.RawValue: _PrimaryKey {
  /// An enum that is the primary key, by its raw value.
  @inlinable public init(primaryKey: Bool) {
    self.init(nil, flags: primaryKey ? _PropertyFlags.primaryKey : 0)
  }
  /// The same with a default.
  @inlinable public init(wrappedValue: Value, primaryKey: Bool) {
    self.init(wrappedValue, flags: primaryKey ? _PropertyFlags.primaryKey : 0)
  }
}

extension Persisted where Value: FailableCustomPersistable, Value.PersistedType: _PrimaryKey {
  /// A value that is the primary key, by its stored value.
  @inlinable public init(primaryKey: Bool) {
    self.init(nil, flags: primaryKey ? _PropertyFlags.primaryKey : 0)
  }
  /// The same with a default.
  @inlinable public init(wrappedValue: Value, primaryKey: Bool) {
    self.init(wrappedValue, flags: primaryKey ? _PropertyFlags.primaryKey : 0)
  }
}

extension Persisted
where
  Value: OptionalProtocol, Value.Wrapped: PersistableEnum, Value.Wrapped.RawValue: _PrimaryKey
{
  /// An enum or nil that is the primary key, by its raw value.
  @inlinable public init(primaryKey: Bool) {
    self.init(nil, flags: primaryKey ? _PropertyFlags.primaryKey : 0)
  }
  /// The same with a default.
  @inlinable public init(wrappedValue: Value, primaryKey: Bool) {
    self.init(wrappedValue, flags: primaryKey ? _PropertyFlags.primaryKey : 0)
  }
}

extension Persisted
where
  Value: OptionalProtocol, Value.Wrapped: FailableCustomPersistable,
  Value.Wrapped.PersistedType: _PrimaryKey
{
  /// A value or nil that is the primary key, by its stored value.
  @inlinable public init(primaryKey: Bool) {
    self.init(nil, flags: primaryKey ? _PropertyFlags.primaryKey : 0)
  }
  /// The same with a default.
  @inlinable public init(wrappedValue: Value, primaryKey: Bool) {
    self.init(wrappedValue, flags: primaryKey ? _PropertyFlags.primaryKey : 0)
  }
}
