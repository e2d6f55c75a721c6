/// A condition on the elements of a collection, or on backlinks, bound to its column.
final class CollectionPredicate: Hashable, Sendable {
  enum Test: Hashable, Sendable {
    /// Tests whether some element matches.
    case some(ElementCondition)
    /// Tests each element in turn: the numbers of elements and of nodes are equal.
    case each([ResolvedNode])
    /// Tests a number computed from the elements.
    case figure(CollectionFigure, ResolvedNode)
    /// Tests the place whose coordinates are the elements; the column holds the type of the place.
    case location(type: ColumnPath, GeoRegion)
  }

  let way: ResolvedCollectionPath
  let test: Test

  init(_ path: NamedCollectionPath, _ test: Test) {
    way = ResolvedCollectionPath(path)
    self.test = test
  }

  /// The links to the object that has the collection.
  var links: [LinkStep] { way.links }
  var classID: ClassID { way.classID }
  var elements: NamedCollectionPath.Elements { way.elements }

  static func == (a: CollectionPredicate, b: CollectionPredicate) -> Bool {
    a === b || (a.way == b.way && a.test == b.test)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(way)
    hasher.combine(test)
  }

  /// The links to the collection, the collection, and the dependencies in its objects.
  var dependencies: [QueryDependency] {
    var result = way.dependencies
    if case .location(let type, _) = test {
      result.append(QueryDependency(links: links, classID: classID, column: type.column))
    }
    guard case (let target, let inner)? = innerDependencies else { return result }
    return result + way.dependencies(of: inner, from: target)
  }

  /// The dependencies in the elements, and their class; nil if they are not objects.
  private var innerDependencies: (ClassID, [QueryDependency])? {
    switch test {
    case .some(let element): element.dependencies
    case .figure(let figure, _): figure.dependencies
    case .each, .location: nil
    }
  }

  func matches<Cluster: RowReading>(
    _ cluster: Cluster, _ slot: Int, _ rows: Rows
  ) throws(StorageError) -> Bool {
    if links.isEmpty { return try matchesHere(cluster, slot, rows) }
    let found = try rows.withTarget(cluster, slot, links, from: 0) {
      (cluster, slot) throws(StorageError) in try matchesHere(cluster, slot, rows)
    }
    return found ?? holdsBehindNothing
  }

  private func matchesHere<Cluster: RowReading>(
    _ cluster: Cluster, _ slot: Int, _ rows: Rows
  ) throws(StorageError) -> Bool {
    if case .location(let type, let region) = test {
      return try isWithin(region, type, cluster, slot, rows)
    }
    guard way.hasSteps else { return try matches(of: cluster.key(at: slot), rows) }
    return try way.containsHere(cluster, slot, rows) { (value, place) throws(StorageError) in
      try matches(value, in: place, rows)
    }
  }

  private func matches(
    of owner: ObjectKey, _ rows: Rows
  ) throws(StorageError) -> Bool {
    switch test {
    case .figure(let figure, let node):
      return node.passes(try figure.value(of: way, owner, rows))
    case .some(let condition):
      return try way.contains(of: owner, rows) { (element) throws(StorageError) in
        try condition.accepts(element, rows)
      }
    case .each(let nodes):
      guard try way.count(of: owner, rows) == nodes.count else { return false }
      var position = 0
      return try !way.contains(of: owner, rows) { value in
        position += 1
        return !nodes[position - 1].passes(value)
      }
    case .location: trap("internal error: this condition is evaluated elsewhere")
    }
  }
}

/// A condition on one element of a collection: an object of that class, or a value if it is nil.
struct ElementCondition: Hashable, Sendable {
  let target: ClassID?
  let node: ResolvedNode

  init(_ target: ClassID?, _ node: ResolvedNode) {
    self.target = target
    self.node = node
  }

  /// The dependencies in the elements, and their class; nil if they are not objects.
  fileprivate var dependencies: (ClassID, [QueryDependency])? {
    guard let target else { return nil }
    var found: [QueryDependency] = []
    node.forEachDependency { found.append($0) }
    return (target, found)
  }

  /// The result for an element that does not exist.
  fileprivate var holdsBehindNothing: Bool {
    target == nil ? node.passes(.null) : node.holdsBehindNothing
  }

  func accepts(
    _ element: Value, _ rows: Rows
  ) throws(StorageError) -> Bool {
    guard let target else { return node.passes(element) }
    guard case .link(let key) = element else { return false }
    let found = try rows.withRow(target, key) { (cluster, slot) throws(StorageError) in
      try node.matches(cluster, slot, rows)
    }
    return found == true
  }
}

/// A number computed from a collection.
enum CollectionFigure: Hashable, Sendable {
  case count
  /// An aggregate of the elements, or of a column of theirs, as a value of that type.
  case aggregate(CollectionAggregate, ColumnPath?, ColumnType)
  /// The number of elements that match.
  case matching(ElementCondition)

  /// The dependencies in the elements, and their class; nil if they are not objects.
  var dependencies: (ClassID, [QueryDependency])? {
    switch self {
    case .matching(let element): element.dependencies
    case .aggregate(_, let path?, _):
      (path.links.first?.classID ?? path.classID, path.dependencies)
    case .count, .aggregate: nil
    }
  }

  /// The figure of an object's collection.
  func value(
    of way: ResolvedCollectionPath, _ owner: ObjectKey, _ rows: Rows
  ) throws(StorageError) -> Value {
    switch self {
    case .count: return .int(Int64(try way.count(of: owner, rows)))
    case .aggregate(let aggregate, let path, let type):
      return aggregate.result(of: try way.fold(aggregate.part, path, of: owner, rows), as: type)
    case .matching(let element):
      var met = 0
      _ = try way.contains(of: owner, rows) { (value) throws(StorageError) in
        if try element.accepts(value, rows) { met += 1 }
        return false
      }
      return .int(Int64(met))
    }
  }

  /// The figure of a list or map within a mixed value; null for other values.
  func value(
    of value: Value, in place: SequencePlace, _ rows: Rows
  ) throws(StorageError) -> Value {
    guard let id = value.collection else { return .null }
    switch self {
    case .count: return .int(Int64(try rows.elementCount(of: place.nested(id))))
    case .matching(let condition):
      var met = 0
      try rows.forEachElement(of: place.nested(id)) { (element) throws(StorageError) in
        if try condition.accepts(element, rows) { met += 1 }
        return true
      }
      return .int(Int64(met))
    case .aggregate: return .null
    }
  }
}

extension CollectionAggregate {
  /// The part of a fold that the aggregate needs.
  var part: ValueFold.Part {
    switch self {
    case .minimum, .maximum: .ends
    case .average, .sum: .totals
    }
  }

  /// A sum of integers out of range is a decimal.
  func result(of fold: ValueFold, as type: ColumnType) -> Value {
    let result =
      switch self {
      case .minimum: fold.ends.least
      case .maximum: fold.ends.greatest
      case .average: fold.totals.average
      case .sum: type == .int ? fold.totals.exactSum : fold.totals.sum
      }
    switch (type, result) {
    case (.double, .int(let value)): return .double(Double(value))
    case (.decimal, .int(let value)): return .decimal(DecimalNumber(value).cell)
    case (.decimal, .double(let value)): return .decimal(DecimalNumber(shortest: value).cell)
    default: return result
    }
  }
}

extension CollectionPredicate {
  private static let pointType = Array("Point".utf8)

  /// Whether the row stores a place within a region.
  func isWithin<Cluster: RowReading>(
    _ region: GeoRegion, _ type: ColumnPath, _ cluster: Cluster, _ slot: Int, _ rows: Rows
  ) throws(StorageError) -> Bool {
    guard case .values(let column) = elements else { return false }
    let isPoint = try unsafe rows.withText(cluster, slot, type) { bytes in
      guard let bytes = unsafe bytes else { return false }
      return unsafe bytes.elementsEqual(Self.pointType)
    }
    guard isPoint else { return false }
    var numbers: [Double] = []
    try rows.forEachElement(of: way.place(column, cluster.key(at: slot))) { value in
      if case .double(let number) = value { numbers.append(number) } else { numbers.append(.nan) }
      return numbers.count < 2
    }
    guard numbers.count == 2,
      let place = GeoPosition(latitude: numbers[1], longitude: numbers[0])
    else { return false }
    return region.contains(place)
  }
}

extension CollectionPredicate {
  /// Whether a value at the end of the steps passes the test.
  func matches(
    _ value: Value, in place: SequencePlace, _ rows: Rows
  ) throws(StorageError) -> Bool {
    switch test {
    case .some(let element):
      value == .null ? element.holdsBehindNothing : try element.accepts(value, rows)
    case .figure(let figure, let node):
      node.passes(try figure.value(of: value, in: place, rows))
    case .each, .location: false
    }
  }

  /// The result behind a nil link.
  var holdsBehindNothing: Bool {
    switch (way.namesOne, test) {
    // Nothing exists from which a number could be computed.
    case (_, .figure(_, let node)): node.passes(.null)
    case (true, .some(let element)): element.holdsBehindNothing
    case (false, .some), (_, .each), (_, .location): false
    }
  }
}

extension ResolvedNode {
  /// The result if a path leads nowhere, so that every value is null.
  var holdsBehindNothing: Bool {
    holds { node in
      switch node {
      case .test(let test): test.acceptsNull
      case .pair(let pair): pair.holdsBehindNothing
      case .collection(let test): test.holdsBehindNothing
      case .constant, .not, .and, .or: trap("a compound condition is evaluated by its parts")
      }
    }
  }
}
