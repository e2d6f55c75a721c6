import TarnStore

/// What results of values ask of a list, set or map: an order, and whether each value is there
/// once.
struct ValueQuery: Hashable {
  let kind: CollectionKind
  /// The property whose elements they are.
  let property: PropertyReflection
  /// Whether the least value comes first; nil for the order of the collection.
  var ascending: Bool?
  var isDistinct = false

  // Of one place there is one property.
  static func == (a: ValueQuery, b: ValueQuery) -> Bool {
    a.kind == b.kind && a.ascending == b.ascending && a.isDistinct == b.isDistinct
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(ascending)
    hasher.combine(isDistinct)
  }
}
