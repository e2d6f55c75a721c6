/// A condition on an object, with the properties by name: the result of typed queries and of filter
/// strings. It is independent of a schema; `ResolvedPredicate` binds it to one and evaluates it.
///
/// Build conjunctions and disjunctions through `&&`, `||` and `!`: they keep chains flat, so that a
/// condition built in a loop does not nest once per iteration.
package enum Predicate: Hashable, Sendable {
  case constant(Bool)
  case comparison(Comparison)
  /// True if all are; true when empty.
  case and([Predicate])
  /// True if at least one is; false when empty.
  case or([Predicate])
  indirect case not(Predicate)
}

/// One comparison of two operands.
package struct Comparison: Hashable, Sendable {
  /// How many of the values at the end of a path through collections must meet a comparison.
  package enum Quantifier: Hashable, Sendable {
    /// At least one.
    case any
    /// Every one but null and NaN, and there is another one.
    case all
  }

  /// Nil between single values. Otherwise, the left operand, or the right one, is a path that leads
  /// through a collection, or to one.
  package var quantifier: Quantifier?
  package var left: Operand
  package var op: ComparisonOperator
  package var right: Operand
  package var options: StringOptions

  package init(
    _ left: Operand, _ op: ComparisonOperator, _ right: Operand, _ options: StringOptions = [],
    quantifier: Quantifier? = nil
  ) {
    self.quantifier = quantifier
    self.left = left
    self.op = op
    self.right = right
    self.options = options
  }
}

package enum Operand: Hashable, Sendable {
  /// The value at the end of a path, or each of the values.
  case path(Path)
  /// A number computed from the collection at the end of a path. It is always on the left.
  case figure(Path, Figure)
  case value(Value)
  /// The right side of `in`; or, after `equal`, the elements of a list in that order.
  case values([Value])
  /// The right side of `in` for the numbers between two values; without `isClosed`, the second is
  /// excluded.
  case range(Value, Value, isClosed: Bool)
  /// An object that is compared member by member: its class, and the condition on its members.
  indirect case members(of: String, Predicate)
  /// The right side of `in` for a link to an object that stores a place.
  case shape(GeoShape)
}

/// A number computed from a collection.
package enum Figure: Hashable, Sendable {
  /// The number of elements.
  case count
  /// An aggregate of all elements. For objects, the path continues to one of their properties.
  case aggregate(CollectionAggregate)
  /// The number of elements that match a condition. For elements that are not objects its paths are
  /// empty.
  indirect case matching(Predicate)
}

/// An aggregate of all elements of a collection, by its name after a path. NaN and null are
/// ignored.
package enum CollectionAggregate: String, Hashable, Sendable, CaseIterable {
  /// Null without values.
  case minimum = "@min"
  case maximum = "@max"
  /// 0 without values.
  case sum = "@sum"
  case average = "@avg"

  var isOfExtremes: Bool { self == .minimum || self == .maximum }
}

package enum ComparisonOperator: Hashable, Sendable, CaseIterable {
  case equal
  case notEqual
  case less
  case lessOrEqual
  case greater
  case greaterOrEqual
  case contains
  case beginsWith
  case endsWith
  /// The right side is a pattern: `*` matches any string, `?` one character.
  case like
  case `in`
}

package struct StringOptions: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }
  /// Ignores case, by the case folding of Unicode.
  package static let caseInsensitive = StringOptions(rawValue: 1)
  /// Ignores diacritics.
  package static let diacriticInsensitive = StringOptions(rawValue: 2)

  /// Its form after an operator.
  var suffix: String {
    switch (contains(.caseInsensitive), contains(.diacriticInsensitive)) {
    case (false, false): ""
    case (true, false): "[c]"
    case (false, true): "[d]"
    case (true, true): "[cd]"
    }
  }
}

extension Predicate {
  /// A comparison of a property with a constant; the property may be a dotted path.
  package static func compare(
    _ path: String, _ op: ComparisonOperator, _ value: Value, _ options: StringOptions = []
  ) -> Predicate {
    .comparison(Comparison(Operand(path: path), op, .value(value), options))
  }

  /// True if the comparison is true for some value at the end of the path.
  package static func any(
    _ path: Path, _ op: ComparisonOperator, _ right: Operand, _ options: StringOptions = []
  ) -> Predicate {
    .comparison(Comparison(.path(path), op, right, options, quantifier: .any))
  }

  /// Compares a number computed from the collection at the end of the path.
  package static func compare(
    _ path: Path, _ figure: Figure, _ op: ComparisonOperator, _ right: Operand
  ) -> Predicate {
    .comparison(Comparison(.figure(path, figure), op, right))
  }

  /// True if the property equals one of the constants.
  package static func isIn(_ path: String, _ values: [Value]) -> Predicate {
    .comparison(Comparison(Operand(path: path), .in, .values(values)))
  }

  /// True if low <= operand <= high, or operand < high for a range that is not closed.
  package static func between(
    _ operand: Operand, _ low: Operand, _ high: Operand, isClosed: Bool = true
  ) -> Predicate {
    .and([
      .comparison(Comparison(operand, .greaterOrEqual, low)),
      .comparison(Comparison(operand, isClosed ? .lessOrEqual : .less, high)),
    ])
  }

  package static func && (a: Predicate, b: Predicate) -> Predicate {
    .and(PredicateChain.and.joined(a, b))
  }

  package static func || (a: Predicate, b: Predicate) -> Predicate {
    .or(PredicateChain.or.joined(a, b))
  }

  package static prefix func ! (a: Predicate) -> Predicate {
    if case .not(let inner) = a { return inner }
    return .not(a)
  }
}

extension Operand {
  /// A property by its path as text.
  package init(path: String) { self = .path(Path(text: path)) }

  var isValueOrPath: Bool {
    switch self {
    case .value, .path: true
    case .figure, .values, .range, .members, .shape: false
    }
  }

  /// The same operand of an object at the end of the path.
  func behind(_ way: Path) -> Operand {
    switch self {
    case .path(let path): .path(way + path)
    case .figure(let path, let figure): .figure(way + path, figure)
    case .value, .values, .range, .members, .shape: self
    }
  }
}

extension Predicate {
  /// The same condition on an object at the end of the path.
  func behind(_ path: Path) -> Predicate {
    switch self {
    case .constant: self
    case .comparison(let comparison): .comparison(comparison.behind(path))
    case .and(let terms): .and(terms.map { $0.behind(path) })
    case .or(let terms): .or(terms.map { $0.behind(path) })
    case .not(let term): .not(term.behind(path))
    }
  }
}

extension Comparison {
  fileprivate func behind(_ path: Path) -> Comparison {
    Comparison(left.behind(path), op, right.behind(path), options, quantifier: quantifier)
  }
}

extension ComparisonOperator {
  /// The operator that gives the same result with the operands exchanged, or nil.
  package var mirrored: ComparisonOperator? {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    case .contains, .beginsWith, .endsWith, .like, .in: nil
    }
  }

  /// True for contains, beginsWith and endsWith.
  package var isTextSearch: Bool {
    self == .contains || self == .beginsWith || self == .endsWith
  }
}
