import TarnStore

extension Query where T == Bool {
  /// The number of elements of a collection that meet the condition, which may combine several of
  /// their properties: `($0.dogs.age > 3 && $0.dogs.name != "Rex").count > 1`, or test the elements
  /// themselves: `($0.scores > 3).count > 1`. If the condition continues into collections of the
  /// elements, the elements with at least one match are counted: `($0.dogs.puppies.age < 1).count`.
  /// A count within a count is of that collection: `(($0.dogs.puppies.age < 1).count > 2).count` is
  /// the number of dogs with more than two such puppies.
  ///
  /// Traps for a condition that is not on the elements of one collection, reached through to-one
  /// links at most.
  public var count: Query<Int> {
    guard let scope, let inner = predicate.onElements(of: scope) else {
      trap(
        "A count needs a condition on the elements of one collection, as in "
          + "($0.dogs.age > 3 && $0.dogs.isGood).count: \(predicate)")
    }
    return Query<Int>(
      .figure(scope.collection, .matching(inner)), of: scope.ofElement == nil ? nil : scope)
  }
}

/// The collection of a condition that tests the elements of one collection only.
struct ElementScope: Sendable {
  /// The path to the collection.
  let collection: Path
  /// The paths through it to collections of its elements.
  private var inner: Set<Path> = []

  init(_ collection: Path) { self.collection = collection }

  /// The common collection of two conditions; nil if they differ.
  init?(_ a: ElementScope?, _ b: ElementScope?) {
    guard let a, let b, a.collection == b.collection else { return nil }
    collection = a.collection
    inner = a.inner.union(b.inner)
  }

  /// The same, for a path that continues into a collection of an element.
  func and(_ collection: Path) -> ElementScope {
    var scope = self
    scope.inner.insert(collection)
    return scope
  }

  /// The collection within one element that the condition tests; nil if it is not a single one.
  fileprivate var ofElement: ElementScope? {
    let paths = inner.compactMap(rest)
    guard let shortest = paths.min(by: { $0.count < $1.count }),
      paths.allSatisfy({ $0.starts(with: shortest) })
    else { return nil }
    var scope = ElementScope(shortest)
    scope.inner = Set(paths.filter { $0 != shortest })
    return scope
  }

  /// The rest of a path after an element; nil for a path outside of the collection.
  fileprivate func rest(of path: Path) -> Path? {
    path.starts(with: collection) ? Array(path[collection.count...]) : nil
  }

  /// True for a path that goes through a collection of an element.
  fileprivate func isNested(_ path: some Collection<PathStep>) -> Bool {
    inner.contains { path.starts(with: $0) }
  }
}

extension TarnStore.Predicate {
  /// The same condition on one element of the collection that all of the conditions test.
  fileprivate func onElements(of scope: ElementScope) -> TarnStore.Predicate? {
    switch self {
    case .constant: self
    case .comparison(let comparison): comparison.onElement(of: scope)
    case .not(let term): term.onElements(of: scope).map { .not($0) }
    case .and(let terms): Self.all(terms, scope).map { .and($0) }
    case .or(let terms): Self.all(terms, scope).map { .or($0) }
    }
  }

  private static func all(
    _ terms: [TarnStore.Predicate], _ scope: ElementScope
  ) -> [TarnStore.Predicate]? {
    let found = terms.compactMap { $0.onElements(of: scope) }
    return found.count == terms.count ? found : nil
  }
}

extension Comparison {
  /// The same on one element of the scope's collection; nil if it does not test its elements alone.
  fileprivate func onElement(of scope: ElementScope) -> TarnStore.Predicate? {
    switch (left, quantifier) {
    case (.path(let path), _):
      guard let rest = scope.rest(of: path) else { return nil }
      return quantifier == nil ? onValue(rest) : onElement(rest, isNested: scope.isNested(path))
    case (.figure(let path, .count), .any):
      guard let rest = scope.rest(of: path) else { return nil }
      var comparison = self
      comparison.left = .figure(rest, .count)
      if !scope.isNested(path.dropLast()) { comparison.quantifier = nil }
      return .comparison(comparison)
    case (.figure(let path, .matching(let inner)), nil):
      guard scope.rest(of: path)?.isEmpty == true, case .value = right,
        let nested = scope.ofElement,
        let condition = inner.onElements(of: nested)
      else { return nil }
      return .compare(nested.collection, .matching(condition), op, right)
    default: return nil
    }
  }

  /// For conditions on each element of an `AnyRealmValue`.
  private func onValue(_ rest: Path) -> TarnStore.Predicate? {
    guard rest.first == .element(.each) else { return nil }
    if case .path = right { return nil }
    return .comparison(Comparison(.path(Array(rest.dropFirst())), op, right, options))
  }

  /// - Parameter isNested: the path goes through a collection of an element.
  private func onElement(_ rest: Path, isNested: Bool) -> TarnStore.Predicate? {
    if case .path = right { return nil }
    guard !isNested else {
      return .comparison(Comparison(.path(rest), op, right, options, quantifier: quantifier))
    }
    guard quantifier == .any else { return nil }
    guard case .range(let low, let high, let isClosed) = right else {
      return .comparison(Comparison(.path(rest), op, right, options))
    }
    return .between(.path(rest), .value(low), .value(high), isClosed: isClosed)
  }
}
