/// A step of a query behind its own order, by name: of rows with the same values the first one
/// stays, and what is left may be put into another order.
package struct DistinctTerm: Hashable, Sendable {
  /// Properties, reached through to-one links or not.
  package var paths: [[String]]
  /// The order of the rows that are left; without terms they stay as they are.
  package var order: [OrderTerm]

  package init(_ paths: [[String]], order: [OrderTerm] = []) {
    self.paths = paths
    self.order = order
  }
}

/// The same, bound to the columns of a class. Immutable; any thread may use it.
///
/// Null is a value as any other, all NaN are one, and so are 0 and -0 and decimals that are equal;
/// text is compared byte by byte. Of mixed values numbers are equal whatever their types, and
/// a list or a map equals nothing. Rows for which a link along a path leads nowhere are dropped.
struct DistinctStage: Sendable {
  let paths: [ColumnPath]
  let order: ResolvedOrder

  /// Throws, with the names of class and property, for a property that does not exist, and for one
  /// that has no value of its own (a link).
  init(
    _ term: DistinctTerm, on classID: ClassID, in schema: StoreSchema
  ) throws(PredicateError) {
    var resolved: [ColumnPath] = []
    for names in term.paths {
      let path = try ColumnPath(names, from: classID, in: schema, for: .distinct)
      guard path.type != .link else {
        throw PredicateError(
          "cannot distinguish objects by property '\(Operand.path(names))' of class "
            + "'\(schema[path.classID]?.name ?? "")': it is a link; name a property of its target")
      }
      resolved.append(path)
    }
    paths = resolved
    order = try ResolvedOrder(term.order, on: classID, in: schema)
  }

  var dependencies: [QueryDependency] { paths.flatMap(\.dependencies) + order.dependencies }

  /// What tells a row from others; nil for one that is dropped.
  func group<Rows: RowReading, Source: RowSource>(
    of rows: Rows, _ slot: Int, _ source: Source
  ) throws(StorageError) -> [GroupValue]? {
    var values: [GroupValue] = []
    values.reserveCapacity(paths.count)
    for path in paths {
      guard let value = try value(path, rows, slot, source) else { return nil }
      values.append(value)
    }
    return values
  }

  private func value<Rows: RowReading, Source: RowSource>(
    _ path: ColumnPath, _ rows: Rows, _ slot: Int, _ source: Source
  ) throws(StorageError) -> GroupValue? {
    if path.links.isEmpty { return try GroupValue(path, rows, slot, source) }
    return try source.withTarget(rows, slot, path.links, from: 0) {
      (rows, slot) throws(StorageError) in try GroupValue(path, rows, slot, source)
    }
  }
}

/// A value in a form in which equal ones are the same.
enum GroupValue: Hashable {
  case scalar(Scalar)
  case bytes([UInt8])
  /// Of a mixed column.
  case any(AnyKey)

  /// The value of a row at the end of the path.
  init<Rows: RowReading, Source: RowSource>(
    _ path: ColumnPath, _ rows: Rows, _ slot: Int, _ source: Source
  ) throws(StorageError) {
    if path.type == .any {
      let value = try source.anyValue(rows, slot, path.classID, path.column)
      self = .any(AnyKey(value, of: rows.key(at: slot)))
      return
    }
    guard path.type == .string || path.type == .data else {
      self = .scalar(rows.scalar(path, slot))
      return
    }
    self = try unsafe source.withText(rows, slot, path) { bytes in
      guard let bytes = unsafe bytes else { return .scalar(.null) }
      return unsafe .bytes([UInt8](bytes))
    }
  }
}

/// A mixed value that rows are made distinct by.
struct AnyKey: Hashable {
  private let element: ElementKey
  /// Of a list or a map, each of which is different: the row that has it.
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
  package func evaluateStages(_ rows: StoreRows) throws(StorageError) -> ElementRows {
    let keys = try evaluate(rows).keys
    return try throughStages(ElementRows(keys, Array(keys.indices)), rows)
  }

  /// What the stages behind the order leave of rows. Reads every one of them.
  func throughStages(
    _ derived: ElementRows, _ rows: StoreRows
  ) throws(StorageError) -> ElementRows {
    var derived = derived
    for stage in stages { derived = try through(stage, derived, rows) }
    return derived
  }

  private func through(
    _ stage: DistinctStage, _ derived: ElementRows, _ rows: StoreRows
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

  /// False if every row is after `changes` where it was before, and no other has come.
  package func mayRearrange(_ changes: ChangeSet) -> Bool {
    if changes.schemaChanged { return true }
    if let own = changes[classID],
      own.isCleared || !own.inserted.isEmpty || !own.deleted.isEmpty
    {
      return true
    }
    return mayReorder(changes)
  }

  /// False if every object matches after `changes` as it did before, and keeps its position.
  func mayReorder(_ changes: ChangeSet) -> Bool {
    dependencies.contains { !$0.touchedKeys(in: changes).isEmpty }
  }
}
