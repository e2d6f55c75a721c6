/// The use of a path: decides the message about one that leads to a collection, and whether it may
/// lead to a mixed value.
package enum PathPurpose: Sendable {
  case condition, order, distinct, grouping, aggregate

  fileprivate var takesAnyType: Bool { self == .order || self == .distinct }

  /// The message about a property that is a collection: the rule and the way out.
  fileprivate var ruleOfCollections: String {
    switch self {
    case .condition: "conditions on it need ANY, NONE or @count"
    case .order: "objects cannot be ordered by it. Sort by a property with one value, or in Swift"
    case .distinct, .grouping:
      "objects cannot be distinguished by it. Name properties with one value, or group in Swift"
    case .aggregate:
      "only properties with one value can be aggregated. Use the collection's own min, max, sum "
        + "and average, or iterate over the objects"
    }
  }
}

/// A column of a class, or of a class that is reached through links.
package struct ColumnPath: Hashable, Sendable {
  /// The links to follow first; empty for a column of the class itself.
  package var links: [LinkStep]
  /// The class that has the column.
  package var classID: ClassID
  package var column: ColumnID
  package var type: ColumnType
  package var isOptional: Bool
  /// For a link, the target's class.
  package var target: ClassID?

  /// True if a row may have no value there: the column is optional, or a link on the path may be
  /// nil.
  package var mayBeNull: Bool { isOptional || !links.isEmpty }

  /// Finds the columns of a path of names. Throws if a name is unknown, if one before the last is
  /// not a link, or if there are too many.
  package init(
    _ path: Path, from start: ClassID, in schema: StoreSchema,
    for purpose: PathPurpose = .condition
  ) throws(PredicateError) {
    try PathLimit.check(path)
    guard var owner = schema[start], let last = path.last else {
      throw PredicateError("SELF is an object here: compare a property of it")
    }
    var links: [LinkStep] = []
    for step in path.dropLast() {
      let column = try Self.find(step, in: owner, purpose, path)
      guard column.type == .link, let target = column.target, let next = schema[target] else {
        throw PredicateError(
          "property '\(column.name)' of class '\(owner.name)' is not a link: "
            + "'\(path.text())' cannot continue there")
      }
      links.append(LinkStep(classID: owner.id, column: column.id, target: target))
      owner = next
    }
    let column = try Self.find(last, in: owner, purpose, path)
    self.init(column, of: owner.id, links: links)
  }

  package init(_ column: ColumnSchema, of classID: ClassID, links: [LinkStep] = []) {
    self.links = links
    self.classID = classID
    self.column = column.id
    type = column.type
    // A link may always be nil, whatever the schema says.
    isOptional = column.isOptional || column.type == .link || column.type == .any
    target = column.target
  }

  private static func find(
    _ step: PathStep, in owner: ClassSchema, _ purpose: PathPurpose, _ path: Path
  ) throws(PredicateError) -> ColumnSchema {
    switch step {
    case .property(let name):
      guard let column = owner.named(name) else {
        throw PredicateError(noProperty: name, of: owner, in: path)
      }
      if column.collection == .none, column.type != .any || purpose.takesAnyType {
        return column
      }
      let reason =
        column.collection == .none
        ? "an AnyRealmValue, whose contents queries cannot reach here"
        : "a collection: \(purpose.ruleOfCollections)"
      throw PredicateError("property '\(name)' of class '\(owner.name)' is \(reason)")
    case .backlinks(let origin, let property):
      throw PredicateError(
        "the backlinks of class '\(owner.name)' through '\(origin).\(property)' are a collection: "
          + "conditions on them need ANY, NONE or @count")
    case .element(let element): throw PredicateError(noElement: element, in: path)
    case .keys, .values: throw PredicateError(noProperty: step.description, of: owner, in: path)
    }
  }
}

extension ColumnPath {
  /// The column itself and each link column on the path to it.
  package var dependencies: [QueryDependency] {
    var result: [QueryDependency] = []
    for (index, link) in links.enumerated() {
      result.append(
        QueryDependency(
          links: Array(links[..<index]), classID: link.classID, column: link.column))
    }
    result.append(QueryDependency(links: links, classID: classID, column: column))
    return result
  }
}

/// A link, or a collection of links, that a path follows.
package struct LinkStep: Hashable, Sendable {
  /// The class that has the link.
  package var classID: ClassID
  package var column: ColumnID
  /// The target's class.
  package var target: ClassID
  /// The path goes from the target to the objects that link to it.
  package var isBackwards: Bool

  package init(
    classID: ClassID, column: ColumnID, target: ClassID, isBackwards: Bool = false
  ) {
    self.classID = classID
    self.column = column
    self.target = target
    self.isBackwards = isBackwards
  }
}

/// A column that a query's result depends on, and the links from a row of the query's class to the
/// rows that have it.
package struct QueryDependency: Hashable, Sendable {
  package var links: [LinkStep]
  package var classID: ClassID
  package var column: ColumnID
  /// For backlinks of the rows the class of the origins, which then has the column.
  package var origin: ClassID?

  package init(
    links: [LinkStep], classID: ClassID, column: ColumnID, origin: ClassID? = nil
  ) {
    self.links = links
    self.classID = classID
    self.column = column
    self.origin = origin
  }

  /// True if the rows of the query's class have the column themselves.
  var isInRow: Bool { links.isEmpty && origin == nil }

  /// The rows at the end of the links that changed there.
  func touchedKeys(in changes: ChangeSet) -> KeySet {
    guard let changed = changes[classID] else { return KeySet() }
    if let origin { return changed.backTouchedKeys(from: origin, column) }
    return changed.touchedKeys(in: column)
  }
}
