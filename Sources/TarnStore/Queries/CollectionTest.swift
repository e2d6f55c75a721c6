/// A condition on the elements of a collection, bound to its column.
final class CollectionTest: Hashable, Sendable {
  enum Elements: Hashable, Sendable {
    /// About their number.
    case count(ResolvedNode)
    /// About some value among them.
    case value(ResolvedNode)
    /// About some object among them, which is of that class.
    case object(ClassID, ResolvedNode)
  }

  /// The links to the object that has the collection.
  let links: [LinkStep]
  let classID: ClassID
  let column: ColumnID
  let elements: Elements

  init(_ path: CollectionPath, _ elements: Elements) {
    links = path.links
    classID = path.owner.id
    column = path.column.id
    self.elements = elements
  }

  static func == (a: CollectionTest, b: CollectionTest) -> Bool {
    a === b
      || (a.links == b.links && a.classID == b.classID && a.column == b.column
        && a.elements == b.elements)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(links)
    hasher.combine(classID)
    hasher.combine(column)
    hasher.combine(elements)
  }

  /// The links to the collection, the collection, and what is looked at in its objects.
  var dependencies: [QueryDependency] {
    var result: [QueryDependency] = []
    for (index, link) in links.enumerated() {
      result.append(
        QueryDependency(
          links: Array(links[..<index]), classID: link.classID, column: link.column))
    }
    result.append(QueryDependency(links: links, classID: classID, column: column))
    guard case .object(let target, let node) = elements else { return result }
    let way = links + [LinkStep(classID: classID, column: column, target: target)]
    node.forEachDependency { inner in
      result.append(
        QueryDependency(links: way + inner.links, classID: inner.classID, column: inner.column))
    }
    return result
  }

  func matches<Rows: RowReading, Source: RowSource>(
    _ rows: Rows, _ slot: Int, _ source: Source
  ) throws(StorageError) -> Bool {
    if links.isEmpty { return try matches(of: rows.key(at: slot), source) }
    let found = try source.withTarget(rows, slot, links, from: 0) {
      (rows, slot) throws(StorageError) in try matches(of: rows.key(at: slot), source)
    }
    if let found { return found }
    // Behind a link that leads nowhere is nothing that could be counted.
    if case .count(let node) = elements { return node.passes(.null) }
    return false
  }

  private func matches<Source: RowSource>(
    of owner: ObjectKey, _ source: Source
  ) throws(StorageError) -> Bool {
    let place = SequencePlace(classID: classID, key: owner, column: column)
    var isMet = false
    switch elements {
    case .count(let node):
      return node.passes(.int(Int64(try source.elementCount(of: place))))
    case .value(let node):
      try source.forEachElement(of: place) { value in
        isMet = node.passes(value)
        return !isMet
      }
    case .object(let target, let node):
      try source.forEachElement(of: place) { (value) throws(StorageError) in
        guard case .link(let key) = value else { return true }
        let found = try source.withRow(target, key) { (rows, slot) throws(StorageError) in
          try node.matches(rows, slot, source)
        }
        isMet = found == true
        return !isMet
      }
    }
    return isMet
  }
}

extension ResolvedNode {
  /// Whether a value passes that is in no row: an element, or a number of elements.
  func passes(_ value: Value) -> Bool {
    switch self {
    case .constant(let result): result
    case .test(let test): test.passes(value)
    case .not(let node): !node.passes(value)
    case .and(let nodes): nodes.allSatisfy { $0.passes(value) }
    case .or(let nodes): nodes.contains { $0.passes(value) }
    case .pair, .collection: trap("an element has no columns: bug in this package")
    }
  }
}

extension ColumnTest {
  fileprivate func passes(_ value: Value) -> Bool {
    if value == .null { return acceptsNull }
    return hasPassed(value) != isNegated
  }

  private func hasPassed(_ value: Value) -> Bool {
    switch (test, value) {
    case (.isNaN, .double(let value)): value.isNaN
    case (.isNaN, .float(let value)): value.isNaN
    case (.isNaN, .decimal(let cell)): DecimalNumber(cell).isNaN
    case (.int(let domain), .int(let value)): domain.contains(value)
    case (.int(let domain), .link(let key)): domain.contains(key.rawValue)
    case (.bool(let wanted), .bool(let value)): value == wanted
    case (.double(let domain), .double(let value)): domain.contains(value)
    case (.float(let domain), .float(let value)): domain.contains(value)
    case (.decimal(let domain), .decimal(let cell)): domain.contains(DecimalNumber(cell).order)
    case (.date(let domain), .date(let value)): domain.contains(value)
    case (.bytes12(let domain), .objectID(let value)): domain.contains(value)
    case (.bytes16(let domain), .uuid(let value)): domain.contains(value)
    case (.text(let pattern), .string(let text)): pattern.matches(Array(text.utf8))
    case (.text(let pattern), .data(let bytes)): pattern.matches(bytes)
    default: false
    }
  }
}

extension TextPattern {
  fileprivate func matches(_ bytes: [UInt8]) -> Bool {
    unsafe bytes.withUnsafeBytes { unsafe matches($0) }
  }
}

extension PredicateBuilder {
  func node(_ condition: CollectionCondition) throws(PredicateError) -> ResolvedNode {
    let path = try CollectionPath(condition.path, from: classID, in: schema)
    switch condition.test {
    case .count(let op, let value):
      guard path.rest.isEmpty else {
        throw PredicateError("@count stands behind a collection: \(condition)")
      }
      var number = ColumnPath(path.column, of: path.owner.id)
      number.type = .int
      number.isOptional = !path.links.isEmpty
      number.target = nil
      let names = condition.path + ["@count"]
      let builder = ConstantBuilder(number, names, classID, schema, false)
      return .collection(CollectionTest(path, .count(try builder.node(op, value))))
    case .any(let op, let right, let options):
      return try any(path, condition, Comparison(.path(path.rest), op, right, options))
    }
  }

  private func any(
    _ path: CollectionPath, _ condition: CollectionCondition, _ comparison: Comparison
  ) throws(PredicateError) -> ResolvedNode {
    if case .path = comparison.right {
      throw PredicateError("a condition through a collection needs a value: \(condition)")
    }
    if !path.rest.isEmpty {
      guard path.column.type == .link, let target = path.column.target else {
        throw PredicateError(
          "the elements of property '\(path.column.name)' of class '\(path.owner.name)' are no "
            + "objects: \(condition)")
      }
      let builder = PredicateBuilder(classID: target, schema: schema)
      let node = try builder.node(.comparison(comparison), depth: 0)
      return .collection(CollectionTest(path, .object(target, node)))
    }
    guard path.column.type != .any else {
      throw PredicateError(
        "property '\(path.column.name)' of class '\(path.owner.name)' has elements of any type, "
          + "which queries cannot look into")
    }
    let element = ColumnPath(path.column, of: path.owner.id)
    let folds = comparison.options.contains(.caseInsensitive)
    let builder = ConstantBuilder(element, condition.path, classID, schema, folds)
    let node =
      switch comparison.right {
      case .values(let values): try builder.node(anyOf: values)
      case .value(let value): try builder.node(comparison.op, value)
      case .path: ResolvedNode.constant(false)
      }
    return .collection(CollectionTest(path, .value(node)))
  }
}
