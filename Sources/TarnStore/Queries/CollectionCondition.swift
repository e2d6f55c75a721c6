/// A condition on the elements of a list, set or map, with the properties by name.
package struct CollectionCondition: Hashable, Sendable {
  package enum Test: Hashable, Sendable {
    /// The number of elements compares so with a number.
    case count(ComparisonOperator, Value)
    /// Some element, or what the path names behind it, compares so with constants.
    case any(ComparisonOperator, Operand, StringOptions)
  }

  /// The collection, reached from the object through the links named before it; behind it, for
  /// objects, the path from an element on.
  package var path: [String]
  package var test: Test

  package init(_ path: [String], _ test: Test) {
    self.path = path
    self.test = test
  }
}

extension CollectionCondition: CustomStringConvertible {
  package var description: String {
    let path = "\(Operand.path(path))"
    switch test {
    case .count(let op, let value): return "\(path).@count \(op) \(value.predicateText)"
    case .any(let op, let right, let options):
      return "ANY \(path) \(op)\(options.contains(.caseInsensitive) ? "[c]" : "") \(right)"
    }
  }
}

/// A collection that a path leads to, and what the path names behind it.
struct CollectionPath {
  private(set) var links: [LinkStep] = []
  private(set) var owner: ClassSchema
  private(set) var column: ColumnSchema
  /// From an element on.
  private(set) var rest: [String]

  /// Throws if a property does not exist, or none of them is a collection.
  init(_ names: [String], from start: ClassID, in schema: StoreSchema) throws(PredicateError) {
    guard var owner = schema[start] else { throw PredicateError("a path needs a class") }
    var steps: [LinkStep] = []
    for (index, name) in names.enumerated() {
      guard let column = owner.named(name) else {
        throw PredicateError("class '\(owner.name)' has no property '\(name)'")
      }
      if column.collection != .none {
        links = steps
        self.owner = owner
        self.column = column
        rest = Array(names[(index + 1)...])
        return
      }
      guard column.type == .link, let target = column.target, let next = schema[target] else {
        throw PredicateError("property '\(name)' of class '\(owner.name)' is no collection")
      }
      steps.append(LinkStep(classID: owner.id, column: column.id, target: target))
      owner = next
    }
    throw PredicateError("'\(names.joined(separator: "."))' leads to no collection")
  }
}
