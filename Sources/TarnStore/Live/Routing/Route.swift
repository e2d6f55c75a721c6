/// How changes find a live source: by the values of the rows that they affect.
///
/// Every row of the source passes its condition, so the row has one of the values that a part of
/// the condition accepts. The source is filed under these values. A change of the source's content,
/// or of a row that it shows, goes back to a row that the change set affects and that is among the
/// source's rows before or after it; so the old or the new values of an affected row lead to the
/// source. This holds for changes of any column: one that only orders or shows leads to the source
/// by the value that the row has where the source is filed.
package struct Route: Sendable {
  /// The class of the rows.
  package let classID: ClassID
  /// Sets of parts, each of which suffices: a row of the source has a value of one of the parts in
  /// it. The narrowest kind only; at least one.
  let choices: [[RoutePart]]
  /// Columns behind links that the source depends on.
  private(set) var linked: [QueryDependency]
  /// What the source itself looks at, besides its observers.
  private(set) var scopes: [BoundScope] = []

  /// - Returns: nil if the source has to be asked.
  init?(_ query: CompiledQuery) {
    let found = RouteBuilder().narrowestChoices(of: query.predicate.root)
    if found.isEmpty { return nil }
    classID = query.classID
    choices = found.map { $0.all.map(\.filed) }
    linked = query.linkedDependencies
  }

  /// The route of a collection of objects: changes of these lead to it over their links backwards.
  ///
  /// - Parameters:
  ///   - place: the collection.
  ///   - classID: the class of its elements.
  init(elementsOf place: SequencePlace, _ classID: ClassID) {
    self.classID = classID
    choices = [[RoutePart(owner: place)]]
    linked = []
  }

  /// The same for elements of a collection that match a query.
  init?(_ query: CompiledQuery, elementsOf place: SequencePlace) {
    let found = RouteBuilder().narrowestChoices(of: query.predicate.root)
    let isNested = place.nested != nil
    if isNested, found.isEmpty { return nil }
    let owner = isNested ? [] : [[RoutePart(owner: place)]]
    classID = query.classID
    choices =
      owner + found.filter { isNested || $0.hasValuesOnly }.map { $0.all.map(\.filed) }
    linked = query.linkedDependencies
  }

  /// The route of the objects that link to one through a column with one link.
  init(linkingTo target: ObjectRef, through path: ColumnPath) {
    classID = path.classID
    let value = RouteValue.point(RouteHash(OrderKey(target.key)).value)
    choices = [[RoutePart(place: .value(path), values: [value])]]
    linked = []
  }

  /// The choices of a query in words; none if it has to be asked.
  static func texts(
    of query: CompiledQuery, _ schema: SchemaView, ofValuesOnly: Bool = false
  ) -> [String] {
    let found = RouteBuilder().narrowestChoices(of: query.predicate.root)
    return found.filter { !ofValuesOnly || $0.hasValuesOnly }.map { choice in
      let texts = choice.all.map { $0.text.text(schema) }
      return texts.isEmpty ? "nothing" : texts.joined(separator: " OR ")
    }
  }

  /// The same for a source that depends on these columns, too.
  func depending(on query: CompiledQuery) -> Route {
    var route = self
    route.linked += query.linkedDependencies.filter { !linked.contains($0) }
    return route
  }

  /// The same for a source that itself looks that far.
  package func looking(as far: BoundScope) -> Route {
    var route = self
    route.scopes.append(far)
    return route
  }
}

/// Where a router looks for the values of an affected row.
enum RoutePlace: Hashable, Sendable {
  /// The value at the end of a path.
  case value(ColumnPath)
  /// The objects of a class whose collection in a column has the row.
  case owner(ClassID, ColumnID)
}

/// Values at one place under which a source is filed.
struct RoutePart: Sendable {
  let place: RoutePlace
  let values: [RouteValue]

  init(place: RoutePlace, values: [RouteValue]) {
    self.place = place
    self.values = values
  }

  /// The owner of a collection.
  init(owner collection: SequencePlace) {
    place = .owner(collection.classID, collection.column)
    values = [.point(RouteHash(OrderKey(collection.key)).value)]
  }
}

/// Finds the parts of a condition under which a source can be filed.
private struct RouteBuilder {
  /// More ranges than this are filed as the one that contains all of them.
  private static let mostValues = 64
  /// With more ranges than this, those of two conditions are not intersected.
  private static let mostIntersected = 256

  /// A test of one column as ranges of values.
  struct Part {
    let path: ColumnPath
    var ranges: [PackedIndexRange]
    var text: RouteText

    /// Narrow kinds first; a column behind links after others of its kind.
    var rank: Int { kind.rawValue * 2 + (path.links.isEmpty ? 0 : 1) }

    private enum Kind: Int { case values, prefixes, betweenBounds, frequentValues, open }

    private var kind: Kind {
      var kind = Kind.values
      for range in ranges {
        let own: Kind =
          switch RouteValue(range) {
          case .point: isFrequent(range) ? .frequentValues : .values
          case .prefix: .prefixes
          case .range: range.lower == nil || range.upper == nil ? .open : .betweenBounds
          }
        if own.rawValue > kind.rawValue { kind = own }
      }
      if ranges.count > RouteBuilder.mostValues, kind.rawValue < Kind.betweenBounds.rawValue {
        return .betweenBounds
      }
      return kind
    }

    private func isFrequent(_ value: PackedIndexRange) -> Bool {
      path.type == .bool || value.lower?.key.holdsValue == false
    }

    var filed: RoutePart {
      let isLong = ranges.count > RouteBuilder.mostValues
      return RoutePart(
        place: .value(path), values: isLong ? [.hull(of: ranges)] : ranges.map { RouteValue($0) })
    }
  }

  /// Parts of which a row has to pass at least one.
  struct Choice {
    var all: [Part]
    var rank: Int { all.map(\.rank).max() ?? 0 }
    /// It has single values of the row itself, which is as narrow as it can be.
    var hasValuesOnly: Bool { rank == 0 }
  }

  private static let mostChoices = 8

  /// The choices of the narrowest kind; none if sources with the condition have to be asked.
  func narrowestChoices(of node: ResolvedNode) -> [Choice] {
    let found = choices(of: node).map { (rank: $0.rank, choice: $0) }
    let least = found.map(\.rank).min()
    return found.filter { $0.rank == least }.prefix(Self.mostChoices).map(\.choice)
  }

  private func choices(of node: ResolvedNode) -> [Choice] {
    switch node {
    case .constant(let value): value ? [] : [Choice(all: [])]
    case .test(let test): choice(of: test)
    case .collection(let test): choice(of: test)
    case .and(let nodes): conjunction(nodes)
    case .or(let nodes): disjunction(nodes)
    case .pair, .not: []
    }
  }

  private func choice(of test: ColumnPredicate) -> [Choice] {
    guard !test.isNegated, let ranges = test.test.valueRanges(test.path.type) else { return [] }
    return [Choice(all: [Part(path: test.path, ranges: ranges, text: .test(test))])]
  }

  /// A mixed value itself is a column, too.
  private func choice(of test: CollectionPredicate) -> [Choice] {
    guard case .at(_, []) = test.elements, !test.way.isInCollection, test.links.isEmpty,
      case .some(let element) = test.test, element.target == nil
    else { return [] }
    return choices(of: element.node)
  }

  /// Any part suffices; those of one column are one.
  private func conjunction(_ nodes: [ResolvedNode]) -> [Choice] {
    var found: [Choice] = []
    for choice in nodes.flatMap(choices) {
      if choice.all.count == 1, intersect(choice.all[0], with: &found) { continue }
      found.append(choice)
    }
    return found
  }

  private func intersect(_ part: Part, with found: inout [Choice]) -> Bool {
    for index in found.indices where found[index].all.count == 1 {
      let other = found[index].all[0]
      guard other.path == part.path,
        other.ranges.count * part.ranges.count <= Self.mostIntersected
      else { continue }
      found[index].all[0].ranges = other.ranges.flatMap { a in
        part.ranges.compactMap { a.intersection($0) }
      }
      found[index].all[0].text = .both(other.text, part.text)
      return true
    }
    return false
  }

  /// All parts are needed.
  private func disjunction(_ nodes: [ResolvedNode]) -> [Choice] {
    var united: [Part] = []
    for node in nodes {
      guard let best = choices(of: node).min(by: { $0.rank < $1.rank }) else { return [] }
      for part in best.all {
        if let index = united.firstIndex(where: { $0.path == part.path }) {
          united[index].ranges += part.ranges
          united[index].text = .either(united[index].text, part.text)
        } else {
          united.append(part)
        }
      }
    }
    return [Choice(all: united)]
  }
}
