import TarnStore

/// A custom type that is stored as another one: an enum, or another custom type.
public protocol _StoredAs: _Persistable {
  /// The type that is stored.
  associatedtype _Stored
  /// The type of sums: for enums the stored type, because a sum is not a case.
  associatedtype _Sum
  static func _sum(of stored: _Stored) -> _Sum
}

extension PersistableEnum {
  public static func _sum(of stored: RawValue) -> RawValue { stored }
}

extension FailableCustomPersistable {
  public static func _sum(of stored: PersistedType) -> Self {
    guard let value = Self(persistedValue: stored) else {
      trap(
        "The sum \(stored) is not a valid \(Self.self). Make its initializer accept sums, or add "
          + "up in Swift.")
    }
    return value
  }
}

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
