import TarnStore

extension Query where T == Bool {
  /// How many elements of a collection meet the condition, which may be about several of their
  /// properties at once: `($0.dogs.age > 3 && $0.dogs.name != "Rex").count > 1`.
  ///
  /// Traps for a condition that is not about properties of the objects in one collection, reached
  /// over to-one links at most.
  public var count: Query<Int> {
    guard let collection, let inner = predicate.onElements(of: collection) else {
      trap(
        "Only a condition on properties of the objects in one collection has a count, as in "
          + "($0.dogs.age > 3 && $0.dogs.isGood).count: \(predicate)")
    }
    return Query<Int>(.total(collection) { .matching(inner, $0, $1) })
  }
}

extension TarnStore.Predicate {
  /// The same about one element of the collection that all of the conditions are on.
  fileprivate func onElements(of collection: [String]) -> TarnStore.Predicate? {
    switch self {
    case .constant: self
    case .comparison: nil
    case .not(let term): term.onElements(of: collection).map { .not($0) }
    case .and(let terms): Self.all(terms, collection).map { .and($0) }
    case .or(let terms): Self.all(terms, collection).map { .or($0) }
    case .collection(let condition): condition.onElement(of: collection)
    }
  }

  private static func all(
    _ terms: [TarnStore.Predicate], _ collection: [String]
  ) -> [TarnStore.Predicate]? {
    let found = terms.compactMap { $0.onElements(of: collection) }
    return found.count == terms.count ? found : nil
  }
}

extension CollectionCondition {
  fileprivate func onElement(of collection: [String]) -> TarnStore.Predicate? {
    guard path.starts(with: collection), path.count > collection.count else { return nil }
    let property = Operand.path(Array(path[collection.count...]))
    switch test {
    case .any(let op, let right, let options):
      return .comparison(Comparison(property, op, right, options))
    case .anyWithin(let low, let high, let isClosed):
      return .and([
        .comparison(Comparison(property, .greaterOrEqual, .value(low))),
        .comparison(Comparison(property, isClosed ? .lessOrEqual : .less, .value(high))),
      ])
    case .count, .elements, .anyCount, .aggregate, .matching: return nil
    }
  }
}
