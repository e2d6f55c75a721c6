import TarnStore

// Of enums and custom types that are stored as numbers or dates.

extension Aggregate {
  private static func end<T: _StoredAs>(
    _ kind: AggregateTerm.Kind, _ property: String
  ) -> Self where Result == T?, T._Stored: MinMaxType {
    Self(kind, property) { T._value($0) }
  }

  /// The minimum of a property with an enum or a custom type, as its stored values compare; nil if
  /// there are no values.
  public static func min<T: _StoredAs>(of keyPath: KeyPath<Root, T>) -> Self
  where Result == T?, T._Stored: MinMaxType { end(.min, _name(for: keyPath, .aggregate)) }
  /// The same for an optional property.
  public static func min<T: _StoredAs>(of keyPath: KeyPath<Root, T?>) -> Self
  where Result == T?, T._Stored: MinMaxType { end(.min, _name(for: keyPath, .aggregate)) }

  /// The maximum of a property with an enum or a custom type, as its stored values compare; nil if
  /// there are no values.
  public static func max<T: _StoredAs>(of keyPath: KeyPath<Root, T>) -> Self
  where Result == T?, T._Stored: MinMaxType { end(.max, _name(for: keyPath, .aggregate)) }
  /// The same for an optional property.
  public static func max<T: _StoredAs>(of keyPath: KeyPath<Root, T?>) -> Self
  where Result == T?, T._Stored: MinMaxType { end(.max, _name(for: keyPath, .aggregate)) }

  private static func sum<T: _StoredAs>(
    _ type: T.Type, _ property: String
  ) -> Self where Result == T._Sum, T._Stored: AddableType {
    Self(.sum, property) { value in
      T._sum(of: ValueFold.typed(value, "property '\(property)'") ?? T._Stored(_nearest: 0))
    } isReadable: {
      ValueFold.isHeld($0, by: T._Stored.self)
    }
  }

  /// The sum of the stored values of a property with an enum or a custom type. For a custom type it
  /// is a value of that type; reading one that the type refuses traps.
  public static func sum<T: _StoredAs>(of keyPath: KeyPath<Root, T>) -> Self
  where Result == T._Sum, T._Stored: AddableType {
    sum(T.self, _name(for: keyPath, .aggregate))
  }
  /// The same for an optional property.
  public static func sum<T: _StoredAs>(of keyPath: KeyPath<Root, T?>) -> Self
  where Result == T._Sum, T._Stored: AddableType {
    sum(T.self, _name(for: keyPath, .aggregate))
  }

  /// The average of the stored values of a property with an enum or a custom type, nil if there are
  /// none.
  public static func average<T: _StoredAs>(of keyPath: KeyPath<Root, T>) -> Self
  where Result == Double?, T._Stored: AddableType {
    average(ofProperty: _name(for: keyPath, .aggregate))
  }
  /// The same for an optional property.
  public static func average<T: _StoredAs>(of keyPath: KeyPath<Root, T?>) -> Self
  where Result == Double?, T._Stored: AddableType {
    average(ofProperty: _name(for: keyPath, .aggregate))
  }
}
