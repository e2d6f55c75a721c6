import TarnStore

/// A query bound to a schema: what it reads, which rows match, which comes first, and which rows a
/// change may concern.
final class CompiledQuery {
  let classID: ClassID
  let predicate: ResolvedPredicate
  let order: ResolvedOrder
  /// Columns of the class itself that decide membership, and those that decide the order.
  private let memberColumns: Set<ColumnID>
  private let orderColumns: Set<ColumnID>
  /// Columns behind one link that decide either.
  private let linked: [LinkedColumn]
  /// Links of the class: a change of what they point to modifies the row.
  private let links: [LinkStep]

  private struct LinkedColumn {
    var link: LinkStep
    var column: ColumnID
    var decidesOrder: Bool
  }

  /// Which rows a change concerns.
  struct TouchedRows {
    /// May have come, gone, or changed place.
    var candidates = KeySet()
    /// Must be placed anew even if they stay.
    var repositioned = KeySet()
    /// Show other data than before.
    var modified = KeySet()
    /// Keys that name another object than before.
    var replaced = KeySet()
  }

  /// - Throws: names of the query that the class does not have, or types that do not fit.
  init(_ spec: QuerySpec, _ id: ClassID, _ schema: SchemaView) throws(PredicateError) {
    classID = id
    predicate = try ResolvedPredicate(spec.predicate, on: id, in: schema.schema)
    order = try ResolvedOrder(
      spec.order.map { OrderTerm($0.keyPath, isAscending: $0.ascending) }, on: id,
      in: schema.schema)
    var linked: [LinkedColumn] = []
    func own(_ dependencies: [QueryDependency], decidesOrder: Bool) -> Set<ColumnID> {
      var columns: Set<ColumnID> = []
      for dependency in dependencies {
        if let link = dependency.links.first {
          linked.append(
            LinkedColumn(link: link, column: dependency.column, decidesOrder: decidesOrder))
        } else {
          columns.insert(dependency.column)
        }
      }
      return columns
    }
    memberColumns = own(predicate.dependencies, decidesOrder: false)
    orderColumns = own(order.dependencies, decidesOrder: true)
    self.linked = linked
    links = schema[id].columns.compactMap { column in
      guard column.type == .link, !column.isRemoved, let target = column.target else { return nil }
      return LinkStep(classID: id, column: column.id, target: target)
    }
  }

  var isUnfiltered: Bool { predicate.constant == true }
  var isUnsorted: Bool { order.terms.isEmpty }

  // MARK: - Evaluating

  /// The rows that match now, in order.
  func evaluate(_ rows: StoreRows) throws(StorageError) -> OrderedRoot {
    let scan = PredicateScan(predicate, source: rows)
    if isUnsorted {
      var keys: [ObjectKey] = []
      try rows.forEachImage(in: classID) { image throws(StorageError) in
        if try scan.evaluate(image) > 0 {
          scan.forEachMatch { slot in keys.append(image.key(at: slot)) }
        }
        return true
      }
      return OrderedRoot(keyed: KeySet(keys))
    }
    let buffer = SortBuffer(order, source: rows)
    try rows.forEachImage(in: classID) { image throws(StorageError) in
      if try scan.evaluate(image) > 0 { try buffer.append(image, scan.matches) }
      return true
    }
    return OrderedRoot(sorted: try buffer.sort())
  }

  func matches(_ key: ObjectKey, _ rows: StoreRows) throws(StorageError) -> Bool {
    try predicate.matches(key, in: rows)
  }

  /// The order of two rows by what they hold now; keys decide between equal ones.
  func comparator(_ rows: StoreRows) -> OrderComparator<StoreRows> {
    OrderComparator(order, source: rows)
  }

  // MARK: - Changes

  /// False if `changes` cannot concern the rows or what they show.
  func isConcerned(by changes: ChangeSet) -> Bool {
    if changes[classID] != nil || changes.schemaChanged { return true }
    return links.contains { changes[$0.target] != nil }
  }

  func touchedRows(
    _ changes: ChangeSet, _ rows: StoreRows, among root: OrderedRoot
  ) throws(StorageError) -> TouchedRows {
    var touched = TouchedRows()
    if let own = changes[classID] {
      let gone = own.isCleared ? KeySet(root.keys) : own.deleted
      touched.replaced = own.inserted.intersection(gone)
      touched.candidates = own.inserted.union(gone)
      touched.repositioned = touched.replaced
      for entry in own.touched {
        touched.modified.formUnion(entry.keys)
        if orderColumns.contains(entry.column) { touched.repositioned.formUnion(entry.keys) }
        if memberColumns.contains(entry.column) { touched.candidates.formUnion(entry.keys) }
      }
      touched.candidates.formUnion(touched.repositioned)
    }
    for dependency in linked {
      guard let keys = changes[dependency.link.target]?.touchedKeys(in: dependency.column),
        !keys.isEmpty
      else { continue }
      let origins = try origins(of: keys, through: dependency.link, rows, among: nil)
      touched.candidates.formUnion(origins)
      if dependency.decidesOrder { touched.repositioned.formUnion(origins) }
    }
    for link in links {
      guard let target = changes[link.target] else { continue }
      let keys = target.touchedKeys(in: .all)
      guard !keys.isEmpty else { continue }
      let origins = try origins(of: keys, through: link, rows, among: root)
      touched.modified.formUnion(origins)
    }
    return touched
  }

  /// The rows whose link points to one of `targets`. Goes backwards through the index of the link,
  /// or, where a hub has more origins than the result has rows, forwards through the result.
  private func origins(
    of targets: KeySet, through link: LinkStep, _ rows: StoreRows, among root: OrderedRoot?
  ) throws(StorageError) -> KeySet {
    let budget = root.map { 1_000 + 4 * $0.count } ?? .max
    var origins: [ObjectKey] = []
    for target in targets {
      origins += try rows.keys(in: classID, where: link.column, is: .link(target))
      guard let root, origins.count > budget else { continue }
      return try forwards(to: targets, through: link, rows, root)
    }
    return KeySet(origins)
  }

  private func forwards(
    to targets: KeySet, through link: LinkStep, _ rows: StoreRows, _ root: OrderedRoot
  ) throws(StorageError) -> KeySet {
    var origins: [ObjectKey] = []
    for key in root.keys {
      let hits = try rows.withRow(classID, key) { row, slot throws(StorageError) in
        !row.isNull(link.column, slot)
          && targets.contains(ObjectKey(row.int(link.column, slot)))
      }
      if hits == true { origins.append(key) }
    }
    return KeySet(origins)
  }
}
