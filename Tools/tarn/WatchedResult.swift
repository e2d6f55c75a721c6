import TarnStore
import ToolSupport

/// A sorted, filtered result, kept up by what changed.
final class WatchedResult: Watched {
  /// The way from what was shown to what is there.
  private struct Gathered {
    let view: ClassView
    let root: OrderedRoot
    /// How the rows of `root` were shown that something happened to.
    var rows: [ObjectKey: WatchedRow] = [:]
    var touched = CompiledQuery.TouchedRows()
  }

  private let condition: Predicate
  private let order: [OrderTerm]
  private var view: ClassView
  private var query: CompiledQuery
  private var reader: SnapshotReader
  private var root: OrderedRoot
  private var gathered: Gathered?

  var snapshot: Snapshot { reader.snapshot }
  var hasGathered: Bool { gathered != nil }

  init(
    _ view: ClassView, _ condition: Predicate, _ order: [OrderTerm], _ snapshot: Snapshot
  ) throws {
    self.view = view
    self.condition = condition
    self.order = order
    query = try CompiledQuery(condition, order, on: view.id, snapshot.schema)
    reader = try SnapshotReader(snapshot)
    root = try query.evaluate(StoreRows(reader))
  }

  func showInitial(_ printer: any WatchPrinter) throws {
    let (view, root, reader) = (view, root, reader)
    try printer.initial(view, snapshot.version, count: root.count) { index in
      try WatchedRow(view, root.key(at: index), at: index, reader)
    }
  }

  /// Takes the next version for the one to look at.
  private func move(to newest: Snapshot) throws {
    let epoch = reader.schema.epoch
    reader = try SnapshotReader(newest)
    if newest.schema.epoch == epoch { return }
    view = view.at(newest.schema)
    do {
      query = try CompiledQuery(condition, order, on: view.id, newest.schema)
    } catch {
      throw ToolError("the schema changed in version \(newest.version.rawValue): \(error)")
    }
  }

  // MARK: - One version after the other

  func advance(
    to newest: Snapshot, _ changes: ChangeSet, _ printer: any WatchPrinter
  ) throws -> Int {
    let old = (root: root, view: view, reader: reader)
    try move(to: newest)
    let owners = try EmbeddedOwners(reader, changes).keys(in: view.id)
    guard query.isConcerned(by: changes) || !owners.isEmpty else { return 0 }
    let (next, touched) = try query.advance(old.root, over: changes, to: StoreRows(reader))
    root = next
    var indexes = touched.difference(old.root, next)
    addModified(owners, from: old.root, to: &indexes)
    if indexes.isEmpty { return 0 }
    var difference = WatchedDifference(version: newest.version, count: root.count)
    difference.deletions = try indexes.deletions.map { index in
      try WatchedRow(old.view, old.root.key(at: index), at: index, old.reader)
    }
    difference.insertions = try indexes.insertions.map(row)
    difference.moves = indexes.moves
    let modifications = ModificationReader(
      from: (old.view, old.reader), to: (view, reader), changes[view.id])
    difference.modifications = try indexes.modifications.compactMap { index in
      let key = old.root.key(at: index)
      let found = try modifications.modification(
        of: key, at: (index, root.position(of: key) ?? index))
      return view.showsSome && found.isEmpty ? nil : found
    }
    if difference.isEmpty { return 0 }
    try printer.difference(view, difference)
    return 1
  }

  private func row(_ index: Int) throws -> WatchedRow {
    try WatchedRow(view, root.key(at: index), at: index, reader)
  }

  /// Counts those rows as modified as well, if they stayed where they are.
  private func addModified(
    _ keys: Set<ObjectKey>, from old: OrderedRoot, to indexes: inout IndexChanges
  ) {
    var added = Set(indexes.modifications)
    let deleted = Set(indexes.deletions)
    for key in keys {
      guard let position = old.position(of: key), !deleted.contains(position) else { continue }
      added.insert(position)
    }
    indexes.modifications = added.sorted()
  }

  // MARK: - Many versions as one

  func gather(to newest: Snapshot, _ changes: ChangeSet) throws {
    let before = (root: root, reader: reader)
    var gathered = self.gathered ?? Gathered(view: view, root: root)
    try move(to: newest)
    self.gathered = gathered
    let touched: CompiledQuery.TouchedRows
    if changes.schemaChanged {
      root = try query.evaluate(StoreRows(reader))
      touched = everything(before.root, changes)
    } else {
      let owners = try EmbeddedOwners(reader, changes).keys(in: view.id)
      guard query.isConcerned(by: changes) || !owners.isEmpty else { return }
      var found: CompiledQuery.TouchedRows
      (root, found) = try query.advance(before.root, over: changes, to: StoreRows(reader))
      found.modified.formUnion(KeySet(Array(owners)))
      touched = found
    }
    gathered.touched.formUnion(touched)
    // What nothing happened to so far is now as it was when it was shown.
    for key in touched.all where gathered.rows[key] == nil {
      guard gathered.root.position(of: key) != nil else { continue }
      gathered.rows[key] = try WatchedRow(gathered.view, key, before.reader)
    }
    self.gathered = gathered
  }

  /// After a migration any row may be another one.
  private func everything(_ old: OrderedRoot, _ changes: ChangeSet) -> CompiledQuery.TouchedRows {
    let keys = KeySet(old.keys)
    var touched: CompiledQuery.TouchedRows
    if let own = changes[view.id] {
      touched = .init(came: own.inserted, went: own.isCleared ? keys : own.deleted)
    } else {
      touched = .init()
    }
    touched.modified = keys.union(KeySet(root.keys))
    touched.candidates = touched.modified
    return touched
  }

  func tellGathered(_ printer: any WatchPrinter) throws -> Int {
    guard let gathered else { return 0 }
    self.gathered = nil
    func before(_ index: Int) throws -> WatchedRow {
      let key = gathered.root.key(at: index)
      // All that differs has been remembered.
      var row = try gathered.rows[key] ?? WatchedRow(gathered.view, key, reader)
      row.index = index
      return row
    }
    let indexes = gathered.touched.difference(gathered.root, root)
    var difference = WatchedDifference(version: snapshot.version, count: root.count)
    difference.deletions = try indexes.deletions.map(before)
    difference.insertions = try indexes.insertions.map(row)
    difference.moves = indexes.moves
    for (from, to) in zip(indexes.modifications, indexes.modificationsNew) {
      let modification = try WatchedModification(before(from), row(to))
      if !modification.isEmpty { difference.modifications.append(modification) }
    }
    if difference.isEmpty { return 0 }
    try printer.difference(view, difference)
    return 1
  }
}
