import TarnStore
import ToolSupport

/// The watched objects, at the version shown last or on the way to the next one.
///
/// While the output cannot be written, nothing can be shown. New versions are then merged: the
/// watch advances to the newest one and remembers how each touched object was shown. So no old
/// version is kept, however slow the reader is, and in the end one change leads from the version
/// shown last to the newest one. Memory grows with the number of objects touched, not with the
/// number of commits.
protocol Watched: AnyObject {
  /// The newest version seen.
  var snapshot: Snapshot { get }
  /// Whether `snapshot` is newer than the version shown.
  var hasGathered: Bool { get }
  func showInitial(_ printer: any WatchPrinter) throws
  /// Advances to `newest` and prints `changes`, which lead there.
  ///
  /// - Precondition: nothing is gathered, and the schema did not change incompatibly.
  /// - Returns: the number of changes printed.
  func advance(
    to newest: Snapshot, _ changes: ChangeSet, _ printer: any WatchPrinter
  ) throws -> Int
  /// Advances to `newest` and remembers how the objects that `changes` touch were shown.
  func gather(to newest: Snapshot, _ changes: ChangeSet) throws
  /// Prints the merged changes.
  /// - Returns: the number of changes printed.
  func tellGathered(_ printer: any WatchPrinter) throws -> Int
}

/// All classes, directly from the change sets, without order and positions.
final class WatchedClasses: Watched {
  /// The changes since the version shown.
  private struct Gathered {
    let schema: SchemaView
    /// The changed objects as last shown; nil for those that did not exist.
    var rows: [ClassID: [ObjectKey: WatchedRow?]] = [:]
    var changes: ChangeSet
  }

  private var reader: SnapshotReader
  private var gathered: Gathered?

  var snapshot: Snapshot { reader.snapshot }
  var hasGathered: Bool { gathered != nil }

  init(_ snapshot: Snapshot) throws { reader = try SnapshotReader(snapshot) }

  func showInitial(_ printer: any WatchPrinter) throws {
    for schema in snapshot.schema.schema.classes where !schema.isVacant {
      let view = ClassView(schema)
      let root = OrderedRoot(keyed: try Self.keys(of: view.id, reader))
      try printer.initial(view, snapshot.version, count: root.count) { [reader] index in
        try WatchedRow(view, root.key(at: index), reader)
      }
    }
  }

  private static func keys(of id: ClassID, _ reader: SnapshotReader) throws -> KeySet {
    reader.schema.schema[id] == nil ? KeySet() : KeySet(try reader.allKeys(in: id))
  }

  private static func deletedKeys(
    _ changes: ClassChanges, _ old: SnapshotReader
  ) throws -> KeySet {
    changes.isCleared ? try keys(of: changes.id, old) : changes.deleted
  }

  // MARK: - One version at a time

  func advance(
    to newest: Snapshot, _ changes: ChangeSet, _ printer: any WatchPrinter
  ) throws -> Int {
    let old = reader
    reader = try SnapshotReader(newest)
    var told = 0
    for entry in changes.classes {
      let view = ClassView(newest.schema[entry.id])
      let oldView = old.schema.schema[entry.id].map { ClassView($0) } ?? view
      let deleted = try Self.deletedKeys(entry, old)
      let modified = entry.touchedKeys(in: .all)
      if deleted.isEmpty, entry.inserted.isEmpty, modified.isEmpty { continue }
      var difference = WatchedDifference(
        version: newest.version, count: try reader.record(of: entry.id).rowCount)
      difference.deletions = try deleted.map { try WatchedRow(of: $0, oldView, old) }
      difference.insertions = try entry.inserted.map { try WatchedRow(of: $0, view, reader) }
      let modifications = ModificationReader(
        from: (oldView, old), to: (view, reader), entry)
      difference.modifications = try modified.map { try modifications.modification(of: $0) }
      try printer.difference(view, difference)
      told += 1
    }
    return told
  }

  // MARK: - Merging versions

  func gather(to newest: Snapshot, _ changes: ChangeSet) throws {
    let old = reader
    reader = try SnapshotReader(newest)
    // Values are compared as a whole.
    var next = changes
    for index in next.classes.indices { next.classes[index].sequences = [] }
    var gathered =
      self.gathered
      ?? Gathered(schema: old.schema, changes: ChangeSet(from: changes.from, to: changes.from))
    gathered.changes = gathered.changes.merging(next)
    for id in newest.schema.schema.classes.map(\.id) {
      for key in try touched(id, changes, old) {
        try remember(key, in: id, old, &gathered)
      }
    }
    self.gathered = gathered
  }

  /// The objects of the class that changed; after a migration possibly all.
  private func touched(
    _ id: ClassID, _ changes: ChangeSet, _ old: SnapshotReader
  ) throws -> KeySet {
    var keys = KeySet()
    if let entry = changes[id] {
      keys = try Self.deletedKeys(entry, old).union(entry.inserted).union(
        entry.touchedKeys(in: .all))
    }
    if changes.schemaChanged, old.schema.schema[id] != reader.schema.schema[id] {
      keys.formUnion(try Self.keys(of: id, old))
      keys.formUnion(try Self.keys(of: id, reader))
    }
    return keys
  }

  /// Objects that have not changed so far still have the shown content.
  private func remember(
    _ key: ObjectKey, in id: ClassID, _ old: SnapshotReader, _ gathered: inout Gathered
  ) throws {
    if gathered.rows[id]?.keys.contains(key) == true { return }
    var row: WatchedRow?
    if let shown = gathered.schema.schema[id], try old.row(key, in: id) != nil {
      row = try WatchedRow(ClassView(shown), key, old)
    }
    gathered.rows[id, default: [:]].updateValue(row, forKey: key)
  }

  func tellGathered(_ printer: any WatchPrinter) throws -> Int {
    guard let gathered else { return 0 }
    self.gathered = nil
    var told = 0
    for (id, rows) in gathered.rows.sorted(by: { $0.key < $1.key }) {
      let view = ClassView(reader.schema[id])
      var difference = WatchedDifference(
        version: snapshot.version, count: try reader.record(of: id).rowCount)
      for (key, old) in rows.sorted(by: { $0.key < $1.key }) {
        let new = try reader.row(key, in: id).map { _ in try WatchedRow(view, key, reader) }
        if let old, let new, gathered.changes[id]?.isReplaced(key) != true {
          let modification = WatchedModification(old, new)
          if !modification.isEmpty { difference.modifications.append(modification) }
          continue
        }
        if let old { difference.deletions.append(old) }
        if let new { difference.insertions.append(new) }
      }
      if difference.isEmpty { continue }
      try printer.difference(view, difference)
      told += 1
    }
    return told
  }
}
