/// How indexes lead to the rows that may match a condition: the possibilities for a predicate and a
/// schema, before rows are counted. `QueryPlan` chooses among them.
///
/// An access leads to candidates: every matching row is among them.
indirect enum RowAccess: Sendable {
  /// Rows by their object keys, if the primary key is the object key: ascending, disjoint ranges.
  case keys([ClosedRange<Int64>])
  /// Rows by the entries of an index.
  case entries(IndexEntries)
  /// Each of these leads to all rows: for a conjunction.
  case oneOf([RowAccess])
  /// All of these together lead to all rows: for a disjunction.
  case union([RowAccess])
  /// Rows with links to rows of another class, which an access of that class leads to.
  case behind(AccessBehindLinks)
}

/// An access to rows of another class, and the links to it.
struct AccessBehindLinks: Sendable {
  let links: [LinkStep]
  let access: RowAccess
  /// The class at the end of the links.
  let classID: ClassID
}

/// Entries of one index.
struct IndexEntries: Sendable {
  let index: PackedIndex
  /// The columns of the index: one, or those of a unique rule.
  let columns: [ColumnID]
  /// In any order; no entry is in two ranges.
  var ranges: [PackedIndexRange]
  /// If the index is over links, how their targets were found: the last step first.
  var origin: [QueryPlan.Step] = []
}

/// An access, and whether it leads only to rows that match.
struct RowAccessOption: Sendable {
  var access: RowAccess
  var isExact: Bool
}

extension RowAccessOption {
  /// How indexes lead to the rows of a predicate; nil without a usable index.
  init?(_ predicate: ResolvedPredicate, _ schema: SchemaView) {
    let builder = RowAccessBuilder(schema: schema[predicate.classID], all: schema)
    guard let option = builder.option(for: predicate.root) else { return nil }
    self = option
  }
}

private struct RowAccessBuilder {
  let schema: ClassSchema
  let all: SchemaView

  /// With more ranges than this they are not intersected with others: the rows are tested instead.
  private static let mostIntersected = 256
  /// The maximum number of accesses of a conjunction that are compared.
  private static let mostOptions = 64

  func option(for node: ResolvedNode) -> RowAccessOption? {
    switch node {
    case .constant(let value):
      value ? nil : RowAccessOption(access: .keys([]), isExact: true)
    case .test(let test): option(for: test)
    case .collection(let test): option(for: test)
    case .and(let nodes): conjunction(nodes)
    case .or(let nodes): disjunction(nodes)
    case .pair, .not: nil
    }
  }

  private func option(for test: ColumnPredicate) -> RowAccessOption? {
    // A row whose link is nil has no entry.
    guard !test.isNegated, test.path.links.isEmpty || !test.acceptsNull else { return nil }
    if !test.path.links.isEmpty {
      var path = test.path
      path.links = []
      return behind(test.path.links, .test(ColumnPredicate(path, test.test)), path.classID)
    }
    let column = schema[test.path.column]
    if schema.keyIsPrimary, column.id == schema.primaryKey {
      guard case .int(let domain) = test.test else { return nil }
      return RowAccessOption(access: .keys(domain.ranges), isExact: true)
    }
    guard schema.hasIndex(column), let found = test.test.indexRanges(column) else { return nil }
    return option(column, found.ranges, isExact: found.isExact)
  }

  /// An access to the objects at the end of links also leads to the rows that have the links.
  private func behind(
    _ links: [LinkStep], _ node: ResolvedNode, _ id: ClassID
  ) -> RowAccessOption? {
    let builder = RowAccessBuilder(schema: all[id], all: all)
    guard links.allSatisfy({ all[$0.classID].hasIndex(all[$0.classID][$0.column]) }),
      let option = builder.option(for: node)
    else { return nil }
    let access = AccessBehindLinks(links: links, access: option.access, classID: id)
    return RowAccessOption(access: .behind(access), isExact: false)
  }

  /// The index over the links leads to objects that link to one through a list or set; the index
  /// over the values leads to objects with a mixed value.
  private func option(for test: CollectionPredicate) -> RowAccessOption? {
    if case .at(_, []) = test.elements, !test.way.isInCollection,
      case .some(let element) = test.test, element.target == nil
    {
      if test.links.isEmpty { return option(for: element.node) }
      return test.holdsBehindNothing ? nil : behind(test.links, element.node, test.classID)
    }
    guard case .values(let column) = test.elements, case .some(let some) = test.test else {
      return nil
    }
    if let target = some.target {
      let step = LinkStep(classID: test.classID, column: column, target: target)
      return behind(test.links + [step], some.node, target)
    }
    guard test.links.isEmpty, schema[column].type == .link, case .test(let element) = some.node,
      !element.isNegated, let found = element.test.indexRanges(schema[column])
    else { return nil }
    return option(schema[column], found.ranges, isExact: found.isExact)
  }

  private func option(
    _ column: ColumnSchema, _ ranges: [PackedIndexRange], isExact: Bool
  ) -> RowAccessOption {
    let entries = IndexEntries(
      index: PackedIndex(schema.id, column.id), columns: [column.id], ranges: ranges)
    return RowAccessOption(access: .entries(entries), isExact: isExact)
  }

  private func disjunction(_ nodes: [ResolvedNode]) -> RowAccessOption? {
    var all: [RowAccess] = []
    var isExact = true
    for node in nodes {
      guard let option = option(for: node) else { return nil }
      all.append(option.access)
      isExact = isExact && option.isExact
    }
    return RowAccessOption(access: .union(all), isExact: isExact)
  }

  /// Conditions on one column form one range; among several columns any one suffices.
  private func conjunction(_ nodes: [ResolvedNode]) -> RowAccessOption? {
    var options: [RowAccess] = []
    var isExact = true
    for node in nodes {
      guard let option = option(for: node) else {
        isExact = false
        continue
      }
      isExact = isExact && option.isExact
      if merge(option.access, into: &options) { continue }
      if options.count < Self.mostOptions {
        options.append(option.access)
      } else {
        isExact = false
      }
    }
    options += uniqueAccesses(nodes)
    // Following links determines their cost, so they are tried last.
    options = options.filter { !$0.isBehindLinks } + options.filter(\.isBehindLinks)
    guard let first = options.first else { return nil }
    if options.count == 1 { return RowAccessOption(access: first, isExact: isExact) }
    return RowAccessOption(access: .oneOf(options), isExact: false)
  }

  private func merge(_ access: RowAccess, into options: inout [RowAccess]) -> Bool {
    for (number, option) in options.enumerated() {
      switch (option, access) {
      case (.keys(let a), .keys(let b)) where a.count * b.count <= Self.mostIntersected:
        options[number] = .keys(a.flatMap { a in b.compactMap { a.intersection($0) } })
        return true
      case (.entries(var a), .entries(let b))
      where a.index == b.index && schema[a.columns[0]].collection == .none
        && a.ranges.count * b.ranges.count <= Self.mostIntersected:
        a.ranges = a.ranges.flatMap { a in b.ranges.compactMap { a.intersection($0) } }
        options[number] = .entries(a)
        return true
      default: continue
      }
    }
    return false
  }

  /// The unique rules all of whose columns must have a given value.
  private func uniqueAccesses(_ nodes: [ResolvedNode]) -> [RowAccess] {
    if schema.uniqueRules.isEmpty { return [] }
    var values: [ColumnID: Value] = [:]
    for case .test(let test) in nodes where test.path.links.isEmpty && !test.isNegated {
      values[test.path.column] = test.onlyValue
    }
    return schema.uniqueRules.enumerated().compactMap { number, columns in
      let sought = columns.compactMap { values[$0] }
      guard sought.count == columns.count,
        let key = UniqueKey(sought, columns.map { schema[$0] })
      else { return nil }
      return .entries(
        IndexEntries(
          index: PackedIndex(schema.id, uniqueRule: number), columns: columns,
          ranges: [.equal(key.order)]))
    }
  }
}

extension RowAccess {
  fileprivate var isBehindLinks: Bool {
    switch self {
    case .keys, .entries: false
    case .behind: true
    case .oneOf(let all), .union(let all): all.contains(where: \.isBehindLinks)
    }
  }
}

extension ClosedRange {
  fileprivate func intersection(_ other: ClosedRange) -> ClosedRange? {
    let (low, high) = (
      Swift.max(lowerBound, other.lowerBound), Swift.min(upperBound, other.upperBound)
    )
    return low <= high ? low...high : nil
  }
}

extension Domain<Int64> {
  fileprivate var ranges: [ClosedRange<Int64>] {
    switch self {
    case .range(let low, let high): [low...high]
    case .set(let values): values.map { $0...$0 }
    }
  }
}

/// Reads indexes, including the entries of an open write.
///
/// A write keeps its new entries in an unordered list. So within a write an index leads to more
/// rows than requested: all rows in which the write set that column are included, and each has to
/// be tested.
extension Rows {
  /// False in a migration, whose rows are not those of the file.
  var hasIndexes: Bool { session == nil || session?.schema === reader.schema }

  /// True if the open write has touched the class.
  func isEdited(_ id: ClassID) -> Bool { session?.classes[id] != nil }

  func edit(_ entries: IndexEntries) -> ClassEdit? {
    session?.classes[entries.index.classID]
  }

  /// The maximum number of rows that the entries lead to; may stop counting above `most`.
  func count(of entries: IndexEntries, atMost most: Int) throws(StorageError) -> Int {
    var sum = 0
    if let edit = edit(entries) {
      // Entries of unique rules are made only at the end.
      guard entries.index.isOfColumn else { return .max }
      sum = edit.index(entries.columns[0])?.changes.count ?? 0
      if edit.isCleared { return sum }
    }
    for range in entries.ranges where sum <= most {
      sum += try reader.withCursor { cursor throws(StorageError) in
        try entries.index.count(in: range, atMost: most - sum, &cursor)
      }
    }
    return sum
  }

  /// Calls `body` with the rows that the entries lead to, some more than once.
  func forEachKey(
    of entries: IndexEntries, _ body: (ObjectKey) -> Void
  ) throws(StorageError) {
    if let edit = edit(entries) {
      edit.index(entries.columns[0])?.changes.forEachAdded(body)
      if edit.isCleared { return }
    }
    for range in entries.ranges {
      try reader.withCursor { cursor throws(StorageError) in
        try entries.index.forEachKey(in: range, &cursor) { key in
          body(key)
          return true
        }
      }
    }
  }
}
