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
