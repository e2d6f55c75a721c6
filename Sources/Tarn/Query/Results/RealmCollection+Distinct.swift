import TarnStore

extension RealmCollection where Element: KeypathSortable {
  /// The first of all objects that have the same values for some properties, in the order of the
  /// collection. Sorting before this decides which object is first; sorting after it orders the
  /// remaining objects.
  ///
  /// ```swift
  /// // The youngest dog of each breed, by name.
  /// realm.objects(Dog.self).sorted(by: \.age).distinct(by: ["breed"]).sorted(by: \.name)
  /// ```
  ///
  /// Properties may be reached through to-one links (`"owner.city"`); objects without the link are
  /// left out. Nil is a value, strings are compared byte by byte, 0 and -0 are equal, and so are
  /// all NaN. Among `AnyRealmValue`s numbers are equal whatever their types, and a list or a map
  /// equals nothing. Conditions always apply first: `distinct(by:)` and then `where` takes the
  /// first of each group among the objects that match.
  ///
  /// The results are live. Evaluating them iterates all objects that match. While they are
  /// observed, only the first step does so; later ones take time for the changes. An object that
  /// becomes equal to an earlier one is reported as deleted; changes of an object that is left out
  /// are not reported.
  ///
  /// Traps for an unmanaged or invalidated collection, without a property, and for properties that
  /// the class does not have or that are links or collections.
  public func distinct(by keyPaths: [String]) -> Results<Element> {
    require(
      !keyPaths.isEmpty,
      "distinct(by:) needs at least one property to compare objects by. Name one, or "
        + "remove the call.")
    let base = _derivation
    return Results(base.core, base.spec.distinct(keyPaths), createdInWrite: base.createdInWrite)
  }

  /// The same by key paths: `distinct(by: [\.breed])`. Also traps for a key path that does not
  /// consist of persisted properties.
  public func distinct(by keyPaths: [PartialKeyPath<Element>]) -> Results<Element> {
    distinct(by: keyPaths.map { _name(for: $0, .distinct) })
  }
}

extension Map where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
  /// The first of all objects among the values that have the same values for some properties, in
  /// the order of the keys, like `List`. Traps in the same cases.
  public func distinct(by keyPaths: [String]) -> Results<Value.Wrapped> {
    sorted(by: [] as [SortDescriptor]).distinct(by: keyPaths)
  }

  /// The same by key paths. Also traps for a key path that does not consist of persisted
  /// properties.
  public func distinct(by keyPaths: [PartialKeyPath<Value.Wrapped>]) -> Results<Value.Wrapped> {
    sorted(by: [] as [SortDescriptor]).distinct(by: keyPaths)
  }
}
