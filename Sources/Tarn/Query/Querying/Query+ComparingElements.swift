import TarnStore

// Some element of a collection against a property of the object, on either side: `$0.dogs.age >
// $0.limit`, `$0.scores < $0.limit`, `$0.names.contains($0.name)`.

extension Query {
  /// The comparison, if one side is some element and the other a property.
  func compareElement<U>(
    _ op: ComparisonOperator, with other: Query<U>, _ options: StringOptions
  ) -> Query<Bool>? {
    switch (content, other.content) {
    case (.any(let elements), .path(let path)):
      return Query<Bool>(.any(elements, op, .path(path), options.store))
    case (.path(let path), .any(let elements)):
      // Filter strings name the collection first if possible.
      if let mirrored = op.mirrored {
        return Query<Bool>(.any(elements, mirrored, .path(path), options.store))
      }
      return Query<Bool>(.any(path, op, .path(elements), options.store))
    case (.any, .any):
      trap(
        "Cannot compare the elements of one collection with those of another. To compare two "
          + "properties of one element, write a filter string: filter(\"SUBQUERY(dogs, $x, $x.age "
          + "> $x.limit).@count > 0\")"
      )
    default: return nil
    }
  }
}

extension Query where T: RealmCollection {
  /// Some element.
  var some: Query<T.Element> { element() }
}

extension Query where T: RealmCollection, T.Element: _Persistable {
  /// True if the property's value is among the elements.
  public func contains(_ property: Query<T.Element>) -> Query<Bool> {
    some.compare(.equal, with: property)
  }
}

extension Query where T: RealmCollection, T.Element: _OptionalPersistable {
  /// True if the property's value is among the elements: for objects, the target of a link.
  public func contains(_ property: Query<T.Element?>) -> Query<Bool> {
    some.compare(.equal, with: property)
  }
}

extension Query where T: RealmCollection, T.Element: _Persistable & _QueryText {
  /// True if some element contains the property's value under the options.
  public func contains<U: _QueryText>(
    _ property: Query<U>, options: StringOptions
  ) -> Query<Bool> {
    some.compare(.contains, with: property, options)
  }
  /// True if some element starts with the property's value.
  public func starts<U: _QueryText>(
    with property: Query<U>, options: StringOptions = []
  ) -> Query<Bool> {
    some.compare(.beginsWith, with: property, options)
  }
  /// True if some element ends with the property's value.
  public func ends<U: _QueryText>(
    with property: Query<U>, options: StringOptions = []
  ) -> Query<Bool> {
    some.compare(.endsWith, with: property, options)
  }
}
