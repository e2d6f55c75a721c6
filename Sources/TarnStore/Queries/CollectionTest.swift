/// A condition on the elements of a collection, bound to its column, or on what links to an object.
final class CollectionTest: Hashable, Sendable {
  enum Test: Hashable, Sendable {
    /// About their number.
    case count(ResolvedNode)
    /// About some value among them.
    case value(ResolvedNode)
    /// About some object among them, which is of that class.
    case object(ClassID, ResolvedNode)
    /// About each of them in turn: there are as many.
    case each([ResolvedNode])
  }

  /// The links to the object that has the collection.
  let links: [LinkStep]
  let classID: ClassID
  let elements: CollectionPath.Elements
  let test: Test

  init(_ path: CollectionPath, _ test: Test) {
    links = path.links
    classID = path.owner.id
    elements = path.elements
    self.test = test
  }

  static func == (a: CollectionTest, b: CollectionTest) -> Bool {
    a === b
      || (a.links == b.links && a.classID == b.classID && a.elements == b.elements
        && a.test == b.test)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(links)
    hasher.combine(classID)
    hasher.combine(elements)
    hasher.combine(test)
  }

  /// The links to the collection, the collection, and what is looked at in its objects.
  var dependencies: [QueryDependency] {
    var result: [QueryDependency] = []
    for (index, link) in links.enumerated() {
      result.append(
        QueryDependency(
          links: Array(links[..<index]), classID: link.classID, column: link.column))
    }
    result.append(ownDependency)
    guard case .object(let target, let node) = test else { return result }
    let way = links + [step(to: target)]
    node.forEachDependency { inner in
      result.append(
        QueryDependency(
          links: way + inner.links, classID: inner.classID, column: inner.column,
          origin: inner.origin))
    }
    return result
  }

  private var ownDependency: QueryDependency {
    switch elements {
    case .values(let column), .keys(let column):
      QueryDependency(links: links, classID: classID, column: column)
    case .origins(let origin, let column):
      QueryDependency(links: links, classID: classID, column: column, origin: origin)
    }
  }

  /// From the object that has the collection to its elements.
  private func step(to target: ClassID) -> LinkStep {
    switch elements {
    case .values(let column), .keys(let column):
      LinkStep(classID: classID, column: column, target: target)
    case .origins(let origin, let column):
      LinkStep(classID: origin, column: column, target: classID, isBackwards: true)
    }
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
    if case .count(let node) = test { return node.passes(.null) }
    return false
  }

  private func matches<Source: RowSource>(
    of owner: ObjectKey, _ source: Source
  ) throws(StorageError) -> Bool {
    switch test {
    case .count(let node):
      return node.passes(.int(Int64(try count(of: owner, source))))
    case .value(let node):
      return try contains(of: owner, source) { value in node.passes(value) }
    case .object(let target, let node):
      return try contains(of: owner, source) { (value) throws(StorageError) in
        guard case .link(let key) = value else { return false }
        let found = try source.withRow(target, key) { (rows, slot) throws(StorageError) in
          try node.matches(rows, slot, source)
        }
        return found == true
      }
    case .each(let nodes):
      guard try count(of: owner, source) == nodes.count else { return false }
      var position = 0
      return try !contains(of: owner, source) { value in
        position += 1
        return !nodes[position - 1].passes(value)
      }
    }
  }

  private func count<Source: RowSource>(
    of owner: ObjectKey, _ source: Source
  ) throws(StorageError) -> Int {
    switch elements {
    case .values(let column), .keys(let column):
      return try source.elementCount(of: place(column, owner))
    case .origins(let origin, let column):
      let target = LinkTarget(classID: classID, key: owner)
      return try source.origins(of: target, in: origin, through: column).count
    }
  }

  private func contains<Source: RowSource>(
    of owner: ObjectKey, _ source: Source, _ passes: (Value) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    var isMet = false
    switch elements {
    case .values(let column):
      try source.forEachElement(of: place(column, owner)) { (value) throws(StorageError) in
        isMet = try passes(value)
        return !isMet
      }
    case .keys(let column):
      try source.forEachKey(of: place(column, owner)) { (key) throws(StorageError) in
        isMet = try passes(.string(key))
        return !isMet
      }
    case .origins(let origin, let column):
      let target = LinkTarget(classID: classID, key: owner)
      for key in try source.origins(of: target, in: origin, through: column) {
        if try passes(.link(key)) { return true }
      }
    }
    return isMet
  }

  private func place(_ column: ColumnID, _ owner: ObjectKey) -> SequencePlace {
    SequencePlace(classID: classID, key: owner, column: column)
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
