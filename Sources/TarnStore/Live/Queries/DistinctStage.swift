/// A stage of a query after its own order, by name: it keeps the first of the rows with equal
/// values, and may sort the remaining rows.
package struct DistinctTerm: Hashable, Sendable {
  /// Properties, optionally reached through to-one links.
  package var paths: [Path]
  /// The order of the remaining rows; without terms they keep theirs.
  package var order: [OrderTerm]

  package init(_ paths: [Path], order: [OrderTerm] = []) {
    self.paths = paths
    self.order = order
  }
}

/// A stage bound to the columns of a class. Immutable; any thread may use it.
///
/// Null is a value like any other; all NaN are one value, and so are 0 and -0 and equal decimals;
/// strings are compared byte by byte. In mixed values, numbers are equal whatever their types, and
/// a list or a map equals nothing. Rows for which a link along a path is nil are dropped.
struct DistinctStage: Sendable {
  let paths: [ColumnPath]
  let order: ResolvedOrder

  /// Throws, with the names of class and property, for a property that does not exist, and for a
  /// link, which has no separate value.
  init(
    _ term: DistinctTerm, on classID: ClassID, in schema: StoreSchema
  ) throws(PredicateError) {
    var resolved: [ColumnPath] = []
    for path in term.paths {
      let column = try ColumnPath(path, from: classID, in: schema, for: .distinct)
      guard column.type != .link else {
        throw PredicateError(
          "cannot distinguish objects by property '\(path.text())' of class "
            + "'\(schema[column.classID]?.name ?? "")': it is a link; name a property of its target"
        )
      }
      resolved.append(column)
    }
    paths = resolved
    order = try ResolvedOrder(term.order, on: classID, in: schema)
  }

  var dependencies: [QueryDependency] { paths.flatMap(\.dependencies) + order.dependencies }

  /// The values that distinguish a row from others; nil for a dropped row.
  func group<Cluster: RowReading>(
    of cluster: Cluster, _ slot: Int, _ rows: Rows
  ) throws(StorageError) -> [GroupValue]? {
    var values: [GroupValue] = []
    values.reserveCapacity(paths.count)
    for path in paths {
      guard let value = try value(path, cluster, slot, rows) else { return nil }
      values.append(value)
    }
    return values
  }

  private func value<Cluster: RowReading>(
    _ path: ColumnPath, _ cluster: Cluster, _ slot: Int, _ rows: Rows
  ) throws(StorageError) -> GroupValue? {
    if path.links.isEmpty { return try GroupValue(path, cluster, slot, rows) }
    return try rows.withTarget(cluster, slot, path.links, from: 0) {
      (cluster, slot) throws(StorageError) in try GroupValue(path, cluster, slot, rows)
    }
  }
}

/// A value in a form in which equal values are identical.
enum GroupValue: Hashable {
  case scalar(Scalar)
  case bytes([UInt8])
  /// For a mixed column.
  case any(AnyKey)

  /// The value of a row at the end of the path.
  init<Cluster: RowReading>(
    _ path: ColumnPath, _ cluster: Cluster, _ slot: Int, _ rows: Rows
  ) throws(StorageError) {
    if path.type == .any {
      let value = try rows.anyValue(cluster, slot, path.classID, path.column)
      self = .any(AnyKey(value, of: cluster.key(at: slot)))
      return
    }
    guard path.type == .string || path.type == .data else {
      self = .scalar(cluster.scalar(path, slot))
      return
    }
    self = try unsafe rows.withText(cluster, slot, path) { bytes in
      guard let bytes = unsafe bytes else { return .scalar(.null) }
      return unsafe .bytes([UInt8](bytes))
    }
  }
}

/// A mixed value as a key of distinct rows.
struct AnyKey: Hashable {
  private let element: ElementKey
  /// For a list or map, each of which is different: the row that has it.
  private let row: ObjectKey?

  var value: Value { element.value }

  init(_ value: Value, of row: ObjectKey) {
    element = ElementKey(value)
    switch value {
    case .list, .map: self.row = row
    default: self.row = nil
    }
  }
}

extension CompiledQuery {
  /// All objects of the class that match, through every stage.
  package func evaluateStages(_ rows: Rows) throws(StorageError) -> ElementRows {
    let keys = try evaluate(rows).keys
    return try throughStages(ElementRows(keys, Array(keys.indices)), rows)
  }

  /// The rows that the stages after the order keep. Reads every row.
  func throughStages(
    _ derived: ElementRows, _ rows: Rows
  ) throws(StorageError) -> ElementRows {
    var derived = derived
    for stage in stages { derived = try through(stage, derived, rows) }
    return derived
  }

  private func through(
    _ stage: DistinctStage, _ derived: ElementRows, _ rows: Rows
  ) throws(StorageError) -> ElementRows {
    var seen: Set<[GroupValue]> = []
    var keys: [ObjectKey] = []
    var positions: [Int] = []
    let buffer = stage.order.terms.isEmpty ? nil : SortBuffer(stage.order, source: rows)
    if derived.keys.count > 16 { rows.expect(lookups: derived.keys.count, in: classID) }
    for (key, position) in zip(derived.keys, derived.positions) {
      let isFirst = try rows.withRow(classID, key) { (row, slot) throws(StorageError) in
        guard let group = try stage.group(of: row, slot, rows), seen.insert(group).inserted
        else { return false }
        try buffer?.append(row, slot)
        return true
      }
      guard isFirst == true else { continue }
      keys.append(key)
      positions.append(position)
    }
    guard let buffer else { return ElementRows(keys, positions) }
    let sorted = try buffer.sortAsAppended()
    return ElementRows(sorted.map { keys[$0] }, sorted.map { positions[$0] })
  }

  /// False if every row keeps its position after `changes`, and no row was added.
  package func mayRearrange(_ changes: ChangeSet) -> Bool {
    if changes.schemaChanged { return true }
    if let own = changes[classID],
      own.isCleared || !own.inserted.isEmpty || !own.deleted.isEmpty
    {
      return true
    }
    return mayReorder(changes)
  }

  /// False if `changes` change neither the matches nor their positions.
  func mayReorder(_ changes: ChangeSet) -> Bool {
    dependencies.contains { !$0.touchedKeys(in: changes).isEmpty }
  }
}
