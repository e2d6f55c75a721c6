import TarnStore

extension RealmCollection where Element: ObjectBase {
  /// The objects that match a further condition, in the order of the collection. An object that is
  /// in the collection twice is in the results twice.
  ///
  /// ```swift
  /// realm.objects(Dog.self).where { $0.age > 5 && $0.name.starts(with: "R") }
  /// person.dogs.where { $0.age > 5 }
  /// ```
  ///
  /// Traps for an unmanaged or invalidated collection.
  public func `where`(_ condition: (Query<Element>) -> Query<Bool>) -> Results<Element> {
    let base = _derivation
    let predicate = condition(Query<Element>.root(in: base.core)).predicate
    return Results(base.core, base.spec.filtered(predicate), createdInWrite: base.createdInWrite)
  }
}

extension RealmCollection where Element: KeypathSortable {
  /// The objects ordered by a property. Traps for an unmanaged or invalidated collection.
  public func sorted<Value>(
    by keyPath: KeyPath<Element, Value>, ascending: Bool = true, collation: Collation = .bytes
  ) -> Results<Element> {
    sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending, collation: collation)])
  }

  /// The objects ordered by a property, which may be reached through any number of to-one links.
  /// Traps for an unmanaged or invalidated collection.
  public func sorted(
    byKeyPath keyPath: String, ascending: Bool = true, collation: Collation = .bytes
  ) -> Results<Element> {
    sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending, collation: collation)])
  }

  /// The objects ordered by several properties, the first one first. Nil comes first in ascending
  /// order; objects with a nil link on the path come last. `AnyRealmValue`s are ordered by kind:
  /// nil, Bool, numbers of all types by their value, strings, data, dates, object ids, UUIDs,
  /// objects, lists and maps. Equal objects keep the order of the list, set or other collection of
  /// an object that they are from, otherwise that of an integer primary key, or else the one in
  /// which they were created. Traps for an unmanaged or invalidated collection.
  public func sorted(by descriptors: [SortDescriptor]) -> Results<Element> {
    let base = _derivation
    return Results(base.core, base.spec.sorted(descriptors), createdInWrite: base.createdInWrite)
  }
}

extension Results {
  public var _derivation: _Derivation {
    check()
    return _Derivation(core, spec, createdInWrite: createdInWrite)
  }
}

extension Map where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
  private var derivation: _Derivation { derivation(of: Value.Wrapped.self) }

  /// The objects among the values that match a condition, in the order of the keys. An object under
  /// two keys is in the results twice. Traps for an unmanaged or invalidated map.
  public func `where`(
    _ condition: (Query<Value.Wrapped>) -> Query<Bool>
  ) -> Results<Value.Wrapped> {
    let base = derivation
    let predicate = condition(Query<Value.Wrapped>.root(in: base.core)).predicate
    return Results(base.core, base.spec.filtered(predicate), createdInWrite: base.createdInWrite)
  }

  /// The objects among the values, ordered by a property. Traps for an unmanaged or invalidated
  /// map.
  public func sorted<Property>(
    by keyPath: KeyPath<Value.Wrapped, Property>, ascending: Bool = true,
    collation: Collation = .bytes
  ) -> Results<Value.Wrapped> {
    sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending, collation: collation)])
  }

  /// The objects among the values, ordered by a property, which may be reached through any number
  /// of to-one links. Traps for an unmanaged or invalidated map.
  public func sorted(
    byKeyPath keyPath: String, ascending: Bool = true, collation: Collation = .bytes
  ) -> Results<Value.Wrapped> {
    sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending, collation: collation)])
  }

  /// The objects among the values, ordered by several properties like those of a `List`; equal ones
  /// in the order of the keys. Traps for an unmanaged or invalidated map.
  public func sorted(by descriptors: [SortDescriptor]) -> Results<Value.Wrapped> {
    let base = derivation
    return Results(base.core, base.spec.sorted(descriptors), createdInWrite: base.createdInWrite)
  }
}
