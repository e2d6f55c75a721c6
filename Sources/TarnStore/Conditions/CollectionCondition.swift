/// A condition on the elements of a list, set or map, or on the objects that link to one, with the
/// properties by name.
package struct CollectionCondition: Hashable, Sendable {
  package enum Test: Hashable, Sendable {
    /// The number of elements compares so with a number, or with a property.
    case count(ComparisonOperator, Operand)
    /// The elements are these, in this order.
    case elements([Value])
    /// Some element, or what the path names behind it, compares so with constants, or with a
    /// property of the object; or the path names a property, and the operand the elements.
    case any(ComparisonOperator, Operand, StringOptions)
    /// Some element, or what the path names behind it, is from the first value to the second, or
    /// below the second.
    case anyWithin(Value, Value, isClosed: Bool)
    /// Every element is from the first value to the second, or below the second. Null and NaN do
    /// not take part, and there is at least one other element.
    case allWithin(Value, Value, isClosed: Bool)
    /// For some element the collection that the path names behind it has so many of its own.
    case anyCount(ComparisonOperator, Value)
    /// What all elements together come to, or what the path names behind each, compares so.
    case aggregate(CollectionAggregate, ComparisonOperator, Operand)
    /// The number of elements that meet a condition compares so with a number. Of values the
    /// condition's paths are empty.
    indirect case matching(Predicate, ComparisonOperator, Operand)
  }

  /// The collection, reached from the object through the links named before it; behind it, for
  /// objects, the path from an element on, which may lead to another collection. What links to an
  /// object is named as `BacklinkName` says, the keys of a map `mapKeys` behind it.
  package var path: [String]
  package var test: Test

  package init(_ path: [String], _ test: Test) {
    self.path = path
    self.test = test
  }

  /// Names count byte by byte: among them are keys of maps.
  package static func == (a: Self, b: Self) -> Bool {
    a.path.haveSameBytes(as: b.path) && a.test == b.test
  }

  /// The same condition on an object that a path leads to.
  func behind(_ way: [String]) -> CollectionCondition {
    let test: Test =
      switch self.test {
      case .count(let op, let right): .count(op, right.behind(way))
      case .aggregate(let aggregate, let op, let right):
        .aggregate(aggregate, op, right.behind(way))
      case .any(let op, let right, let options): .any(op, right.behind(way), options)
      case .elements, .anyWithin, .allWithin, .anyCount, .matching: self.test
      }
    return CollectionCondition(way + path, test)
  }

  /// What stands in a path for the keys of a map, and for its values, which are meant without.
  package static let mapKeys = marker + "@allKeys"
  package static let mapValues = marker + "@allValues"
}

extension CollectionCondition {
  /// What begins a part of a path that is not the name of a property.
  static let marker = "\0"

  /// How a text names the element that a SUBQUERY looks at.
  private static let variable = "$x"

  /// The text for a part of a path that is not the name of a property.
  static func text(of part: String) -> String? {
    part.rest(afterBytesOf: marker).map(String.init)
  }
}

/// What can be made of all elements of a collection, by its name behind a path. NaN and null do not
/// take part.
package enum CollectionAggregate: String, Hashable, Sendable, CaseIterable {
  /// Null of nothing.
  case minimum = "@min"
  case maximum = "@max"
  /// 0 of nothing.
  case sum = "@sum"
  case average = "@avg"

  var isOfExtremes: Bool { self == .minimum || self == .maximum }
}

extension CollectionCondition: CustomStringConvertible {
  package var description: String {
    let path = "\(Operand.path(path))"
    switch test {
    case .count(let op, let right): return "\(path).@count \(op) \(right)"
    case .elements(let values): return "\(path) == \(Operand.values(values))"
    case .any(let op, let right, let options):
      return "ANY \(path) \(op)\(options.suffix) \(right)"
    case .anyWithin(let low, let high, let isClosed):
      let end = isClosed ? "}" : "} without the second"
      return "ANY \(path) BETWEEN {\(low.predicateText), \(high.predicateText)\(end)"
    case .allWithin(let low, let high, let isClosed):
      return "(\(path).@min >= \(low.predicateText) AND "
        + "\(path).@max \(isClosed ? "<=" : "<") \(high.predicateText))"
    case .anyCount(let op, let value):
      return "ANY \(path).@count \(op) \(value.predicateText)"
    case .aggregate(let aggregate, let op, let right):
      return "\(path).\(aggregate.rawValue) \(op) \(right)"
    case .matching(let predicate, let op, let right):
      let inner = predicate.behind([Self.marker + Self.variable])
      return "SUBQUERY(\(path), \(Self.variable), \(inner)).@count \(op) \(right)"
    }
  }
}
