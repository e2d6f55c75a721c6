/// A condition on the elements of a list, set or map, or on backlinks, with the properties by name.
package struct CollectionCondition: Hashable, Sendable {
  package enum Test: Hashable, Sendable {
    /// Compares the number of elements with a number, or with a property.
    case count(ComparisonOperator, Operand)
    /// The elements equal these, in this order.
    case elements([Value])
    /// Compares some element, or the value at the rest of the path from it, with constants or with
    /// a property of the object; or the path names a property, and the operand the elements.
    case any(ComparisonOperator, Operand, StringOptions)
    /// Some element, or the value at the rest of the path from it, is between the two values;
    /// without `isClosed` the second is excluded.
    case anyWithin(Value, Value, isClosed: Bool)
    /// Every element is between the two values; without `isClosed` the second is excluded. Null and
    /// NaN are ignored, but one other element must exist.
    case allWithin(Value, Value, isClosed: Bool)
    /// Compares, for some element, the number of elements of the collection at the rest of the
    /// path.
    case anyCount(ComparisonOperator, Value)
    /// Compares an aggregate of all elements, or of the values at the rest of the path from each.
    case aggregate(CollectionAggregate, ComparisonOperator, Operand)
    /// Compares the number of elements that match a condition with a number. For elements that are
    /// not objects the condition's paths are empty.
    indirect case matching(Predicate, ComparisonOperator, Operand)
  }

  /// The path to the collection from the object, through links; after it, for elements that are
  /// objects, the path from an element on, which may lead to another collection. Backlinks are
  /// named as in `BacklinkName`, the keys of a map by `mapKeys` after it.
  package var path: [String]
  package var test: Test

  package init(_ path: [String], _ test: Test) {
    self.path = path
    self.test = test
  }

  /// Names are compared byte by byte, because some are keys of maps.
  package static func == (a: Self, b: Self) -> Bool {
    a.path.haveSameBytes(as: b.path) && a.test == b.test
  }

  /// The same condition on an object at the end of a path.
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

  /// The names in a path for the keys of a map, and for its values, which are also the default.
  package static let mapKeys = marker + "@allKeys"
  package static let mapValues = marker + "@allValues"
}

extension CollectionCondition {
  /// The first character of a part of a path that is not the name of a property.
  static let marker = "\0"

  /// The variable for the element in the text of a SUBQUERY.
  private static let variable = "$x"

  /// The text for a part of a path that is not the name of a property.
  static func text(of part: String) -> String? {
    part.rest(afterBytesOf: marker).map(String.init)
  }
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
