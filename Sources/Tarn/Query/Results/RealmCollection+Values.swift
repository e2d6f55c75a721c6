import TarnStore

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
