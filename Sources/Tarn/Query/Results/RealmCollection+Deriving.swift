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

extension RealmCollection where Element: _SortableElement {
  /// The elements ordered by their values: nil first, then NaN, numbers by value, strings byte by
  /// byte in UTF-8, `false` before `true`. `AnyRealmValue`s are ordered by kind (nil, Bool,
  /// numbers, strings, data, dates, ids, UUIDs, objects) and then by value.
  ///
  /// The results are live. Evaluating them reads and sorts the whole collection, once after each
  /// change. Traps for an unmanaged or invalidated collection, and for custom types that are stored
  /// as embedded objects.
  public func sorted(ascending: Bool = true) -> Results<Element> {
    Results(_derivation) { $0.ascending = ascending }
  }

  /// The elements without those that equal an earlier one, in the order of the collection. 0 and -0
  /// are equal, and so are all NaN; strings are compared byte by byte. Lists and maps in an
  /// `AnyRealmValue` equal nothing else.
  ///
  /// The results are live and cost as much as those of `sorted(ascending:)`. Traps for an unmanaged
  /// or invalidated collection, and for custom types that are stored as embedded objects.
  public func distinct() -> Results<Element> { Results(_derivation) { $0.isDistinct = true } }
}

extension Map where Value: _SortableElement {
  /// The values in the order that a `List` of them has. Traps for an unmanaged or invalidated map.
  public func sorted(ascending: Bool = true) -> Results<Value> {
    Results(derivation(of: Value.self)) { $0.ascending = ascending }
  }

  /// The values without repeats, in the order of the keys, like `List`. Traps for an unmanaged or
  /// invalidated map.
  public func distinct() -> Results<Value> {
    Results(derivation(of: Value.self)) { $0.isDistinct = true }
  }
}

extension Results {
  /// Values of a collection, with a changed query.
  fileprivate init(_ base: _Derivation, _ change: (inout ValueQuery) -> Void) {
    guard var values = base.spec.values, values.property.type != .link else {
      trap(
        "Elements of type '\(Element.self)' are stored as objects, which cannot be ordered and are "
          + "all different. Make an array of the elements first.")
    }
    change(&values)
    var spec = base.spec
    spec.values = values
    self.init(base.core, spec, createdInWrite: base.createdInWrite)
  }
}

extension RealmCollection {
  /// The elements at some positions of the collection, live: observers receive the elements that
  /// enter the window, those that leave it, and changes and moves inside.
  ///
  /// ```swift
  /// let page = dogs.sorted(by: \.name).window(100..<150)
  /// let youngest = dogs.sorted(by: \.age).limit(10)
  /// ```
  ///
  /// Positions count from 0 within the window. If the collection is shorter, the window is too; it
  /// grows again when elements are added. `results[100..<150]` is a `Slice` instead, which has
  /// fixed positions and is not observed.
  ///
  /// The window is always applied last, wherever it is written: a condition, an order or `distinct`
  /// after it applies to the whole collection, and the window takes those positions of the result.
  /// A window on a window counts from the beginning of the first one.
  ///
  /// For observers the order of all elements is maintained, so a step of an observed window takes
  /// as long as one of the whole collection, and so does its first call. Reading the first elements
  /// of an order sorts no others. With an index, or in the order of the keys, it also reads few
  /// others.
  ///
  /// Traps for a negative position, and for an unmanaged or invalidated collection.
  public func window(_ positions: some RangeExpression<Int>) -> Results<Element> {
    let range = positions.relative(to: Positions())
    require(
      range.lowerBound >= 0,
      "A window must begin at position 0 or later, not at \(range.lowerBound).")
    let base = _derivation
    return Results(base.core, base.spec.windowed(range), createdInWrite: base.createdInWrite)
  }

  /// The first elements of the collection, live, like `window(_:)`. Traps for a negative number,
  /// and for an unmanaged or invalidated collection.
  public func limit(_ count: Int) -> Results<Element> {
    require(count >= 0, "A limit must be 0 or more, not \(count).")
    return window(0..<count)
  }

  /// All elements of the collection except the first ones, live, like `window(_:)`. Traps for a
  /// negative number, and for an unmanaged or invalidated collection.
  public func offset(_ count: Int) -> Results<Element> {
    require(count >= 0, "An offset must be 0 or more, not \(count).")
    return window(count...)
  }
}

/// All possible positions.
private struct Positions: Collection {
  var startIndex: Int { 0 }
  var endIndex: Int { .max }
  /// No collection is so large that the last position matters.
  func index(after position: Int) -> Int { position == .max ? .max : position + 1 }
  subscript(position: Int) -> Int { position }
}
