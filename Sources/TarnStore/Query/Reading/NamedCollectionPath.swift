/// A collection at which a path arrives, and the rest of the path.
struct NamedCollectionPath {
  /// The source of the elements.
  enum Elements: Hashable {
    /// A list or set, or the values of a map.
    case values(ColumnID)
    case keys(ColumnID)
    /// The objects of a class whose column links to the object.
    case origins(ClassID, ColumnID)
    /// The values that the steps lead to, from a collection or from a mixed value.
    case at(ColumnID, [ValueStep])
  }

  let links: [LinkStep]
  /// The class of the object that has the collection.
  let owner: ClassSchema
  let elements: Elements
  /// Describes an element; for backlinks, a link to the class of the origins.
  let column: ColumnSchema
  /// The path from an element on.
  let rest: Path
  /// False if the value is that of a mixed column.
  var isInCollection = true

  /// True if the path continues into a collection or a mixed value, to one element of it or to
  /// each.
  var hasSteps: Bool { if case .at = elements { true } else { false } }

  /// True if the path leads to at most one element of a collection.
  var leadsToOneElement: Bool {
    if case .at(_, let steps) = elements { isInCollection && !steps.contains(.each) } else { false }
  }

  /// Throws if a property does not exist, or none of them is a collection.
  init(_ path: Path, from start: ClassID, in schema: StoreSchema) throws(PredicateError) {
    guard let found = try Self.find(path, from: start, in: schema) else {
      throw PredicateError("'\(path.text())' does not lead to a collection")
    }
    self = found
  }

  /// The first collection of a path; nil if it follows only to-one links.
  ///
  /// - Throws: if the path continues after a property that is neither a link nor a collection, or
  ///   has too many names.
  static func find(
    _ path: Path, from start: ClassID, in schema: StoreSchema
  ) throws(PredicateError) -> NamedCollectionPath? {
    try PathLimit.check(path)
    guard var owner = schema[start] else { throw PredicateError("a path needs a class") }
    var links: [LinkStep] = []
    for (index, step) in path.enumerated() {
      let rest = Array(path[(index + 1)...])
      if case .backlinks(let origin, let property) = step {
        return try NamedCollectionPath(origin, property, to: owner, links, rest, schema)
      }
      let (column, name) = try owner.column(at: step, in: path)
      if column.collection != .none || column.type == .any {
        return try NamedCollectionPath(column, of: owner, links, rest, path)
      }
      guard let next = rest.first else { return nil }
      guard column.type == .link, let target = column.target, let targetClass = schema[target]
      else {
        if let element = next.element { throw PredicateError(noElement: element, in: path) }
        throw PredicateError(
          "property '\(name)' of class '\(owner.name)' is neither a link nor a collection: "
            + "'\(path.text())' cannot continue there")
      }
      links.append(LinkStep(classID: owner.id, column: column.id, target: target))
      owner = targetClass
    }
    return nil
  }

  private init(
    _ column: ColumnSchema, of owner: ClassSchema, _ links: [LinkStep], _ rest: Path,
    _ path: Path
  ) throws(PredicateError) {
    self.links = links
    self.owner = owner
    var rest = rest
    if column.collection == .map, rest.count > 1, rest[0] == .values, rest[1].element != nil {
      // Continues from each value.
      rest[0] = .element(.each)
    }
    let steps = Array(rest.lazy.map(\.element).prefix { $0 != nil }.compactMap(\.self))
    if !steps.isEmpty || column.collection == .none {
      try Self.check(steps, into: column, of: owner, path)
      var element = column
      (element.collection, element.isOptional) = (.none, true)
      self.column = element
      isInCollection = column.collection != .none
      elements = .at(column.id, steps)
      self.rest = Array(rest.dropFirst(steps.count))
      return
    }
    var (column, areKeys) = (column, false)
    if column.collection == .map, let first = rest.first, [.keys, .values].contains(first) {
      areKeys = first == .keys
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
    _ steps: [ValueStep], into column: ColumnSchema, of owner: ClassSchema, _ path: Path
  ) throws(PredicateError) {
    let property = "property '\(column.name)' of class '\(owner.name)'"
    if let first = steps.first, let mistake = first.mistake(into: column.collection) {
      throw PredicateError("\(mistake): \(property) in \(path.text())")
    }
    if column.collection != .none, column.type != .any, steps.count > 1 {
      throw PredicateError(
        "the elements of \(property) have no elements of their own: \(path.text())")
    }
  }

  private init(
    _ originName: String, _ property: String, to owner: ClassSchema, _ links: [LinkStep],
    _ rest: Path, _ schema: StoreSchema
  ) throws(PredicateError) {
    guard let origin = schema.classes.first(where: { $0.name == originName }) else {
      throw PredicateError("there is no class '\(originName)' that could link here")
    }
    guard var column = origin.named(property) else {
      throw PredicateError(noProperty: property, of: origin, in: [])
    }
    guard column.type == .link, column.target == owner.id else {
      throw PredicateError(
        "'\(originName).\(property)' does not link to objects of class '\(owner.name)'")
    }
    self.links = links
    self.owner = owner
    elements = .origins(origin.id, column.id)
    (column.target, column.isOptional) = (origin.id, false)
    self.column = column
    self.rest = rest
  }
}

extension ClassSchema {
  /// The column that a step from an object names.
  fileprivate func column(
    at step: PathStep, in path: Path
  ) throws(PredicateError) -> (ColumnSchema, name: String) {
    switch step {
    case .property(let name):
      guard let column = named(name) else {
        throw PredicateError(noProperty: name, of: self, in: path)
      }
      return (column, name)
    case .element(let element): throw PredicateError(noElement: element, in: path)
    case .keys, .values, .backlinks:
      throw PredicateError(noProperty: step.description, of: self, in: path)
    }
  }
}
