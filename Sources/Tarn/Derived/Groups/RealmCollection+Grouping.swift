import TarnStore

extension RealmCollection where Element: KeypathSortable {
  /// The objects in groups, one for each value of a property, with these aggregates of each.
  ///
  /// ```swift
  /// let cities = realm.objects(Person.self).grouped(by: \.city, .count, .average(of: \.age))
  /// for city in cities { print(city.key, city.values.0, city.values.1 ?? 0) }
  /// ```
  ///
  /// The property may be reached through to-one links; an object is in the group with the key nil
  /// if one of them is nil. All NaN are one key, and so are 0 and -0. See ``GroupedResults``.
  ///
  /// Traps for an unmanaged or invalidated collection, for a key path that is not made of stored
  /// properties, that ends in an object, a collection or an `AnyRealmValue`, or that force-unwraps
  /// a link (`\.link!.id` instead of `\.link?.id`), and for aggregates of a property that is
  /// neither a number nor a date.
  public func grouped<Key: _Persistable & Hashable, each Result>(
    by keyPath: KeyPath<Element, Key>, _ aggregates: repeat Aggregate<Element, each Result>
  ) -> GroupedResults<Key, (repeat each Result)> {
    let name = _name(for: keyPath, .grouping)
    let names = PathText.names(in: name)
    require(
      names.count == 1 || Key.self is any OptionalProtocol.Type,
      "Grouping by '\(name)' needs an optional key, because objects without the link have the key "
        + "nil: write \\.\(names.joined(separator: "?.")).")
    return GroupedResults(liveGroups(GroupShape(by: name, repeat each aggregates)))
  }

  /// The objects in groups by the property at a path of names, whose values have that type. For
  /// dynamic objects, and for names that are only known at run time.
  ///
  /// ```swift
  /// realm.dynamicObjects("Person").grouped(by: "city", as: String?.self, .max(ofProperty: "age"))
  /// ```
  ///
  /// Same preconditions as the key-path form. Reading a key of another type traps.
  public func grouped<Key: _Persistable & Hashable, each Result>(
    by keyPath: String, as type: Key.Type, _ aggregates: repeat Aggregate<Element, each Result>
  ) -> GroupedResults<Key, (repeat each Result)> {
    let name = Element._underlyingPath(keyPath)
    return GroupedResults(liveGroups(GroupShape(by: name, repeat each aggregates)))
  }

  /// These aggregates over all objects, updated by every commit.
  ///
  /// ```swift
  /// let ages = realm.objects(Person.self).aggregate(.min(of: \.age), .max(of: \.age))
  /// let (youngest, oldest) = ages.value
  /// ```
  ///
  /// Traps for an unmanaged or invalidated collection, for a key path that is not a stored property
  /// of the objects themselves, and for aggregates of a property that is neither a number nor a
  /// date.
  public func aggregate<each Result>(
    _ aggregates: repeat Aggregate<Element, each Result>
  ) -> LiveAggregate<(repeat each Result)> {
    LiveAggregate(liveGroups(GroupShape(by: nil, repeat each aggregates)))
  }

  private func liveGroups<Values>(_ shape: GroupShape<Values>) -> LiveGroups<Values> {
    let base = _derivation
    var spec = base.spec
    // The order does not matter to groups: results in any order share them.
    if spec.origin == nil, spec.stages.isEmpty, spec.window == nil { spec.order = [] }
    let results = Results<Element>(base.core, spec, createdInWrite: base.createdInWrite)
    results.check()
    return LiveGroups(results, shape)
  }
}
