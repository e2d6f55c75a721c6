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
    part.hasPrefix(marker) ? String(part.dropFirst(marker.count)) : nil
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

/// How a path names the objects that link to one through a property of theirs:
/// `@links.Person.dogs`, one name with dots, in which those of class and property are quoted.
package struct BacklinkName: CustomStringConvertible {
  private static let prefix = CollectionCondition.marker + "@links."
  package let origin: String
  package let property: String

  package init(origin: String, property: String) {
    self.origin = origin
    self.property = property
  }

  /// Nil for the name of a property.
  init?(_ name: String) {
    guard name.hasPrefix(Self.prefix) else { return nil }
    let names = PathText.names(in: String(name.dropFirst(Self.prefix.count)))
    guard names.count == 2 else { return nil }
    self.init(origin: names[0], property: names[1])
  }

  /// As it stands in a path.
  package var name: String { Self.prefix + PathText.text(of: [origin, property]) }
  package var description: String { "'\(origin).\(property)'" }
}

/// A collection that a path leads to, and what the path names behind it.
struct CollectionPath {
  /// Where the elements come from.
  enum Elements: Hashable {
    /// A list or set, or a map, of which the values.
    case values(ColumnID)
    case keys(ColumnID)
    /// The objects of a class whose column links to the object.
    case origins(ClassID, ColumnID)
    /// What the steps lead to from a collection on, or from a value of any type.
    case at(ColumnID, [ValueStep])
  }

  let links: [LinkStep]
  /// The class of the object that has the collection.
  let owner: ClassSchema
  let elements: Elements
  /// What describes an element; of what links to an object a link to the class of that.
  let column: ColumnSchema
  /// From an element on.
  let rest: [String]
  /// True unless a column of any type has the value.
  var isInCollection = true

  /// True if the path leads into a collection or a value of any type, to one element of it or to
  /// each.
  var hasSteps: Bool { if case .at = elements { true } else { false } }

  /// True if the path leads to one element of a collection, if it is there at all.
  var leadsToOneElement: Bool {
    if case .at(_, let steps) = elements { isInCollection && !steps.contains(.each) } else { false }
  }

  /// Throws if a property does not exist, or none of them is a collection.
  init(_ names: [String], from start: ClassID, in schema: StoreSchema) throws(PredicateError) {
    guard let found = try Self.find(names, from: start, in: schema) else {
      throw PredicateError("'\(Operand.path(names))' does not lead to a collection")
    }
    self = found
  }

  /// The first collection of a path; nil if it follows to-one links only.
  ///
  /// - Throws: where the path goes on behind something that leads nowhere, or has too many names.
  static func find(
    _ names: [String], from start: ClassID, in schema: StoreSchema
  ) throws(PredicateError) -> CollectionPath? {
    try PathLimit.check(names)
    guard var owner = schema[start] else { throw PredicateError("a path needs a class") }
    var steps: [LinkStep] = []
    for (index, name) in names.enumerated() {
      let rest = Array(names[(index + 1)...])
      if let backlinks = BacklinkName(name) {
        return try CollectionPath(backlinks, to: owner, steps, rest, schema)
      }
      guard let column = owner.named(name) else {
        throw PredicateError(noProperty: name, of: owner, in: names)
      }
      if column.collection != .none || column.type == .any {
        return try CollectionPath(column, of: owner, steps, rest, names)
      }
      if index + 1 == names.count { return nil }
      guard column.type == .link, let target = column.target, let next = schema[target] else {
        if ValueStep(rest[0]) != nil {
          throw PredicateError(noProperty: rest[0], of: owner, in: names)
        }
        throw PredicateError(
          "property '\(name)' of class '\(owner.name)' is neither a link nor a collection: "
            + "'\(Operand.path(names))' leads nowhere")
      }
      steps.append(LinkStep(classID: owner.id, column: column.id, target: target))
      owner = next
    }
    return nil
  }

  private init(
    _ column: ColumnSchema, of owner: ClassSchema, _ links: [LinkStep], _ rest: [String],
    _ names: [String]
  ) throws(PredicateError) {
    self.links = links
    self.owner = owner
    var rest = rest
    if column.collection == .map, rest.count > 1, rest[0] == CollectionCondition.mapValues,
      ValueStep(rest[1]) != nil
    {
      // On from each value.
      rest[0] = ValueStep.each.name
    }
    let steps = Array(rest.lazy.map { ValueStep($0) }.prefix { $0 != nil }.compactMap(\.self))
    if !steps.isEmpty || column.collection == .none {
      try Self.check(steps, into: column, of: owner, names)
      var element = column
      (element.collection, element.isOptional) = (.none, true)
      self.column = element
      isInCollection = column.collection != .none
      elements = .at(column.id, steps)
      self.rest = Array(rest.dropFirst(steps.count))
      return
    }
    var (column, areKeys) = (column, false)
    if column.collection == .map, let first = rest.first,
      [CollectionCondition.mapKeys, CollectionCondition.mapValues].contains(first)
    {
      areKeys = first == CollectionCondition.mapKeys
      rest.removeFirst()
    }
    elements = areKeys ? .keys(column.id) : .values(column.id)
    if areKeys {
      (column.type, column.isOptional, column.target) = (.string, false, nil)
    }
    self.column = column
    self.rest = rest
  }

  private static func check(
    _ steps: [ValueStep], into column: ColumnSchema, of owner: ClassSchema, _ names: [String]
  ) throws(PredicateError) {
    let property = "property '\(column.name)' of class '\(owner.name)'"
    if let first = steps.first, let mistake = first.mistake(into: column.collection) {
      throw PredicateError("\(mistake): \(property) in \(Operand.path(names))")
    }
    if column.collection != .none, column.type != .any, steps.count > 1 {
      throw PredicateError(
        "the elements of \(property) have no elements of their own: \(Operand.path(names))")
    }
  }

  private init(
    _ name: BacklinkName, to owner: ClassSchema, _ links: [LinkStep], _ rest: [String],
    _ schema: StoreSchema
  ) throws(PredicateError) {
    guard let origin = schema.classes.first(where: { $0.name == name.origin }) else {
      throw PredicateError("there is no class '\(name.origin)' that could link here")
    }
    guard var column = origin.named(name.property) else {
      throw PredicateError(noProperty: name.property, of: origin, in: [])
    }
    guard column.type == .link, column.target == owner.id else {
      throw PredicateError("\(name) does not link to objects of class '\(owner.name)'")
    }
    self.links = links
    self.owner = owner
    elements = .origins(origin.id, column.id)
    (column.target, column.isOptional) = (origin.id, false)
    self.column = column
    self.rest = rest
  }
}
