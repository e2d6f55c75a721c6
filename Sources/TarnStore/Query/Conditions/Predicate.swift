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
  /// On the elements of a collection.
  case collection(CollectionCondition)
}

/// One comparison of two operands.
package struct Comparison: Hashable, Sendable {
  package var left: Operand
  package var op: ComparisonOperator
  package var right: Operand
  package var options: StringOptions

  package init(
    _ left: Operand, _ op: ComparisonOperator, _ right: Operand, _ options: StringOptions = []
  ) {
    self.left = left
    self.op = op
    self.right = right
    self.options = options
  }
}

package enum Operand: Hashable, Sendable {
  /// A property, reached from the object through the links named before it. An empty path is the
  /// element itself, for elements without properties.
  case path([String])
  case value(Value)
  /// The right side of `in`.
  case values([Value])
  /// An object that is compared member by member: its class, and the condition on its members.
  indirect case members(of: String, Predicate)
  /// The right side of `in` for a link to an object that stores a place.
  case shape(GeoShape)
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

  /// True if the property equals one of the constants.
  package static func isIn(_ path: String, _ values: [Value]) -> Predicate {
    .comparison(Comparison(Operand(path: path), .in, .values(values)))
  }

  /// True if low <= operand <= high.
  package static func between(_ operand: Operand, _ low: Operand, _ high: Operand) -> Predicate {
    .and([
      .comparison(Comparison(operand, .greaterOrEqual, low)),
      .comparison(Comparison(operand, .lessOrEqual, high)),
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
  /// Names are compared byte by byte, because some are keys of maps.
  package static func == (a: Operand, b: Operand) -> Bool {
    switch (a, b) {
    case (.path(let a), .path(let b)): a.haveSameBytes(as: b)
    case (.value(let a), .value(let b)): a == b
    case (.values(let a), .values(let b)): a == b
    case (.members(let x, let a), .members(let y, let b)): x == y && a == b
    case (.shape(let a), .shape(let b)): a == b
    default: false
    }
  }

  /// A property by its path as text.
  package init(path: String) {
    self = .path(PathText.names(in: path))
  }

  var isValueOrPath: Bool {
    switch self {
    case .value, .path: true
    case .values, .members, .shape: false
    }
  }

  /// The same operand of an object at the end of the path.
  func behind(_ path: [String]) -> Operand {
    if case .path(let names) = self { .path(path + names) } else { self }
  }
}

extension Predicate {
  /// The same condition on an object at the end of the path.
  func behind(_ path: [String]) -> Predicate {
    switch self {
    case .constant: self
    case .comparison(let comparison):
      .comparison(
        Comparison(
          comparison.left.behind(path), comparison.op, comparison.right.behind(path),
          comparison.options))
    case .and(let terms): .and(terms.map { $0.behind(path) })
    case .or(let terms): .or(terms.map { $0.behind(path) })
    case .not(let term): .not(term.behind(path))
    case .collection(let condition):
      .collection(condition.behind(path))
    }
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
