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
    /// About what they come to together, or what a column of theirs does, as a value of that type;
    /// the column is nil for the elements themselves.
    case aggregate(CollectionAggregate, ColumnPath?, ColumnType, ResolvedNode)
    /// About the number of those among them that meet the first node: objects of that class, or
    /// values if it is nil.
    case matching(ClassID?, ResolvedNode, count: ResolvedNode)
    /// What they come to compares so with a column that is reached from where the links begin.
    case total(CollectionTotal, ComparisonOperator, ColumnPath)
    /// About the place whose coordinates the elements are; the column says that they are.
    case location(type: ColumnPath, GeoRegion)
  }

  /// The links to the object that has the collection.
  let links: [LinkStep]
  let classID: ClassID
  let elements: CollectionPath.Elements
  /// The column is a list, set or map.
  let isInCollection: Bool
  let test: Test

  init(_ path: CollectionPath, _ test: Test) {
    links = path.links
    classID = path.owner.id
    elements = path.elements
    isInCollection = path.isInCollection
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
    if case .location(let type, _) = test {
      result.append(QueryDependency(links: links, classID: classID, column: type.column))
    }
    if case .total(_, _, let column) = test { result += column.dependencies }
    guard case (let target, let inner)? = innerDependencies else { return result }
    let way = links + [step(to: target)]
    return result
      + inner.map { inner in
        QueryDependency(
          links: way + inner.links, classID: inner.classID, column: inner.column,
          origin: inner.origin)
      }
  }

  /// What is looked at in the elements, and their class; nil if they are no objects.
  private var innerDependencies: (ClassID, [QueryDependency])? {
    switch test {
    case .object(let target, let node), .matching(let target?, let node, count: _):
      var found: [QueryDependency] = []
      node.forEachDependency { found.append($0) }
      return (target, found)
    case .aggregate(_, let path?, _, _), .total(.aggregate(_, let path?, _), _, _):
      return (path.links.first?.classID ?? path.classID, path.dependencies)
    case .count, .value, .each, .aggregate, .matching, .total, .location: return nil
    }
  }

  private var ownDependency: QueryDependency {
    switch elements {
    case .values(let column), .keys(let column), .at(let column, _):
      QueryDependency(links: links, classID: classID, column: column)
    case .origins(let origin, let column):
      QueryDependency(links: links, classID: classID, column: column, origin: origin)
    }
  }

  /// From the object that has the collection to its elements.
  private func step(to target: ClassID) -> LinkStep {
    switch elements {
    case .values(let column), .keys(let column), .at(let column, _):
      LinkStep(classID: classID, column: column, target: target)
    case .origins(let origin, let column):
      LinkStep(classID: origin, column: column, target: classID, isBackwards: true)
    }
  }

  func matches<Rows: RowReading, Source: RowSource>(
    _ rows: Rows, _ slot: Int, _ source: Source
  ) throws(StorageError) -> Bool {
    if case .total(let total, let op, let column) = test {
      return try compares(total, op, column, rows, slot, source)
    }
    if links.isEmpty { return try matchesHere(rows, slot, source) }
    let found = try source.withTarget(rows, slot, links, from: 0) {
      (rows, slot) throws(StorageError) in try matchesHere(rows, slot, source)
    }
    return found ?? holdsBehindNothing
  }

  private func matchesHere<Rows: RowReading, Source: RowSource>(
    _ rows: Rows, _ slot: Int, _ source: Source
  ) throws(StorageError) -> Bool {
    if case .location(let type, let region) = test {
      return try isWithin(region, type, rows, slot, source)
    }
    guard case .at(let column, let steps) = elements else {
      return try matches(of: rows.key(at: slot), source)
    }
    return try matches(
      at: steps, column, isCollection: isInCollection, rows, slot, source)
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
        try meets(value, target, node, source)
      }
    case .matching(let target, let node, let count):
      var met = 0
      _ = try contains(of: owner, source) { (value) throws(StorageError) in
        if try passes(value, target, node, source) { met += 1 }
        return false
      }
      return count.passes(.int(Int64(met)))
    case .aggregate(let aggregate, let path, let type, let node):
      let fold = try fold(path, of: owner, source)
      return node.passes(aggregate.result(of: fold, as: type))
    case .each(let nodes):
      guard try count(of: owner, source) == nodes.count else { return false }
      var position = 0
      return try !contains(of: owner, source) { value in
        position += 1
        return !nodes[position - 1].passes(value)
      }
    case .total, .location: trap("this has its own way to be asked: bug in this package")
    }
  }

  /// Whether an element meets a node, which is about objects of a class or about values.
  func passes<Source: RowSource>(
    _ element: Value, _ target: ClassID?, _ node: ResolvedNode, _ source: Source
  ) throws(StorageError) -> Bool {
    guard let target else { return node.passes(element) }
    return try meets(element, target, node, source)
  }

  func meets<Source: RowSource>(
    _ element: Value, _ target: ClassID, _ node: ResolvedNode, _ source: Source
  ) throws(StorageError) -> Bool {
    guard case .link(let key) = element else { return false }
    let found = try source.withRow(target, key) { (rows, slot) throws(StorageError) in
      try node.matches(rows, slot, source)
    }
    return found == true
  }

  /// All elements, or what a column of theirs has.
  func fold<Source: RowSource>(
    _ path: ColumnPath?, of owner: ObjectKey, _ source: Source
  ) throws(StorageError) -> ValueFold {
    var fold = ValueFold()
    _ = try contains(of: owner, source) { (element) throws(StorageError) in
      guard let path else {
        fold.add(element)
        return false
      }
      guard case .link(let key) = element else { return false }
      let start = path.links.first?.classID ?? path.classID
      let value = try source.withRow(start, key) { (rows, slot) throws(StorageError) in
        try source.scalar(path, rows, slot)
      }
      fold.add(value?.value ?? .null)
      return false
    }
    return fold
  }

  func count<Source: RowSource>(
    of owner: ObjectKey, _ source: Source
  ) throws(StorageError) -> Int {
    switch elements {
    case .values(let column), .keys(let column), .at(let column, _):
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
    case .at: trap("a value of any type has its own way to be asked: bug in this package")
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

  func place(_ column: ColumnID, _ owner: ObjectKey) -> SequencePlace {
    SequencePlace(classID: classID, key: owner, column: column)
  }
}

extension CollectionAggregate {
  /// A sum of integers that no integer can be is the nearest one.
  func result(of fold: ValueFold, as type: ColumnType) -> Value {
    let result =
      switch self {
      case .minimum: fold.min
      case .maximum: fold.max
      case .average: fold.average
      case .sum: fold.sum
      }
    switch (type, result) {
    case (.int, .double(let value)): return .int(value > 0 ? .max : .min)
    case (.double, .int(let value)): return .double(Double(value))
    case (.decimal, .int(let value)): return .decimal(DecimalNumber(value).cell)
    case (.decimal, .double(let value)): return .decimal(DecimalNumber(shortest: value).cell)
    default: return result
    }
  }
}

extension RowSource {
  /// The value at the end of a path, null behind a link that leads nowhere.
  func scalar<Rows: RowReading>(
    _ path: ColumnPath, _ rows: Rows, _ slot: Int
  ) throws(StorageError) -> Scalar {
    if path.links.isEmpty { return rows.scalar(path, slot) }
    let found = try withTarget(rows, slot, path.links, from: 0) { rows, slot in
      rows.scalar(path, slot)
    }
    return found ?? .null
  }
}
