import TarnStore
import ToolSupport

/// What is being watched, at the version that was shown last.
protocol Watched: AnyObject {
  var snapshot: Snapshot { get }
  func showInitial(_ printer: any WatchPrinter) throws
  /// Moves to `newest` and shows what `changes`, which lead there, have changed.
  /// - Returns: how many differences were shown.
  func advance(
    to newest: Snapshot, _ changes: ChangeSet, _ printer: any WatchPrinter
  ) throws -> Int
}

/// An object as it is shown.
struct WatchedRow {
  /// Where it is in a result; nil where there is no order.
  var index: Int?
  var key: Value
  var values: [Field]
}

/// An object that stayed, before and after. Only `changed` columns differ.
struct WatchedModification {
  var old: WatchedRow
  var new: WatchedRow
  /// Positions among the columns.
  var changed: [Int]
  /// What changed inside of lists, sets and maps; their columns are not among `changed`.
  var sequences: [WatchedSequence] = []

  init(_ old: WatchedRow, _ new: WatchedRow) {
    self.old = old
    self.new = new
    // A class may have got columns meanwhile.
    changed = new.values.indices.filter { place in
      place >= old.values.count || !old.values[place].isSame(as: new.values[place])
    }
  }
}

/// What one class's part of a difference is.
struct WatchedDifference {
  var version: Version
  /// Objects after the change: of the result, or of the class.
  var count: Int
  var deletions: [WatchedRow] = []
  var insertions: [WatchedRow] = []
  var modifications: [WatchedModification] = []
  /// Rows that are among both the deletions and the insertions, by their positions.
  var moves: [IndexChanges.Move] = []
}

/// A sorted, filtered result, kept up by what changed.
final class WatchedResult: Watched {
  private let condition: Predicate
  private let order: [OrderTerm]
  private var view: ClassView
  private var query: CompiledQuery
  private var reader: SnapshotReader
  private var root: OrderedRoot

  var snapshot: Snapshot { reader.snapshot }

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
      try Self.row(root, index, view, reader)
    }
  }

  private static func row(
    _ root: OrderedRoot, _ index: Int, _ view: ClassView, _ reader: SnapshotReader
  ) throws -> WatchedRow {
    let key = root.key(at: index)
    let values = try view.fields(of: key, reader) ?? []
    return WatchedRow(index: index, key: view.identity(key, values), values: values)
  }

  func advance(
    to newest: Snapshot, _ changes: ChangeSet, _ printer: any WatchPrinter
  ) throws -> Int {
    let old = (root: root, view: view, reader: reader)
    reader = try SnapshotReader(newest)
    if newest.schema.epoch != old.reader.schema.epoch {
      view = ClassView(newest.schema[view.id])
      query = try CompiledQuery(condition, order, on: view.id, newest.schema)
    }
    let owners = try EmbeddedOwners(reader, changes).keys(in: view.id)
    guard query.isConcerned(by: changes) || !owners.isEmpty else { return 0 }
    var indexes: IndexChanges
    if changes.schemaChanged {
      root = try query.evaluate(StoreRows(reader))
      indexes = CollectionDifference.replacingAll(
        oldCount: old.root.count, newCount: root.count)
    } else {
      let (next, touched) = try query.advance(old.root, over: changes, to: StoreRows(reader))
      root = next
      indexes = touched.difference(old.root, next)
      addModified(owners, from: old.root, to: &indexes)
    }
    if indexes.isEmpty { return 0 }
    func before(_ index: Int) throws -> WatchedRow {
      try Self.row(old.root, index, old.view, old.reader)
    }
    func after(_ index: Int) throws -> WatchedRow { try Self.row(root, index, view, reader) }
    var difference = WatchedDifference(version: newest.version, count: root.count)
    difference.deletions = try indexes.deletions.map(before)
    difference.insertions = try indexes.insertions.map(after)
    difference.moves = indexes.moves
    let modifications = ModificationReader(
      from: (old.view, old.reader), to: (view, reader), changes[view.id])
    difference.modifications = try indexes.modifications.map { index in
      let key = old.root.key(at: index)
      return try modifications.modification(of: key, at: (index, root.position(of: key) ?? index))
    }
    try printer.difference(view, difference)
    return 1
  }
}

extension WatchedResult {
  /// Counts those rows as modified as well, if they stayed where they are.
  fileprivate func addModified(
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
}

/// All classes, straight from the change sets: no order, so no positions.
final class WatchedClasses: Watched {
  private var reader: SnapshotReader

  var snapshot: Snapshot { reader.snapshot }

  init(_ snapshot: Snapshot) throws { reader = try SnapshotReader(snapshot) }

  func showInitial(_ printer: any WatchPrinter) throws {
    for schema in snapshot.schema.schema.classes {
      let view = ClassView(schema)
      let root = OrderedRoot(keyed: try Self.keys(of: view.id, reader))
      try printer.initial(view, snapshot.version, count: root.count) { [reader] index in
        try Self.row(root.key(at: index), view, reader)
      }
    }
  }

  private static func keys(of id: ClassID, _ reader: SnapshotReader) throws -> KeySet {
    var keys: [ObjectKey] = []
    try reader.forEachCluster(in: id) { found in
      for slot in 0..<found.image.rowCount { keys.append(found.image.key(at: slot)) }
      return true
    }
    return KeySet(keys)
  }

  private static func row(
    _ key: ObjectKey, _ view: ClassView, _ reader: SnapshotReader
  ) throws -> WatchedRow {
    let values = try view.fields(of: key, reader) ?? []
    return WatchedRow(index: nil, key: view.identity(key, values), values: values)
  }

  func advance(
    to newest: Snapshot, _ changes: ChangeSet, _ printer: any WatchPrinter
  ) throws -> Int {
    let old = reader
    reader = try SnapshotReader(newest)
    var told = 0
    for entry in changes.classes {
      let view = ClassView(newest.schema[entry.id])
      let isNew = entry.id.rawValue >= UInt32(old.schema.schema.classes.count)
      let oldView = isNew ? view : ClassView(old.schema[entry.id])
      let deleted = entry.isCleared ? try Self.keys(of: entry.id, old) : entry.deleted
      let modified = entry.touchedKeys(in: .all)
      guard try deleted.count <= old.record(of: entry.id).rowCount else {
        throw ToolError(
          "the file is damaged: a change record names more deleted objects of \(oldView.name) than "
            + "there were")
      }
      if deleted.isEmpty, entry.inserted.isEmpty, modified.isEmpty { continue }
      var difference = WatchedDifference(
        version: newest.version, count: try reader.record(of: entry.id).rowCount)
      difference.deletions = try deleted.map { try Self.row($0, oldView, old) }
      difference.insertions = try entry.inserted.map { try Self.row($0, view, reader) }
      let modifications = ModificationReader(
        from: (oldView, old), to: (view, reader), entry)
      difference.modifications = try modified.map { try modifications.modification(of: $0) }
      try printer.difference(view, difference)
      told += 1
    }
    return told
  }
}
