/// Groups of rows by their values in a column, or one group of all rows, with aggregates of each
/// group. Immutable; any thread may use it.
package final class GroupQuery: Sendable {
  /// Finds the rows to group, unless the caller gives them.
  let query: CompiledQuery
  /// Nil for one group of all rows, which exists even without rows.
  let path: ColumnPath?
  let columns: [AggregateColumn]
  /// The requested aggregates, each with the number of its column.
  private let terms: [(kind: AggregateTerm.Kind, column: Int?)]

  /// - Parameters:
  ///   - query: finds the rows; its order does not matter.
  ///   - path: to a column, optionally reached through to-one links; nil for one group of all rows.
  /// - Throws: for names that the class does not have, or columns that cannot be used this way.
  package init(
    _ query: CompiledQuery, by path: Path?, _ asked: [AggregateTerm], _ schema: StoreSchema
  ) throws(PredicateError) {
    self.path = try path.map { path throws(PredicateError) in
      try Self.column(path, on: query.classID, schema)
    }
    var columns: [AggregateColumn] = []
    var terms: [(kind: AggregateTerm.Kind, column: Int?)] = []
    for term in asked {
      if term.kind == .count, term.column.isEmpty {
        terms.append((.count, nil))
        continue
      }
      let path = try ColumnPath(aggregated: term.column, on: query.classID, in: schema)
      if path.type == .date, term.kind == .sum || term.kind == .average {
        throw PredicateError("dates have no \(term.kind.rawValue): property '\(term.column)'")
      }
      let index = columns.firstIndex { $0.path == path } ?? columns.count
      if index == columns.count { columns.append(AggregateColumn(path: path)) }
      switch term.kind {
      case .sum, .average: columns[index].hasSum = true
      case .min, .max: columns[index].hasExtremes = true
      case .count: break
      }
      terms.append((term.kind, index))
    }
    (self.columns, self.terms) = (columns, terms)
    let read = (self.path.map { [$0] } ?? []) + columns.map(\.path)
    self.query = CompiledQuery(query, reading: read)
  }

  private static func column(
    _ path: Path, on id: ClassID, _ schema: StoreSchema
  ) throws(PredicateError) -> ColumnPath {
    let column = try ColumnPath(path, from: id, in: schema, for: .grouping)
    guard column.type != .link else {
      throw PredicateError(
        "cannot group by property '\(path.text())' of class "
          + "'\(schema[column.classID]?.name ?? "")': it is a link; name a property of its target")
    }
    return column
  }

  /// The columns that are read of each row.
  var read: [ColumnPath] { (path.map { [$0] } ?? []) + columns.map(\.path) }

  // MARK: - States

  /// A group with that many rows.
  func state(_ group: GroupValue, count: Int, _ totals: [ColumnTotals]) -> GroupState {
    let values = terms.map { term -> Value in
      guard let column = term.column else { return .int(Int64(count)) }
      return totals[column].value(term.kind, columns[column].path.type)
    }
    let key = path.map { group.value(of: $0.type) } ?? .null
    return GroupState(key: key, count: count, totals, values: values)
  }

  /// A group without rows.
  func emptyState(_ group: GroupValue) -> GroupState {
    state(group, count: 0, columns.map { ColumnTotals($0) })
  }

  /// The table without any rows.
  package var nothing: GroupTable { table([]) }

  /// - Parameter entries: in any order, one for each group.
  func table(_ entries: [GroupTable.Entry]) -> GroupTable {
    var entries = ContiguousArray(entries)
    if path == nil, entries.isEmpty {
      entries.append(GroupTable.Entry(order: .null, state: emptyState(.null)))
    }
    entries.sort { $0.order < $1.order }
    return GroupTable(OrderStatisticTree(ascending: entries))
  }

  // MARK: - Evaluating

  /// The groups of all rows that the query finds.
  package func evaluate(_ rows: Rows) throws(StorageError) -> GroupTable {
    try table(rows, isOnce: false)
  }

  /// The groups of these objects, which may repeat.
  func evaluate(_ keys: [ObjectKey], _ rows: Rows) throws(StorageError) -> GroupTable {
    try table(keys, rows, isOnce: false)
  }

  /// The aggregates of all rows together, for a caller that reads them once and does not update
  /// them.
  ///
  /// - Parameter keys: the rows, which may repeat; nil for those that the query finds.
  package func values(
    of keys: [ObjectKey]?, _ rows: Rows
  ) throws(StorageError) -> [Value] {
    guard let keys else { return try table(rows, isOnce: true).values(at: 0) }
    return try table(keys, rows, isOnce: true).values(at: 0)
  }

  private func table(_ rows: Rows, isOnce: Bool) throws(StorageError) -> GroupTable {
    var scan = GroupScan(self, rows, isOnce: isOnce)
    try unsafe query.forEachMatch(
      try query.plan(rows), rows, reading: read,
      cluster: { (image, matches) throws(StorageError) in unsafe try scan.append(image, matches) },
      row: { (row, slot) throws(StorageError) in try scan.append(row, slot) })
    return scan.table()
  }

  private func table(
    _ keys: [ObjectKey], _ rows: Rows, isOnce: Bool
  ) throws(StorageError) -> GroupTable {
    var scan = GroupScan(self, rows, isOnce: isOnce)
    if keys.count > 16 { rows.expect(lookups: keys.count, in: query.classID) }
    for key in keys {
      _ = try rows.withRow(query.classID, key) { (row, slot) throws(StorageError) in
        try scan.append(row, slot)
      }
    }
    return scan.table()
  }

  /// The contribution of a row to its group.
  struct Share {
    var group: GroupValue
    /// One value for each column.
    var values: [Scalar]

    /// True if both contribute the same, also in form: 1.10 differs from 1.1.
    fileprivate func isSame(as other: Share) -> Bool {
      group == other.group && values.elementsEqual(other.values) { $0.value == $1.value }
    }
  }

  /// The contribution of an object; nil if it does not exist.
  ///
  /// - Parameter isTested: whether the object must match the condition.
  func share(
    of key: ObjectKey, in rows: Rows, isTested: Bool
  ) throws(StorageError) -> Share? {
    let found = try rows.withRow(query.classID, key) {
      (row, slot) throws(StorageError) -> Share? in
      if isTested, try !query.predicate.matches(row, slot, in: rows) { return nil }
      return Share(
        group: try group(of: row, slot, rows),
        values: columns.map { row.scalar($0.path, slot) })
    }
    return found ?? nil
  }

  /// The group of a row; null's group if a link on the path is nil.
  func group<Cluster: RowReading>(
    of row: Cluster, _ slot: Int, _ rows: Rows
  ) throws(StorageError) -> GroupValue {
    guard let path else { return .null }
    if path.links.isEmpty { return try GroupValue(path, row, slot, rows) }
    let found = try rows.withTarget(row, slot, path.links, from: 0) {
      (row, slot) throws(StorageError) in try GroupValue(path, row, slot, rows)
    }
    return found ?? .null
  }
}

/// Rows added to and removed from groups.
struct GroupDeltas {
  private struct Changed {
    var came: [[Scalar]] = []
    var went: [[Scalar]] = []
  }

  private var groups: [GroupValue: Changed] = [:]

  /// Notes the old and the new state of one row; nil where it is not among the rows.
  mutating func note(from old: GroupQuery.Share?, to new: GroupQuery.Share?) {
    if let old, let new, old.isSame(as: new) { return }
    if let old { groups[old.group, default: Changed()].went.append(old.values) }
    if let new { groups[new.group, default: Changed()].came.append(new.values) }
  }

  var touched: Set<GroupValue> { Set(groups.keys) }

  func applied(to table: GroupTable, _ query: GroupQuery) -> GroupTable {
    var changes: [GroupValue: GroupState?] = [:]
    for (group, changed) in groups {
      let old = table.state(of: group)
      let count = (old?.count ?? 0) + changed.came.count - changed.went.count
      if count == 0, query.path != nil {
        changes.updateValue(nil, forKey: group)
        continue
      }
      var totals = old?.columns ?? query.columns.map { ColumnTotals($0) }
      for column in totals.indices {
        for values in changed.came { totals[column].take(values[column], .added) }
        for values in changed.went { totals[column].take(values[column], .removed) }
      }
      changes[group] = query.state(group, count: count, totals)
    }
    return table.applying(changes, query.emptyState(.null))
  }
}

/// An aggregate over a group's rows, by name.
package struct AggregateTerm: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The number of rows, with or without values.
    case count
    case sum, min, max, average
  }

  package var kind: Kind
  /// A column of the rows' class; empty for `count`.
  package var column: String

  package init(_ kind: Kind, of column: String = "") {
    self.kind = kind
    self.column = column
  }
}

/// An aggregate of a column.
struct AggregateColumn: Sendable {
  let path: ColumnPath
  var hasSum = false
  var hasExtremes = false
}

extension ColumnPath {
  /// The column of that name, which may be in back quotes. Throws for a column that does not exist,
  /// is behind a link, or is neither a number nor a date.
  init(
    aggregated name: String, on classID: ClassID, in schema: StoreSchema
  ) throws(PredicateError) {
    if let problem = Self.problem(ofAggregated: name) {
      let known = (schema[classID]?.columns ?? []).lazy.filter { !$0.isRemoved }.map(\.name)
      let advice = PathText.advice(for: PathText.names(in: name), among: known)
      throw PredicateError(problem + (advice.map { "; \($0)" } ?? ""))
    }
    let name = PathText.name(name)
    self = try ColumnPath([.property(name)], from: classID, in: schema, for: .aggregate)
    guard type.isNumeric || type == .date else {
      throw PredicateError(
        "property '\(name)' of class '\(schema[classID]?.name ?? "")' is of type "
          + "\(typeName(in: schema)), which has no minimum, maximum or sum")
    }
  }

  /// The reason why a path cannot be aggregated; nil for a name.
  package static func problem(ofAggregated name: String) -> String? {
    guard PathText.names(in: name).count > 1 else { return nil }
    return "'\(name)' is not a property of the objects themselves, and only those can be "
      + "aggregated. Go over the objects in Swift instead"
  }
}
