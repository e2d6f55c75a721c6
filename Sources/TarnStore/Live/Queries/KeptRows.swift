/// The rows of a query in a form that a step updates in time proportional to its changes. Elements
/// are named: those of a collection by its index, those of a class by their keys. A value type.
struct KeptRows: Sendable {
  /// Nil for the objects of a class.
  let elements: ElementIndex?
  /// For a query with one distinct stage, once it is needed: the names of all matching elements,
  /// those with equal values adjacent, in the order that decides which one is shown.
  let grouped: OrderedRoot?
  /// The names of the rows, in order.
  let root: OrderedRoot

  /// The approximate number of elements from which rows are made.
  var elementCount: Int { elements?.count ?? grouped?.count ?? root.count }

  func object(_ name: ObjectKey) -> ObjectKey? { elements.map { $0.object(name) } ?? name }

  /// The object of a row.
  func key(_ name: ObjectKey) -> ObjectKey {
    guard let key = object(name) else {
      trap("internal error: a row that is not an object")
    }
    return key
  }

  func names(of keys: KeySet) throws(StorageError) -> [ObjectKey] {
    try elements.map { index throws(StorageError) in try index.names(of: keys) }
      ?? keys.map { $0 }
  }

  /// The positions of the rows with some names; names without a row are ignored.
  func rows(named names: some Sequence<ObjectKey>) -> KeySet {
    var lookup = OrderedRoot.Lookup(root)
    return KeySet(
      names.compactMap { lookup.position(of: $0) }.sorted().map { ObjectKey(Int64($0)) })
  }

  /// True if one element comes before another with equal sort values.
  func isBefore(_ a: ObjectKey, _ b: ObjectKey) -> Bool { elements?.isBefore(a, b) ?? (a < b) }
}

/// The elements touched by a step, by name.
struct ChangedNames {
  /// Elements that were removed.
  var gone: [ObjectKey] = []
  /// Elements that were inserted or moved, or whose objects may have been added, removed or moved.
  var candidates = KeySet()
  /// Elements that were set in their collection.
  var set = KeySet()
}

extension CompiledQuery {
  /// Rows in the form that steps update, without groups.
  ///
  /// - Parameter elements: the elements of the collection, nil for a class.
  func keeping(_ rows: ElementRows, of elements: [ObjectKey?]?) -> KeptRows {
    let names = elements == nil ? rows.keys : rows.positions.map { ObjectKey(Int64($0)) }
    return KeptRows(
      elements: elements.map { ElementIndex($0) }, grouped: nil, root: OrderedRoot(sorted: names))
  }

  /// The same with the groups of a query with one stage. Reads every element.
  func grouping(
    _ kept: KeptRows, of elements: [ObjectKey?]?, _ rows: Rows
  ) throws(StorageError) -> KeptRows {
    let order = groupOrder
    let names =
      if let elements {
        try matching(elements, by: order, rows).positions.map { ObjectKey(Int64($0)) }
      } else {
        try evaluated(by: order, rows).keys
      }
    return KeptRows(
      elements: kept.elements, grouped: OrderedRoot(sorted: names), root: kept.root)
  }

  /// The order of elements with equal values, the one to be shown first.
  private var groupOrder: ResolvedOrder {
    let terms = stages[0].paths.map { ResolvedOrder.Term(path: $0, isAscending: true) }
    return ResolvedOrder(terms + order.terms, on: classID)
  }

  /// The order of the rows.
  private var rowOrder: ResolvedOrder {
    ResolvedOrder((stages.first?.order.terms ?? []) + order.terms, on: classID)
  }

  /// The rows after a step.
  ///
  /// - Parameters:
  ///   - elements: the elements after the step.
  ///   - isReplaced: whether a key identifies another object than before.
  /// - Returns: nil if the step touched much, or the stored state is not sufficient.
  func advance(
    _ old: KeptRows, to elements: ElementIndex?, _ touched: ChangedNames, _ rows: Rows,
    isReplaced: (ObjectKey) -> Bool
  ) throws(StorageError) -> (KeptRows, EditScript)? {
    let number = touched.gone.count + touched.candidates.count
    guard stages.isEmpty || old.grouped != nil, ElementIndex.isFew(number, among: old.elementCount)
    else { return nil }
    var step = KeptStep(query: self, old: old, elements: elements, rows: rows)
    if stages.isEmpty {
      try step.moveMatching(touched)
    } else {
      try step.moveGroups(touched)
    }
    let new = step.result
    let names = touched.candidates.union(KeySet(touched.gone)).union(step.others)
    return (new, EditScript(from: old, to: new, moving: names, touched.set, isReplaced: isReplaced))
  }

  fileprivate func update(
    _ root: OrderedRoot, removing: [ObjectKey], putting: [ObjectKey], by order: KeptOrder,
    _ kept: KeptRows, _ rows: Rows
  ) throws(StorageError) -> OrderedRoot {
    let comparator = OrderComparator(order == .groups ? groupOrder : rowOrder, source: rows)
    var latest: (name: ObjectKey, sortKey: OrderComparator.SortKey)?
    func sortKey(_ name: ObjectKey) throws(StorageError) -> OrderComparator.SortKey {
      if let latest, latest.name == name { return latest.sortKey }
      return try comparator.sortKey(of: kept.key(name))
    }
    return try root.applying(
      removals: removing, insertions: putting
    ) { (a, b) throws(StorageError) in
      let right = try sortKey(b)
      let order = try comparator.compareTerms(sortKey(a), right)
      latest = (b, right)
      return order == 0 ? kept.isBefore(a, b) : order < 0
    }
  }

  /// The values that identify an element's group; nil if it is in none.
  fileprivate func group(
    of key: ObjectKey, _ rows: Rows
  ) throws(StorageError) -> [GroupValue]? {
    let found = try rows.withRow(classID, key) { (row, slot) throws(StorageError) in
      try stages[0].group(of: row, slot, rows)
    }
    return found ?? nil
  }
}

private enum KeptOrder { case groups, rows }

/// One step of maintained rows.
private struct KeptStep {
  let query: CompiledQuery
  let old: KeptRows
  let rows: Rows
  private(set) var result: KeptRows
  /// Names of elements that were not touched themselves and may have become rows, or ceased to be.
  private(set) var others = KeySet()

  init(query: CompiledQuery, old: KeptRows, elements: ElementIndex?, rows: Rows) {
    self.query = query
    self.old = old
    self.rows = rows
    result = KeptRows(elements: elements, grouped: old.grouped, root: old.root)
  }

  /// The touched elements that match, and those that do not or were removed.
  private func parted(
    _ touched: ChangedNames
  ) throws(StorageError) -> (out: [ObjectKey], in: [ObjectKey]) {
    var (out, into) = (touched.gone, [ObjectKey]())
    for name in touched.candidates {
      if let key = result.object(name), try query.predicate.matches(key, in: rows) {
        into.append(name)
      } else {
        out.append(name)
      }
    }
    return (out, into)
  }

  mutating func moveMatching(_ touched: ChangedNames) throws(StorageError) {
    let (out, into) = try parted(touched)
    let root = try query.update(
      old.root, removing: out, putting: into, by: .rows, result, rows)
    result = KeptRows(elements: result.elements, grouped: nil, root: root)
  }

  /// An element is a row if the element before it is in another group. So only touched elements and
  /// their old and new successors can become a row or cease to be one.
  mutating func moveGroups(_ touched: ChangedNames) throws(StorageError) {
    let (out, into) = try parted(touched)
    let before = old.grouped!
    let after = try query.update(
      before, removing: out, putting: into, by: .groups, result, rows)
    let all = KeySet(out + into)
    let behind = Self.successors(of: all, in: before) + Self.successors(of: all, in: after)
    others = KeySet(behind).subtracting(all)
    var (removals, insertions): ([ObjectKey], [ObjectKey]) = (out, [])
    var (lookup, shown) = (OrderedRoot.Lookup(after), OrderedRoot.Lookup(old.root))
    for name in into + Array(others) {
      if try isFirst(name, at: lookup.position(of: name)!, in: after) {
        if all.contains(name) || !shown.contains(name) { insertions.append(name) }
      } else {
        removals.append(name)
      }
    }
    let root = try query.update(
      old.root, removing: removals, putting: insertions, by: .rows, result, rows)
    result = KeptRows(elements: result.elements, grouped: after, root: root)
  }

  private func isFirst(
    _ name: ObjectKey, at position: Int, in grouped: OrderedRoot
  ) throws(StorageError) -> Bool {
    guard let own = try query.group(of: result.key(name), rows) else { return false }
    if position == 0 { return true }
    return try query.group(of: result.key(grouped.key(at: position - 1)), rows) != own
  }

  /// For each of those names its next name that is not among them.
  private static func successors(of names: KeySet, in root: OrderedRoot) -> [ObjectKey] {
    var lookup = OrderedRoot.Lookup(root)
    let positions = names.compactMap { lookup.position(of: $0) }.sorted()
    var found: [ObjectKey] = []
    for (index, position) in positions.enumerated() where position + 1 < root.count {
      if index + 1 < positions.count, positions[index + 1] == position + 1 { continue }
      found.append(root.key(at: position + 1))
    }
    return found
  }
}

extension EditScript {
  /// The script of rows of which only those with some names were moved, inserted or removed.
  ///
  /// A row is the same as before if it has the same name. Remaining rows are paired by their
  /// objects, unless another object has the key now.
  fileprivate init(
    from old: KeptRows, to new: KeptRows, moving names: KeySet, _ set: KeySet,
    isReplaced: (ObjectKey) -> Bool
  ) {
    var (before, after) = (OrderedRoot.Lookup(old.root), OrderedRoot.Lookup(new.root))
    var gone: [Int] = []
    var come: [(now: Int, before: Int?, name: ObjectKey)] = []
    // The last one first, so that removing from the end gives the rows in order.
    var rest: [ObjectKey: [Int]] = [:]
    for name in names {
      let former = before.position(of: name)
      if let former { gone.append(former) }
      let now = after.position(of: name)
      let stays = former != nil && now != nil && !isReplaced(new.key(name))
      if let now { come.append((now, stays ? former : nil, name)) }
      if let former, !stays { rest[old.key(name), default: []].append(former) }
    }
    gone.sort()
    come.sort { $0.now < $1.now }
    for key in rest.keys { rest[key]!.sort(by: >) }
    for (index, row) in come.enumerated() where row.before == nil {
      let key = new.key(row.name)
      if !isReplaced(key) { come[index].before = rest[key]?.popLast() }
    }
    var builder = Builder(oldCount: old.root.count)
    var (next, filled, passed) = (0, 0, 0)
    func keep(upTo count: Int) {
      while filled < count {
        while passed < gone.count, gone[passed] == next {
          passed += 1
          next += 1
        }
        let end = passed < gone.count ? gone[passed] : old.root.count
        let kept = next..<Swift.min(end, next + count - filled)
        require(!kept.isEmpty, "internal error: rows were inserted that no change names")
        builder.appendOld(kept)
        next = kept.upperBound
        filled += kept.count
      }
    }
    for row in come {
      keep(upTo: row.now)
      if let former = row.before {
        builder.append(old: former, isModified: set.contains(row.name))
      } else {
        builder.appendFresh()
      }
      filled += 1
    }
    keep(upTo: new.root.count)
    self = builder.finish()
  }
}
