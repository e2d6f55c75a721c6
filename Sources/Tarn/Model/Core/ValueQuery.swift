import TarnStore

/// The query of results of a list, set or map of values: an order, and whether repeats are removed.
struct ValueQuery: Hashable {
  let kind: CollectionKind
  /// The property that holds the elements.
  let property: PropertyReflection
  /// Whether the smallest value comes first; nil for the order of the collection.
  var ascending: Bool?
  var isDistinct = false

  // A place has exactly one property.
  static func == (a: ValueQuery, b: ValueQuery) -> Bool {
    a.kind == b.kind && a.ascending == b.ascending && a.isDistinct == b.isDistinct
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(ascending)
    hasher.combine(isDistinct)
  }
}
